#!/usr/bin/env bash
# Find wasm-ld, which links the kernels to WebAssembly, or install it by apt-get, as root or by a sudo that
# asks for no password. Only building the site and its tests need it.
set -euo pipefail

found() {
  if command -v wasm-ld > /dev/null; then
    echo "Linker: $(command -v wasm-ld)"
    exit 0
  fi
}

found
root=()
if [ "$(id -u)" != 0 ]; then root=(sudo -n); fi
if command -v apt-get > /dev/null && "${root[@]}" true 2> /dev/null; then
  "${root[@]}" apt-get update -qq || true
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends lld > /dev/null || true
  found
fi
echo "No wasm-ld: install LLVM's linker, for example as root with apt-get install lld." >&2
exit 1
