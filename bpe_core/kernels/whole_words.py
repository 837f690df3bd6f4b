"""The tokens that merges never make, of tokenizers that look up whole words first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import kernel, part
from bpe_core.kernels.hashing import same_bytes, spread_word, word_key
from bpe_core.kernels.word_cache import SHORT_WORD

_ONE = np.uint64(1)


class WholeWords(NamedTuple):
    """The tokens that the merges never make, of a tokenizer that looks up whole words first."""

    places: NDArray[np.int32]
    """int32[n], a power of two: the number of the word at each place, -1 at a free one."""
    keys: NDArray[np.uint64]
    """uint64[2 * n_words]; see hashing.word_key."""
    starts: NDArray[np.int64]
    """int64[n_words + 1]: where each word's bytes are in letters."""
    letters: NDArray[np.uint8]
    ids: NDArray[np.int32]
    """int32[n_words]"""


@kernel
def enter_whole_words(whole, joined):
    """Fill the empty table of whole words, and mark their bytes so that none is cut."""
    mask = np.uint64(whole.places.size - 1)
    for word in range(whole.ids.size):
        start, stop = whole.starts[word], whole.starts[word + 1]
        for i in range(start + 1, stop):
            joined[np.int64(whole.letters[i - 1]) << 8 | np.int64(whole.letters[i])] = 1
        low, high = word_key(whole.letters, np.uint64(start), np.uint64(stop - start))
        whole.keys[2 * word] = low
        whole.keys[2 * word + 1] = high
        place = spread_word(low, high) & mask
        while whole.places[place] >= 0:
            place = (place + _ONE) & mask
        whole.places[place] = word


@part
def find_whole_word(whole, text, start, width, low, high):
    """Return the id of the token of these bytes if the merges never make it, else -1."""
    mask = np.uint64(whole.places.size - 1)
    place = spread_word(low, high) & mask
    while whole.places[place] >= 0:
        word = whole.places[place]
        if whole.keys[2 * word] == low and whole.keys[2 * word + 1] == high:
            known = np.uint64(whole.starts[word])
            if width <= SHORT_WORD or same_bytes(
                whole.letters, known, text, np.uint64(start), np.uint64(width)
            ):
                return whole.ids[word]
        place = (place + _ONE) & mask
    return np.int32(-1)


@kernel
def find_words(whole, text, starts, stops, found):
    """Write the id of each of many words of a text, -1 for those that are not in the table.

    text: uint8[n]. starts, stops: int64[n_words], where each word begins and ends in text. found:
    int32[n_words].
    """
    for i in range(found.size):
        start, stop = np.uint64(starts[i]), np.uint64(stops[i])
        low, high = word_key(text, start, stop - start)
        width = np.int64(stop - start)
        found[i] = find_whole_word(whole, text, np.int64(start), width, low, high)
