#!/usr/bin/env bash
# Create .venv (or the folder VENV) and install requirements: make_venv.sh requirements/run.txt
# Pip compares each download with its hash there.
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
venv="${VENV:-.venv}"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "BPE Explorer needs Python 3.11 or newer; $python is $("$python" --version 2>&1)." >&2
  echo "Choose another one: PYTHON=python3.12 make run" >&2
  exit 1
fi

if [ ! -x "$venv/bin/python" ]; then
  # Debian ships venv without ensurepip unless python3-venv is installed.
  if "$python" -c 'import ensurepip' 2>/dev/null; then
    "$python" -m venv "$venv"
  else
    "$python" -m venv --without-pip "$venv"
  fi
fi

echo "Installing $1 into $venv"
if "$venv/bin/python" -c 'import pip' 2>/dev/null; then
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$1"
elif "$python" -c 'import pip' 2>/dev/null; then
  "$python" -m pip --python "$venv/bin/python" install --quiet --disable-pip-version-check -r "$1"
else
  echo "This Python has no pip. On Debian: apt-get install python3-pip python3-venv" >&2
  exit 1
fi
