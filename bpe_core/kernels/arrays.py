"""Arrays for kernels: enlarged copies, arrays cut short, and arrays aligned to cache lines."""

from __future__ import annotations

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


def cut_short(array: NDArray[np.int32], n: int) -> NDArray[np.int32]:
    """Free the memory of an array after its first n numbers, and return it, now int32[n].

    Nothing is copied, so no other array may use that memory. Raises ValueError for a view.

    >>> cut_short(np.array([[7, 8], [9, 10]], np.int32), 2).tolist()
    [7, 8]
    """
    array.resize(n, refcheck=False)
    return array


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
