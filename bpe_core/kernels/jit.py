"""The decorators of all kernels: the boundary between Numba's untyped code and typed callers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from numba import njit

Kernel = Callable[..., Any]
"""Numba infers a kernel's types from its arguments, so kernels are typed at the call site."""

_KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
_WITHIN: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; it must not allocate arrays.

    It is compiled on the first call, cached on disk, and runs without the GIL.

    Without Numba's reference counting, taking an array from a named tuple is free; with it, it
    costs two locked instructions, which was half the time of encoding and nine tenths of that of
    counting pairs. Compiling also takes a third less time.
    """
    return cast("Kernel", njit(**_KERNEL)(function))


def part(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; it must not allocate arrays either.

    It has no entry point from Python and is not cached on disk, which saves compile time: the
    compiler processes it again within every kernel anyway.
    """
    return cast("Kernel", njit(**_WITHIN)(function))


def inlined(function: Kernel) -> Kernel:
    """Compile like `part`, but inline: for a few lines that run at least once per word.

    A real call passes each array as seven numbers, which took a third of the time of encoding.
    """
    return cast("Kernel", njit(**_WITHIN, forceinline=True)(function))
