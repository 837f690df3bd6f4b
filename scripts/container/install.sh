#!/usr/bin/env bash
# Install what the app needs into .venv, while the image is built.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/make_venv.sh requirements.txt
# Compiled kernels are valid for a file of Numba's with this time, and layers of an image keep whole
# seconds only.
touch -d @1700000000 .venv/lib/python3*/site-packages/numba/__init__.py
