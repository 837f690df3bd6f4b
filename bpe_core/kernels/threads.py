"""Choose the number of threads, and call functions in several."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

_Result = TypeVar("_Result")

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


def together(tasks: Sequence[Callable[[], _Result]]) -> list[_Result]:
    """Call each function in its own thread, the first in this one; return their results in order.

    Raises the first error among them. Only kernels and NumPy gain, because they release the GIL.

    >>> together([lambda: 1, lambda: 2])
    [1, 2]
    """
    first, *others = tasks
    if not others:
        return [first()]
    with ThreadPoolExecutor(len(others)) as pool:
        running = [pool.submit(task) for task in others]
        return [first(), *(other.result() for other in running)]
