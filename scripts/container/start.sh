#!/usr/bin/env bash
# Start the app's server. It writes only below BPE_DATA, a folder for this server alone.
set -euo pipefail
cd "$(dirname "$0")/../.."
data="${BPE_DATA:-/data}"
umask 077

# Exits with a message if a setting is invalid.
.venv/bin/python -m ui.host.server_settings --check

if ! mkdir -p "$data/runs" "$data/kernels" 2>/dev/null || [ ! -w "$data/runs" ]; then
  echo "BPE Explorer did not start: $data cannot be written by user $(id -u)." >&2
  exit 1
fi

# Kernels are compiled again there if this processor lacks AVX2, which those of the image need.
built=$(cd kernels && echo kernels-*)
if [ ! -d "$data/kernels/$built" ]; then
  rm -rf "${data:?}/kernels"
  mkdir "$data/kernels"
  cp -r --preserve=timestamps kernels "$data/kernels/unfinished"
  chmod -R u+w "$data/kernels/unfinished"
  mv "$data/kernels/unfinished" "$data/kernels/$built"
fi

# Delete what a killed server left behind.
rm -rf "${data:?}/tmp"
mkdir "$data/tmp"

export NUMBA_CACHE_DIR="$data/kernels/$built" TMPDIR="$data/tmp" HOME="$data"
export BPE_EXPLORER_RUNS="${BPE_EXPLORER_RUNS:-$data/runs}"
export PYTHONDONTWRITEBYTECODE=1
# Python's own allocator returns memory by the megabyte, all of which a single object can hold back.
# The C library's returns it by the page, and is as fast here. It is to have few heaps, which keep
# freed blocks, and to return larger blocks as soon as they are freed. See docs/operations.md.
export PYTHONMALLOC="${PYTHONMALLOC:-malloc}"
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-1048576}"
# A tab takes five open files.
ulimit -n "$(ulimit -Hn)"
exec .venv/bin/python -m streamlit run app.py \
  --server.address="${HOST:-0.0.0.0}" --server.port="${PORT:-8501}" --logger.hideWelcomeMessage=true
