#!/usr/bin/env bash
# Find a Chromium for the browser tests, or install one, and write its path to .venv/browser-path.
# Tried in turn: $CHROMIUM, the path, apt-get (as root), playwright's own download.
# Fonts for many scripts are installed as well if they are missing and this runs as root.
# The headless shell comes first: it renders the same in half the processor time.
set -euo pipefail
cd "$(dirname "$0")/.."
record=.venv/browser-path

starts() { "$1" --version > /dev/null 2>&1; }

# A downloaded browser does not include the system libraries it needs.
refuse() {
  echo "$1 does not start:" >&2
  "$1" --version 2>&1 > /dev/null | head -n 5 >&2 || true
  ldd "$1" 2> /dev/null | grep "not found" >&2 || true
  echo "Where system libraries are missing, install them as root:" >&2
  echo "  $PWD/.venv/bin/python -m playwright install-deps chromium" >&2
  echo "or name a Chromium that starts: CHROMIUM=/path/to/chromium make test" >&2
  exit 1
}

# The fonts draw the scripts in pictures and screenshots. No test needs them, so a machine where they
# cannot be installed goes on without.
get_fonts() {
  local language missing=
  for language in he hi ja; do
    if [ -z "$(fc-list ":lang=$language" 2> /dev/null)" ]; then missing=yes; fi
  done
  if [ -z "$missing" ] || [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null; then return; fi
  apt-get update -qq || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    fontconfig fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji > /dev/null || true
}

found() {
  get_fonts
  printf '%s\n' "$1" > "$record"
  echo "Browser: $1"
  exit 0
}

look() {
  local name path
  for name in chromium-headless-shell chromium chromium-browser google-chrome google-chrome-stable; do
    if path=$(command -v "$name") && starts "$path"; then found "$path"; fi
  done
}

if [ -n "${CHROMIUM:-}" ]; then
  if [ ! -x "$CHROMIUM" ]; then
    echo "CHROMIUM names $CHROMIUM, which is not an executable." >&2
    exit 1
  fi
  starts "$CHROMIUM" || refuse "$CHROMIUM"
  found "$CHROMIUM"
fi
look

if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  apt-get update -qq || true
  for package in chromium-headless-shell chromium; do
    if DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "$package" > /dev/null; then
      look
    fi
  done
fi

.venv/bin/python -m playwright install chromium
path=$(.venv/bin/python -c '
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
')
[ -x "$path" ] || { echo "No browser: install Chromium, or name one in CHROMIUM." >&2; exit 1; }
starts "$path" || refuse "$path"
found "$path"
