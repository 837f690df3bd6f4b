"""Compile the kernels, once per machine: `python -m bpe_core.kernels.compiling`.

With arguments, do one task of the compilation, for the process that started this one.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from pathlib import Path

from bpe_core.kernels.compiling.choose import compile_or_report, may_compile


def main(arguments: list[str]) -> None:
    """Compile all kernels if they are not compiled yet, or do one task."""
    if arguments:
        threading.Thread(target=_follow_parent, daemon=True).start()
        module, task, folder, *share = arguments
        do = getattr(import_module(f"bpe_core.kernels.compiling.{module}"), task)
        do(Path(folder), *map(int, share))
    elif may_compile():
        compile_or_report(set_up=True)


def _follow_parent() -> None:
    """Exit once the standard input closes, which it does when the parent ends, even if killed."""
    # Not through sys.stdin, which Python locks at exit.
    while os.read(0, 1):
        pass
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
