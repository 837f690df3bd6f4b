"""Lay words out and look at their characters with kernels, faster for many words.

The results are those of `word_row.lay_out_pretokens` and of `metaspace_words`.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import (
    BETWEEN,
    count_characters,
    list_unwritten,
    list_words_with,
    n_threads,
    place_characters,
    place_letters,
    together,
)
from bpe_core.unicode import AFTER_WORD

_MIN_LETTERS: Final = 1 << 19


def row_ids(letters: NDArray[np.uint8], id_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ids of words in one row, int32[1 + n_letters]: of a gap, then of each letter.

    Each thread takes a part. Most of the time is spent touching new memory for the first time,
    which threads share. `letters` is uint8[n_letters], AFTER_WORD after each word; `id_of` is
    int32[256].

    >>> id_of = np.arange(256, dtype=np.int32)
    >>> id_of[AFTER_WORD] = -1
    >>> row_ids(np.frombuffer(b"ab\\xff", np.uint8), id_of).tolist()
    [-1, 97, 98, -1]
    """
    ids = np.empty(1 + letters.size, np.int32)
    ids[0] = id_of[AFTER_WORD]
    n_parts = max(1, min(n_threads(), letters.size // _MIN_LETTERS))
    bounds = [part * letters.size // n_parts for part in range(n_parts + 1)]

    together(
        [
            partial(place_letters, letters, begin, end, id_of, ids[1:])
            for begin, end in pairwise(bounds)
        ]
    )
    return ids


def character_ids(letters: NDArray[np.uint8], id_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ids of words in one row, int32[n]: of a gap, then of each character and gap.

    `id_of` is int32[0x110000].

    >>> id_of = np.zeros(0x110000, np.int32)
    >>> id_of[ord("é")] = 7
    >>> character_ids(np.frombuffer("éa".encode() + b"\\xff", np.uint8), id_of).tolist()
    [-1, 7, 0, -1]
    """
    ids = np.empty(1 + letters.size, np.int32)
    ids[0] = BETWEEN
    n = int(place_characters(letters, id_of, BETWEEN, ids[1:]))
    return ids[: 1 + n]


def character_uses(letters: NDArray[np.uint8], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each character occurs in words with these counts, int64[0x110000].

    >>> character_uses(np.frombuffer(b"aab\\xffa\\xff", np.uint8), np.array([5, 1]))[97:99].tolist()
    [11, 5]
    """
    n_uses = np.zeros(0x110000, np.int64)
    count_characters(letters, counts, n_uses)
    return n_uses


def words_with(
    letters: NDArray[np.uint8], is_wanted: NDArray[np.bool_], n_words: int
) -> NDArray[np.int64]:
    """Return the numbers of the words that have a wanted character, ascending.

    `is_wanted` is bool[0x110000].

    >>> is_wanted = np.zeros(0x110000, np.bool_)
    >>> is_wanted[ord("b")] = True
    >>> words_with(np.frombuffer(b"aa\\xffab\\xff", np.uint8), is_wanted, 2).tolist()
    [1]
    """
    found = np.empty(n_words, np.int64)
    return found[: list_words_with(letters, is_wanted.view(np.uint8), found)]


def unwritten_words(letters: NDArray[np.uint8], n_words: int) -> NDArray[np.int64]:
    """Return the numbers of words that do not begin with a space, or have another, or a ▁.

    >>> unwritten_words(np.frombuffer(b" a\\xffa\\xff", np.uint8), 2).tolist()
    [1]
    """
    found = np.empty(n_words, np.int64)
    return found[: list_unwritten(letters, found)]


def compile_all() -> None:
    """Compile every kernel of this module by calling it."""
    letters = np.array([AFTER_WORD], np.uint8)
    counts = np.array([1])
    for array in (letters, counts):
        array.flags.writeable = False  # as those of counted words are
    row_ids(letters, np.zeros(256, np.int32))
    character_ids(letters, np.zeros(0x110000, np.int32))
    character_uses(letters, counts)
    words_with(letters, np.zeros(0x110000, np.bool_), 1)
    unwritten_words(letters, 1)
