"""Compile the kernels, once per machine: `python -m bpe_core.compiling`.

With arguments, do one task of the compilation, for the process that started this one.
"""

from __future__ import annotations

import sys

from bpe_core.compiling.background import compile_or_say_why_not, may_compile
from bpe_core.compiling.cache import kernels_are_compiled
from bpe_core.compiling.processes import compile_for_parent


def main(arguments: list[str]) -> None:
    """Do one task, or all kernels if they are not compiled yet."""
    if arguments:
        compile_for_parent(*arguments)
    elif may_compile() and not kernels_are_compiled():
        sys.stderr.write("Compiling the engine, once on this machine: about 15 seconds.\n")
        compile_or_say_why_not()


if __name__ == "__main__":
    main(sys.argv[1:])
