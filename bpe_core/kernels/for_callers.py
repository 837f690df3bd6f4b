"""What callers of kernels need: arrays that grow, and threads.

Arrays are enlarged copies, and arrays aligned to cache lines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Array = TypeVar("Array", bound=NDArray[Any])

_LINE: Final = 8  # uint64 numbers


def longer(array: Array, room: int) -> Array:
    """Return an array of at least `room`: the same one if it is long enough, else a copy.

    The new part of a copy is uninitialized.

    >>> longer(np.array([7, 8]), 2).tolist(), len(longer(np.array([7, 8]), 3))
    ([7, 8], 4)
    """
    if array.size >= room:
        return array
    grown = np.empty(max(room, 2 * array.size), array.dtype)
    grown[: array.size] = array
    return grown  # pyright: ignore[reportReturnType]


def aligned_zeros(n: int) -> NDArray[np.uint64]:
    """Return uint64[n] zeros, aligned so that each group of eight lies within one cache line.

    >>> aligned_zeros(2).tolist()
    [0, 0]
    """
    # Unlike np.zeros, np.empty asks the system for huge pages, so a table of 32 MB takes 16 of them
    # instead of 8,192 small ones.
    array = aligned_empty(n)
    array[:] = 0
    return array


def aligned_empty(n: int) -> NDArray[np.uint64]:
    """Return uint64[n], uninitialized and aligned as `aligned_zeros` is.

    >>> aligned_empty(16).ctypes.data % 64
    0
    """
    room = np.empty(n + _LINE, np.uint64)
    first = -(room.ctypes.data // 8) % _LINE
    return room[first : first + n]


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


def caller_sizes() -> dict[str, int]:
    """Return the sizes that kernels expect, for a caller in another language.

    >>> caller_sizes()["ROOM"]
    32
    """
    from bpe_core.kernels import added_tokens, counting, encoding, pairs, word_cache, word_merging

    return {
        "CELLS": pairs.CELLS,
        "ENTRY": counting.ENTRY,
        "FIRST_SYMBOL": added_tokens.FIRST_SYMBOL,
        "LONG_WORD": word_cache.LONG_WORD,
        "MAX_ROWS": word_cache.MAX_ROWS,
        "NARROW_ROW": word_cache.NARROW_ROW,
        "PAIR_ROW": word_merging.PAIR_ROW,
        "ROOM": word_cache.ROOM,
        "SCAN_UP_TO": encoding.SCAN_UP_TO,
        "SLACK": word_cache.SLACK,
        "WORD_ROW": word_cache.WORD_ROW,
    }
