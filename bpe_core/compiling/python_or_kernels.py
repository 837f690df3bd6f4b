"""Decide whether kernels are faster for a text, and whether to wait for the compiler."""

from __future__ import annotations

import sys
from typing import Final

from bpe_core.compiling.background import may_compile, may_use
from bpe_core.compiling.cache import kernels_are_compiled, library_loads

# From this size on, loaded kernels are faster: at 50 kB both take 0.03 s. Loading Numba and its
# cache takes 0.6 to 0.8 s; plain Python takes 1.3 s per megabyte.
_LEAST_BYTES: Final = 50_000
_LEAST_BYTES_TO_LOAD_NUMBA: Final = 400_000
# The amount of text that plain Python processes while the kernels compile, in about 13 s.
_LEAST_BYTES_TO_COMPILE: Final = 8_000_000


def use_kernels(n_bytes: int) -> bool:
    """Return True if kernels are faster for `n_bytes` of text and already compiled.

    Plain Python returns the same results.

    >>> use_kernels(1_000)
    False
    """
    if n_bytes < _LEAST_BYTES or not kernels_are_ready():
        return False
    return n_bytes >= _LEAST_BYTES_TO_LOAD_NUMBA or kernels_load_at_once()


def worth_waiting_for(n_bytes: int) -> bool:
    """Return True if compiling the kernels first is faster for `n_bytes` of text.

    >>> worth_waiting_for(1_000)
    False
    """
    return n_bytes >= _LEAST_BYTES_TO_COMPILE and may_compile() and not kernels_are_compiled()


def kernels_are_ready() -> bool:
    """Return True if kernels can be used at once, without waiting for the compiler."""
    return may_use() and kernels_are_compiled()


def kernels_load_at_once() -> bool:
    """Return True if compiled kernels load within milliseconds."""
    return library_loads() or "numba" in sys.modules
