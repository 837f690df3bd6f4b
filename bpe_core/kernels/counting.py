"""Counting: the different pre-tokens of a text, in the order they are first seen.

The twin is `Counter(pretokenizer.split(text))`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.hashing import LONG, spread_word, word_key, word_width
from bpe_core.kernels.jit import kernel, part
from bpe_core.kernels.scanning import scan

DONE, SMALL_BUFFERS, SMALL_TABLE = 0, 1, 2


class WordTable(NamedTuple):
    """Words seen so far: an open-addressing table over lists that keep their order."""

    places: NDArray[np.int32]
    """int32[capacity], a power of two: index of a word, -1 where free."""
    low: NDArray[np.uint64]
    """uint64[room]: keys, see hashing.word_key."""
    high: NDArray[np.uint64]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    """int64[room]: where a word's bytes start in letters."""
    letters: NDArray[np.uint8]
    used: NDArray[np.int64]
    """int64[2]: how many words, how many bytes of letters."""


@part
def _same_bytes(one, i, other, j, width):
    # A loop and not all(): the compiler knows no generators.
    for k in range(width):  # noqa: SIM110
        if one[i + np.uint64(k)] != other[j + np.uint64(k)]:
            return False
    return True


@part
def add_word(words, text, start, width, times):
    """Count a word `times` more; False, and nothing done, where the table has no room for it."""
    low, high = word_key(text, start, width)
    mask = np.uint64(words.places.size - 1)
    place = spread_word(low, high) & mask
    while True:
        word = words.places[place]
        if word < 0:
            break
        if (
            words.low[word] == low
            and words.high[word] == high
            and (
                high < LONG
                or _same_bytes(words.letters, np.uint64(words.starts[word]), text, start, width)
            )
        ):
            words.counts[word] += times
            return True
        place = (place + np.uint64(1)) & mask
    word = words.used[0]
    offset = words.used[1]
    if word == words.low.size or offset + np.int64(width) > words.letters.size:
        return False
    words.places[place] = word
    words.low[word] = low
    words.high[word] = high
    words.counts[word] = times
    words.starts[word] = offset
    for k in range(width):
        words.letters[np.uint64(offset) + np.uint64(k)] = text[start + np.uint64(k)]
    words.used[0] = word + 1
    words.used[1] = offset + np.int64(width)
    return True


@kernel
def count_ends(text, begin, ends, n_ends, words):
    """Count the words that a scanner's ends bound; how many were taken, fewer if it is full."""
    start = begin
    for i in range(n_ends):
        stop = ends[i]
        if stop < 0:
            start = -stop
            continue
        if not add_word(words, text, np.uint64(start), np.uint64(stop - start), np.int64(1)):
            return i
        start = stop
    return n_ends


@kernel
def count_words(pattern, text, bounds, classes, block_class, is_start, ends, words, reached):
    """Count the pre-tokens of a text's sections, each on its own, and say why it stopped.

    bounds: int64[n + 1], where the sections start, and where the last ends. reached: int64[2], the
    section and the byte to begin at, and to go on at once there is room again.
    """
    section = reached[0]
    position = reached[1]
    status = DONE
    while section < bounds.size - 1 and status == DONE:
        end = bounds[section + 1]
        while position < end:
            n_ends = scan(pattern, text, position, end, classes, block_class, is_start, ends)
            if n_ends == 0:
                status = SMALL_BUFFERS
                break
            taken = count_ends(text, position, ends, n_ends, words)
            if taken:
                position = abs(ends[taken - 1])
            if taken < n_ends:
                status = SMALL_TABLE
                break
        if status == DONE:
            section += 1
    reached[0] = section
    reached[1] = position
    return status


@kernel
def fold_words(source, begin, end, words):
    """Add words begin ... end - 1 of another table, in its order; the first that has no room."""
    for word in range(begin, end):
        width = word_width(source.high[word])
        if not add_word(
            words, source.letters, np.uint64(source.starts[word]), width, source.counts[word]
        ):
            return word
    return end


@kernel
def refill_places(words):
    """Enter all words into an empty table of places, after it has grown."""
    mask = np.uint64(words.places.size - 1)
    for word in range(words.used[0]):
        place = spread_word(words.low[word], words.high[word]) & mask
        while words.places[place] >= 0:
            place = (place + np.uint64(1)) & mask
        words.places[place] = word


@kernel
def safe_split(text, near, end, classes, before_space_only):
    """A byte from `near` on where the text can be cut in two without changing any pre-token.

    A letter's run ends before white space under every pattern; before punctuation too where the
    pattern doesn't take whole words, the apostrophe and marks aside. Returns `end` where none is.
    """
    i = near
    while i < end and text[i] & 0xC0 == 0x80:
        i += 1
    after_letter = False
    while i < end:
        width = 1
        code = np.int64(text[i])
        if code >= 0x80:
            width = 2 if code < 0xE0 else 3 if code < 0xF0 else 4
            code &= 31 if width == 2 else 15 if width == 3 else 7
            for k in range(1, width):
                code = code << 6 | np.int64(text[i + k]) & 63
        bits = classes[code]
        kind = bits & 3
        if after_letter and (
            kind == 1 or (kind == 0 and not before_space_only and bits == 0 and code != 39)
        ):
            return i
        after_letter = kind == 2
        i += width
    return end
