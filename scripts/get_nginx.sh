#!/usr/bin/env bash
# Find nginx for the test of the proxy, or unpack Debian's package without installing it, and write
# its folder to .venv/nginx-path.
set -euo pipefail
cd "$(dirname "$0")/.."
record=.venv/nginx-path

found() {
  printf '%s\n' "$(dirname "$1")" > "$record"
  echo "nginx: $1"
  exit 0
}

for path in "$(command -v nginx || true)" /usr/sbin/nginx "$PWD/.venv/nginx/usr/sbin/nginx"; do
  if [ -x "$path" ] && "$path" -v 2> /dev/null; then found "$path"; fi
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if command -v apt-get > /dev/null; then
  if [ "$(id -u)" = 0 ]; then apt-get update -qq || true; fi
  (cd "$folder" && apt-get download -qq nginx) || true
  for package in "$folder"/*.deb; do
    if [ -e "$package" ]; then dpkg-deb -x "$package" .venv/nginx; fi
  done
fi
path="$PWD/.venv/nginx/usr/sbin/nginx"
if [ -x "$path" ] && "$path" -v 2> /dev/null; then found "$path"; fi
echo "No nginx: install it, for example as root with apt-get install nginx." >&2
exit 1
