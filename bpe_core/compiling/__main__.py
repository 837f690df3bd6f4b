"""Compile the kernels, once per machine: `python -m bpe_core.compiling`.

With arguments, do one task of the compilation, for the process that started this one.
"""

from __future__ import annotations

import sys

from bpe_core.compiling.background import compile_or_report, may_compile
from bpe_core.compiling.cache import forget_fallback, kernels_are_compiled, library_loads
from bpe_core.compiling.processes import compile_for_parent


def main(arguments: list[str]) -> None:
    """Do one task, or all kernels if they are not compiled yet."""
    if arguments:
        compile_for_parent(*arguments)
        return
    if not library_loads():
        forget_fallback()
    if may_compile() and not kernels_are_compiled():
        sys.stderr.write("Compiling the engine, once on this machine: about 13 seconds.\n")
        compile_or_report()


if __name__ == "__main__":
    main(sys.argv[1:])
