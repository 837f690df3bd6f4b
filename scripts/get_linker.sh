#!/usr/bin/env bash
# Find wasm-ld, which links the kernels to WebAssembly, or install it: apt-get (as root). Only building
# the site and its tests need it.
set -euo pipefail

found() {
  if command -v wasm-ld > /dev/null; then
    echo "Linker: $(command -v wasm-ld)"
    exit 0
  fi
}

found
if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
  apt-get update -qq || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends lld > /dev/null || true
  found
fi
echo "No wasm-ld: install LLVM's linker, for example as root with apt-get install lld." >&2
exit 1
