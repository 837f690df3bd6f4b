"""Arrays as the kernels want them: longer than they were, or aligned with the processor's lines."""

from __future__ import annotations

from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])

_LINE: Final = 8  # uint64 numbers


def longer(array: _Array, room: int) -> _Array:
    """Give an array of at least `room`, the old one where it has so much; what is new is unset.

    >>> longer(np.array([7, 8]), 2).tolist(), len(longer(np.array([7, 8]), 3))
    ([7, 8], 4)
    """
    if array.size >= room:
        return array
    grown = np.empty(max(room, 2 * array.size), array.dtype)
    grown[: array.size] = array
    return grown  # pyright: ignore[reportReturnType]


def aligned_zeros(n: int) -> NDArray[np.uint64]:
    """Make uint64[n] zeros, of which eight that begin at a multiple of eight are read at once.

    >>> aligned_zeros(16).ctypes.data % 64
    0
    """
    room = np.zeros(n + _LINE, np.uint64)
    first = -(room.ctypes.data // 8) % _LINE
    return room[first : first + n]
