"""Functions that are one or a few instructions of the processor, which Numba has no words for.

`compiling.instructions` tells Numba which. Here is what they do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BYTES = 64
"""How many bytes a mask is about; so many bits it has."""


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


def find_in_four(array: NDArray[np.uint64], at: int | np.uint64, number: np.uint64) -> np.uint64:
    """Return the first i for which array[at + i] is a number, 4 if none of four is.

    >>> array = np.arange(8, dtype=np.uint64)
    >>> find_in_four(array, 4, np.uint64(6)), find_in_four(array, 4, np.uint64(3))
    (np.uint64(2), np.uint64(4))
    """
    found = array[at : at + np.uint64(4)] == number
    return np.uint64(found.argmax() if found.any() else 4)


def find_both_in_four(
    array: NDArray[np.uint64], at: int | np.uint64, one: np.uint64, other: np.uint64
) -> np.uint64:
    """Return the first i for which array[at + i] and array[at + 4 + i] are two numbers, or 4.

    >>> array = np.arange(8, dtype=np.uint64)
    >>> find_both_in_four(array, 0, np.uint64(2), np.uint64(6))
    np.uint64(2)
    >>> find_both_in_four(array, 0, np.uint64(2), np.uint64(7))
    np.uint64(4)
    """
    four = np.uint64(4)
    found = (array[at : at + four] == one) & (array[at + four : at + four + four] == other)
    return np.uint64(found.argmax() if found.any() else 4)


def find_shifted_in_eight(
    array: NDArray[np.uint64], at: int | np.uint64, bits: np.uint64, number: np.uint64
) -> np.uint64:
    """Return the first i for which array[at + i] >> bits is a number, 8 if none of eight is.

    >>> array = np.arange(0, 160, 10, np.uint64)
    >>> find_shifted_in_eight(array, 8, np.uint64(4), np.uint64(110 >> 4))
    np.uint64(2)
    >>> find_shifted_in_eight(array, 8, np.uint64(4), np.uint64(110))
    np.uint64(8)
    """
    found = array[at : at + np.uint64(8)] >> bits == number
    return np.uint64(found.argmax() if found.any() else 8)


def lowest_of_sixteen(array: NDArray[np.uint32], at: int) -> np.uint32:
    """Return the lowest of array[at : at + 16].

    >>> lowest_of_sixteen(np.arange(20, dtype=np.uint32), 3)
    np.uint32(3)
    """
    return array[at : at + 16].min()


def prefetch(array: NDArray[np.integer], at: int | np.uint64) -> None:
    """Let the processor fetch array[at] while it does other work."""


def store_pair(array: NDArray[np.int32], at: int | np.uint64, pair: np.uint64) -> None:
    """Store the lower and the upper half of a number in array[at] and array[at + 1].

    >>> array = np.zeros(3, np.int32)
    >>> store_pair(array, 1, np.uint64(7 << 32 | 5))
    >>> array.tolist()
    [0, 5, 7]
    """
    array[at] = int(pair) & 0xFFFFFFFF
    array[at + 1] = int(pair) >> 32
