"""How many threads are worth having."""

from __future__ import annotations

import os
from typing import Final

_MOST: Final = 4
"""More share one memory, and each has tables of its own to fill."""


def n_threads() -> int:
    """Give the number of processors that this process may use, or four where there are more.

    >>> 1 <= n_threads() <= 4
    True
    """
    if hasattr(os, "sched_getaffinity"):  # Linux: of all that there are, some may be for others
        return min(_MOST, len(os.sched_getaffinity(0)))
    return min(_MOST, os.cpu_count() or 1)
