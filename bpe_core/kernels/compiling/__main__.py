"""Compile the kernels, once per machine: `python -m bpe_core.kernels.compiling`.

With `--wasm FILE`, write them as a WebAssembly module, for browsers.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from bpe_core.files import write_whole
from bpe_core.kernels.compiling.choose import build_wasm, compile_or_report, may_compile


def main(*arguments: str) -> None:
    """Compile all kernels if they are not compiled yet and there is a compiler."""
    parser = argparse.ArgumentParser(prog="python -m bpe_core.kernels.compiling")
    parser.add_argument("--wasm", metavar="FILE", type=Path, help="write a WebAssembly module")
    to: Path | None = parser.parse_args(arguments).wasm
    if to is not None:
        write_whole(to, build_wasm())
    elif may_compile():
        compile_or_report(set_up=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
