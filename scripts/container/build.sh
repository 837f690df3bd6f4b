#!/usr/bin/env bash
# Compile the kernels into kernels/, and the modules, while the image is built: neither can be
# written once it runs. The image may run on another processor than it is built on.
set -euo pipefail
cd "$(dirname "$0")/../.."
BPE_KERNELS=portable NUMBA_CACHE_DIR=$PWD/kernels .venv/bin/python -m bpe_core.kernels.compiling
.venv/bin/python -m compileall -q app.py bpe_core bpe_scale pages ui
if ! ls kernels/kernels-* >/dev/null 2>&1; then
  echo "The kernels could not be compiled." >&2
  exit 1
fi
