"""Divide the modules whose kernels have to be compiled between two processes."""

from __future__ import annotations

from importlib import import_module
from typing import Final

SHARES: Final = (
    ("bpe_core.counting.compiled", "bpe_core.trainers.compiled"),
    ("bpe_core.tokenizer.compiled",),
)
"""Modules whose `compile_all` compiles every kernel that they call, by calling it. Both shares take
about equally long. They are given by name, so that only the compiling processes import them."""


def compile_share(share: int) -> None:
    """Compile the kernels of one share, in this process."""
    for name in SHARES[share]:
        import_module(name).compile_all()
