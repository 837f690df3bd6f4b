#!/usr/bin/env bash
# Run pyright on the Python files that differ from the last commit, or on those of the last commit.
set -euo pipefail
cd "$(dirname "$0")/.."

changed() {
  git diff --name-only --diff-filter=d "$1" -- '*.py'
  git ls-files --others --exclude-standard -- '*.py'
}

mapfile -t files < <(changed HEAD)
if [ "${#files[@]}" = 0 ] && git rev-parse --quiet --verify HEAD~1 > /dev/null; then
  mapfile -t files < <(changed HEAD~1)
fi
if [ "${#files[@]}" = 0 ]; then
  echo "No Python file has changed."
  exit 0
fi
.venv/bin/pyright "${files[@]}"
