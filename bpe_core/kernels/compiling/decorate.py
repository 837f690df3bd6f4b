"""The decorators of all kernels: the boundary between Numba's untyped code and typed callers.

A kernel runs as machine code from the library, if it has been built (see `load`); else Numba
compiles it on its first call. With `NUMBA_DISABLE_JIT=1` it is the plain Python function. Importing
a module of kernels imports neither Numba nor the library.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final, cast

from bpe_core import kernels
from bpe_core.extras import needs_extra
from bpe_core.kernels.compiling.load import Library, find_compiled

Kernel = Callable[..., Any]
"""Kernels are typed at the call site, by the arguments that they are given."""

_KERNEL: dict[str, Any] = {"nogil": True, "_nrt": False}
_WITHIN: dict[str, Any] = {**_KERNEL, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
CALLERS: Final = (
    "bpe_core.corpus.count_compiled",
    "bpe_core.trainers.compiled",
    "bpe_core.tokenizer.compiled",
    "bpe_core.comparison.model_bits",
    "bpe_core.formats.token_parts",
)
"""The modules that call kernels. Their `compile_all` calls each with the types that it takes. They
are given by name, so that only the compiling processes import them."""
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

    def by_numba(self, cache: Path | None = None, **options: Any) -> Any:
        """Return Numba's dispatcher of this function, which compiles it when it is called.

        cache: a folder of compiled kernels that Numba reads and adds to.
        """
        with _making:
            if self._by_numba is None:
                with needs_extra("compile", "Compiling a kernel"):
                    import numba

                import_module("bpe_core.kernels.compiling.instructions")  # for `kernels.intrinsics`
                made = numba.njit(**self._options, **options)(self.py_func)
                if cache is not None:
                    # Numba reads this setting once, when it is told to cache.
                    config: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]
                    before, config.CACHE_DIR = config.CACHE_DIR, str(cache)
                    made.enable_caching()
                    config.CACHE_DIR = before
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
    def full_name(self) -> str:
        """The module and the name."""
        return f"{self.py_func.__module__}.{self.py_func.__name__}"

    def replace(self, call: Kernel) -> None:
        """Call another function in place of this one: for building the library."""
        self._call = call

    def __call__(self, *arguments: Any) -> Any:
        call = self._call
        if call is None:
            found = find_compiled()
            if isinstance(found, Library):
                call = found.entry_point(self.full_name, otherwise=self.by_numba)
            self._call = call = call or self.by_numba(found if isinstance(found, Path) else None)
        return call(*arguments)


def all_kernels() -> list[CompiledKernel]:
    """Return the kernels of all modules. Raises ValueError if they are plain Python."""
    found = [
        value
        for module in iter_modules(kernels.__path__, f"{kernels.__name__}.")
        for value in vars(import_module(module.name)).values()
        if isinstance(value, CompiledKernel) and value.__module__ == module.name
    ]
    if not found:
        raise ValueError("There are no kernels. Unset NUMBA_DISABLE_JIT")
    return found


def fill_cache(folder: Path, share: int) -> None:
    """Compile one of two shares of the kernels into a folder of Numba's cache."""
    for kernel in all_kernels():
        kernel.replace(kernel.by_numba(folder))
    for name in (CALLERS[:3], CALLERS[3:])[share]:
        import_module(name).compile_all()
