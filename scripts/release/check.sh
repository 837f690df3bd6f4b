#!/usr/bin/env bash
# Install this version from dist/ as a user would, with an extra or none, and check it:
# scripts/release/check.sh "" --kernels
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' bpe_core/__init__.py)
extra="$1"
shift
python -m pip install --quiet --find-links dist --only-binary bpe-explorer \
  "bpe-explorer${extra:+[$extra]}==$version"
# -I keeps this folder out of the way of what is installed.
python -I scripts/check_installed.py "$@"
