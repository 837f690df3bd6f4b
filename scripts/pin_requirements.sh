#!/usr/bin/env bash
# Pin what requirements.txt and requirements/*.in name, and all that it needs, in requirements/*.txt
# with hashes. Versions that are pinned already are kept, unless uv's options ask for newer ones:
#   scripts/pin_requirements.sh
#   scripts/pin_requirements.sh --upgrade
#   scripts/pin_requirements.sh --upgrade-package numba
set -euo pipefail
cd "$(dirname "$0")/../requirements"

pin() {
  ../.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-annotate --custom-compile-command scripts/pin_requirements.sh "$@"
}

# The names, without the versions that are pinned already.
grep -v "^-r " ../requirements.txt | pin - --output-file run.txt "$@"
for name in bench cluster dev release; do
  # The same versions everywhere, so that tests run with what is deployed.
  pin "$name.in" --constraints run.txt --output-file "$name.txt" "$@"
done
