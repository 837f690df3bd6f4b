"""The decorators of all kernels: the boundary between Numba's untyped code and typed callers.

A kernel runs as machine code from the library, if it has been built (see `library`); else Numba
compiles it on its first call. With `NUMBA_DISABLE_JIT=1` it is the plain Python function. Importing
a module of kernels imports neither Numba nor the library.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, cast

from bpe_core.kernels.folder import tell_numba_the_folder
from bpe_core.kernels.library import entry_point

Kernel = Callable[..., Any]
"""Kernels are typed at the call site, by the arguments that they are given."""

_KERNEL: dict[str, Any] = {"cache": True, "nogil": True, "_nrt": False}
_WITHIN: dict[str, Any] = {
    "nogil": True,
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
_IN_PYTHON = os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"

_making = threading.RLock()


def kernel(function: Kernel) -> Kernel:
    """Compile a function that Python calls; it must not allocate arrays.

    It runs without the GIL.

    Numba's reference counting is off: with it, taking an array from a named tuple costs two locked
    instructions, which took half the time of encoding and nine tenths of the time of counting
    pairs. Compiling also takes a third less time without it.
    """
    return function if _IN_PYTHON else CompiledKernel(function, _KERNEL)


def part(function: Kernel) -> Kernel:
    """Compile a function that only kernels call; it must not allocate arrays either.

    It has no entry point from Python and is not cached on disk, which saves compile time: the
    compiler processes it again within every kernel anyway.
    """
    return function if _IN_PYTHON else Compiled(function, _WITHIN)


def inlined(function: Kernel) -> Kernel:
    """Compile like `part`, but inline: for a few lines that run at least once per word.

    A real call passes each array as seven numbers; such calls took a third of the time of encoding.
    """
    return function if _IN_PYTHON else Compiled(function, {**_WITHIN, "forceinline": True})


class Compiled:
    """A function that Numba can compile; called from Python, it is plain Python."""

    def __init__(self, function: Kernel, options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._by_numba: Kernel | None = None

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    def by_numba(self, **options: Any) -> Any:
        """Return Numba's dispatcher of this function, which compiles it when it is called.

        Raises RuntimeError if Numba is not installed.
        """
        with _making:
            if self._by_numba is None:
                tell_numba_the_folder()
                try:
                    from numba import njit
                except ModuleNotFoundError as error:
                    raise RuntimeError(
                        f"{self.py_func.__name__} is not compiled for these arguments, and Numba, "
                        "which could compile it, is not installed."
                    ) from error

                made = njit(**{**self._options, **options})(self.py_func)
                self._by_numba = cast("Kernel", made)
            return self._by_numba

    @property
    def _numba_type_(self) -> Any:
        # Numba reads this to find out what a global name in a compiled function stands for.
        return self.by_numba()._numba_type_


class CompiledKernel(Compiled):
    """A function that Python calls: from the library if it is there, else by Numba."""

    _call: Kernel | None = None

    @property
    def name(self) -> str:
        return self.py_func.__name__

    @property
    def full_name(self) -> str:
        """The module and the name."""
        return f"{self.py_func.__module__}.{self.py_func.__name__}"

    def replace(self, call: Kernel) -> None:
        """Call another function in place of this one: for building the library."""
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        call = self._call
        if call is None:
            loaded = entry_point(self.full_name, otherwise=self.by_numba)
            call = self._call = self.by_numba() if loaded is None else loaded
        return call(*arguments)
