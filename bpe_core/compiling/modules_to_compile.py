"""List the modules that call kernels, and divide the kernels between two processes."""

from __future__ import annotations

from importlib import import_module
from typing import Final

MODULES: Final = (
    "bpe_core.counting.compiled",
    "bpe_core.counting.compiled_row",
    "bpe_core.trainers.compiled",
    "bpe_core.tokenizer.compiled",
)
"""Modules whose `compile_all` calls every kernel that they use. They are given by name, so that
only the compiling processes import them."""

N_SHARES: Final = 2

# A process compiles the functions that a kernel calls only once, so kernels that scan text belong
# together.
_OF_FIRST_SHARE: Final = ("count_words", "count_ends", "encode_text", "find_ends", "decode_ids")


def is_in_share(share: int, kernel: str) -> bool:
    """Return True if a kernel belongs to a share; both shares take about equally long."""
    return (share == 0) is (kernel in _OF_FIRST_SHARE)


def compile_for_numba(share: int) -> None:
    """Compile half of the kernels into Numba's cache, in this process."""
    for name in (MODULES[:3], MODULES[3:])[share]:
        import_module(name).compile_all()
