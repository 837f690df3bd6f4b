"""The decorators of all kernels: the one place where Numba's types end and ours begin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba import njit

Kernel = Callable[..., Any]
"""What Numba compiles takes its types from its arguments: those that call it say what they give."""

_KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
_WITHIN: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; it makes no array of its own.

    Compiled on the first call, and kept on disk. It runs without the interpreter's lock.

    Without the runtime that frees arrays, taking one from a named tuple or a variable costs
    nothing; with it two locked instructions, which took half of the time of encoding and nine
    tenths of that of counting pairs. It compiles in two thirds of the time, too.
    """
    return cast("Kernel", njit(**_KERNEL)(function))


def part(function: Kernel) -> Kernel:
    """Compile a function that only kernels call, as a part of them; it makes no array either.

    It has no way in from Python and no place on disk: the compiler's work on both is saved, and
    it looks at each part again within every kernel anyway.
    """
    return cast("Kernel", njit(**_WITHIN)(function))


def inlined(function: Kernel) -> Kernel:
    """Compile as `part` does a few lines that run once a word or oftener, within their caller.

    A call that stays one hands over each array as seven numbers: a third of the time of encoding.
    """
    return cast("Kernel", njit(**_WITHIN, forceinline=True)(function))
