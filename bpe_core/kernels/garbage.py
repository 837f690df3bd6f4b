"""Many objects created without searches for garbage; apart, because GPT-2 loads without NumPy."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def without_garbage_collection() -> Generator[None]:
    """Create many lasting objects without searching for garbage among them meanwhile.

    The searches would take 50 ms for GPT-2's tables. Use it only for a part that ends within a few
    seconds, because it affects all threads.

    >>> with without_garbage_collection():
    ...     tokens = [(left, left + 1) for left in range(1_000)]
    >>> gc.isenabled()
    True
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
