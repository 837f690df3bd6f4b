"""Compile the kernels, once per machine: `python -m bpe_core.kernels.compiling`.

With arguments, do one task of the compilation, for the process that started this one.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from bpe_core.child_process import follow_parent
from bpe_core.kernels.compiling.choose import compile_or_report, may_compile


def main(arguments: list[str]) -> None:
    """Compile all kernels if they are not compiled yet, or do one task."""
    if arguments:
        follow_parent()
        module, task, folder, *share = arguments
        do = getattr(import_module(f"bpe_core.kernels.compiling.{module}"), task)
        do(Path(folder), *map(int, share))
    elif may_compile():
        compile_or_report(set_up=True)


if __name__ == "__main__":
    main(sys.argv[1:])
