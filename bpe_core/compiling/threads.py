"""Choose the number of threads."""

from __future__ import annotations

import os
from typing import Final

_MOST: Final = 4
"""More threads are limited by memory bandwidth, and each has its own tables to fill."""


def n_threads() -> int:
    """Return the number of processors that this process may use, at most four.

    >>> 1 <= n_threads() <= 4
    True
    """
    if hasattr(os, "sched_getaffinity"):  # Linux: only the processors assigned to this process
        return min(_MOST, len(os.sched_getaffinity(0)))
    return min(_MOST, os.cpu_count() or 1)
