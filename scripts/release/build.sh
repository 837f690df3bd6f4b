#!/usr/bin/env bash
# Build the source distribution and the wheel without kernels into dist/, and check them.
set -euo pipefail
cd "$(dirname "$0")/../.."
python -m build --no-isolation --outdir dist
python -m twine check --strict dist/*
