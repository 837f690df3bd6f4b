"""Masks of 64 bytes: for each byte of a piece of text, a bit that says whether it is of a kind.

Numba compiles the calls of these functions to a few vector instructions; see
`compiling.intrinsics`. Here is what they do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BYTES = 64
"""How many bytes a mask is about."""


def bytes_between(text: NDArray[np.uint8], at: int, low: int, high: int) -> np.uint64:
    """Return a mask of text[at : at + 64]: bit i is 1 if `low <= text[at + i] <= high`.

    >>> text = np.frombuffer(b"aBc".ljust(64), np.uint8)
    >>> bytes_between(text, 0, ord("a"), ord("z"))
    np.uint64(5)
    """
    mask = 0
    for i in range(BYTES):
        mask |= int(low <= text[at + i] <= high) << i
    return np.uint64(mask)


def trailing_zeros(mask: np.uint64) -> int:
    """Return the place of the lowest 1, 64 if there is none.

    >>> trailing_zeros(np.uint64(0b1100)), trailing_zeros(np.uint64(0))
    (2, 64)
    """
    return (int(mask) & -int(mask)).bit_length() - 1 if mask else BYTES


def leading_zeros(mask: np.uint64) -> int:
    """Return how many zeros are above the highest 1, 64 if there is none.

    >>> leading_zeros(np.uint64(0b1100)), leading_zeros(np.uint64(0))
    (60, 64)
    """
    return BYTES - int(mask).bit_length()


def count_ones(mask: np.uint64) -> int:
    """Return the number of ones.

    >>> count_ones(np.uint64(0b1101))
    3
    """
    return int(mask).bit_count()
