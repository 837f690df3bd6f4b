#!/usr/bin/env bash
# Copy what a Space on Hugging Face needs into a folder, such as a clone of its repository:
# scripts/make_space.sh FOLDER
set -euo pipefail
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
  echo "Give the folder of the Space's repository: scripts/make_space.sh FOLDER" >&2
  exit 1
fi
to=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
if [ "$to" -ef . ]; then
  echo "That is the checkout itself, whose files would be replaced." >&2
  exit 1
fi
git archive HEAD app.py LICENSE NOTICE.md requirements/run.txt .streamlit \
  scripts/make_venv.sh scripts/container pages bpe_core bpe_scale ui | tar -x -C "$to"
cp deploy/space/Dockerfile deploy/space/README.md deploy/space/.gitattributes "$to"
