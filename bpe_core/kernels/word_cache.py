"""Remember the ids of the words of up to 255 bytes that one thread has encoded.

Each word has one line of the table, which fits into a line of the processor's cache and holds two
words. A new word pushes out the older of the two. A table that pushes out many is copied to one of
twice the size: a small table is faster while the words of a text fit into it.

The key of a word of up to 15 bytes is its bytes. That of a longer one is a hash, so its bytes are
kept too, and compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.hashing import same_bytes, spread_word, word_key
from bpe_core.kernels.intrinsics import store_pair

LINE = 8
"""uint64 numbers per line, 64 bytes: two entries of key, key, ids, ids.

An entry has room for four ids of 32 bits; their number is in the top byte of the first. If there
are more, the second half holds their position in the arena. For a long word, the first half is
zero, and the second holds the positions of its letters and, in the arena, of the number of its ids
and these.
"""
SHORT_WORD = 15
"""The most bytes that a key can hold."""
LONG_WORD = 255
"""The most bytes of a word that is cached."""
SLACK = SHORT_WORD + 1
"""The most ids that are written for a short word, some of them past its last."""
ID_BITS = 24
"""An id and the number of a word's ids share 32 bits, so ids are below 2**24."""
MAX_LINES = 1 << 18
"""16 MB. Source code of 10 MB was encoded 2 to 3 times as fast as with a quarter of it."""

ENTRY = np.uint64(4)
"""uint64 numbers per entry."""
_CACHED_IDS = np.int64(4)
_COUNT_AT = np.uint64(ID_BITS)
_ID = np.uint64((1 << ID_BITS) - 1)
_ID_COUNT = np.uint64(0xFF)
_IDS = np.uint64(0xFFFFFFFF << 32 | (1 << ID_BITS) - 1)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_EMPTY = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_INLINE = np.uint64(4)
_SLACK = np.uint64(SLACK)


class CachedWords(NamedTuple):
    """The words that one thread has encoded."""

    lines: NDArray[np.uint64]
    """uint64[n * LINE], n a power of two."""
    arena: NDArray[np.int32]
    """int32: the ids of words with more ids than fit into an entry, one word after another. The
    last SLACK numbers are never written, so that sixteen can be read from any word on."""
    letters: NDArray[np.uint8]
    """uint8: the bytes of words too long for a key, one word after another."""
    used: NDArray[np.int64]
    """int64[3]: how much of the arena is used; how many words were pushed out, or not cached
    because the arena or the letters were full; how many letters are used."""


@inlined
def find_line(lines, low, high):
    """Return where the line of a word's key starts."""
    return (spread_word(low, high) & np.uint64(lines.size // LINE - 1)) * np.uint64(LINE)


@inlined
def append_found(first, last, j, n, arena, out, k):
    """Append the ids of entries from j on, up to n or to a word that was not found; return j and k.

    Always writing four or sixteen ids avoids mispredicted branches.
    """
    at, number, end = np.uint64(k), np.uint64(j), np.uint64(n)
    while number < end:
        entry, rest = first[number], last[number]
        count = entry >> _COUNT_AT & _ID_COUNT
        if count - _ONE < _INLINE:  # a count of 0 becomes very large
            store_pair(out, at, entry & _IDS)
            store_pair(out, at + _TWO, rest)
        elif count:
            for i in range(_SLACK):
                out[at + i] = arena[rest + i]
        else:
            break
        at += count
        number += _ONE
    return np.int64(number), np.int64(at)


@part
def remember(cache, low, high, ids, start, n):
    """Store a word and ids[start : start + n] as the first of its line; return what is stored.

    The latter is two zeros if there is no room.
    """
    arena, used = cache.arena, cache.used
    if n > _CACHED_IDS and used[0] + n > arena.size - SLACK:
        used[1] += 1
        return _EMPTY, _EMPTY
    first = np.uint64(ids[start]) | np.uint64(n) << _COUNT_AT
    last = np.uint64(0)
    if n > _CACHED_IDS:
        last = np.uint64(used[0])
        for j in range(n):
            arena[used[0] + j] = ids[start + j]
        used[0] += n
    else:
        if n > 1:
            first |= np.uint64(ids[start + 1]) << _HALF
        if n > 2:
            last = np.uint64(ids[start + 2])
        if n > 3:
            last |= np.uint64(ids[start + 3]) << _HALF
    _enter(cache, low, high, first, last)
    return first, last


@part
def prefer(cache, low, high, ids, number):
    """Store ids[number] as a word's only id, in place of what has been stored of the same word."""
    lines = cache.lines
    line = find_line(lines, low, high)
    for _ in range(2):
        if lines[line] == low and lines[line + _ONE] == high:
            lines[line + _TWO] = np.uint64(ids[number]) | _ONE << _COUNT_AT
            lines[line + _THREE] = _EMPTY
            return
        line += ENTRY
    remember(cache, low, high, ids, number, np.int64(1))


@part
def remember_new(cache, low, high, ids, n):
    """Store a word and its ids, unless it has been; return what is stored, zeros if nothing."""
    lines = cache.lines
    line = find_line(lines, low, high)
    if lines[line] == low and lines[line + _ONE] == high:
        return lines[line + _TWO], lines[line + _THREE]
    return remember(cache, low, high, ids, np.int64(0), n)


@inlined
def append_cached_long(cache, low, high, text, start, width, out, k):
    """Append the ids of a word too long for a key; return k if it is not in the cache.

    low, high: its hash.
    """
    lines = cache.lines
    entry = find_line(lines, low, high)
    for _ in range(2):
        if lines[entry] == low and lines[entry + _ONE] == high:
            places = lines[entry + _THREE]
            if same_bytes(cache.letters, places >> _HALF, text, np.uint64(start), np.uint64(width)):
                at = np.int64(places & _LOW_HALF)
                n = np.int64(cache.arena[at])
                for j in range(n):
                    out[k + j] = cache.arena[at + 1 + j]
                return k + n
        entry += ENTRY
    return k


@part
def remember_long(cache, text, start, width, ids, first, n):
    """Store a word too long for a key and ids[first : first + n]."""
    arena, letters, used = cache.arena, cache.letters, cache.used
    if used[0] + 1 + n > arena.size - SLACK or used[2] + width > letters.size:
        used[1] += 1
        return
    arena[used[0]] = n
    for j in range(n):
        arena[used[0] + 1 + j] = ids[first + j]
    for j in range(width):
        letters[used[2] + j] = text[start + j]
    low, high = word_key(text, np.uint64(start), np.uint64(width))
    places = np.uint64(used[2]) << _HALF | np.uint64(used[0])
    _enter(cache, low, high, _EMPTY, places)
    used[0] += 1 + n
    used[2] += width


@part
def _enter(cache, low, high, first, last):
    """Make an entry the first of its line; the previous first becomes second."""
    lines = cache.lines
    line = find_line(lines, low, high)
    cache.used[1] += np.int64(lines[line + ENTRY + _ONE] != _EMPTY)
    for j in range(4):
        lines[line + ENTRY + np.uint64(j)] = lines[line + np.uint64(j)]
    lines[line] = low
    lines[line + _ONE] = high
    lines[line + _TWO] = first
    lines[line + _THREE] = last


@inlined
def is_crowded(cache):
    """Return whether the words that were lost are more than an eighth as many as the lines.

    Merging so many again takes longer than copying the table.
    """
    n_lines = cache.lines.size // LINE
    return n_lines < MAX_LINES and cache.used[1] > n_lines // 8


@kernel
def copy_words(cache, larger):
    """Copy all words into an empty cache with at least as many lines and as large arrays."""
    for k in range(cache.used[0]):
        larger.arena[k] = cache.arena[k]
    for k in range(cache.used[2]):
        larger.letters[k] = cache.letters[k]
    larger.used[0] = cache.used[0]
    larger.used[2] = cache.used[2]
    lines = cache.lines
    for n in range(cache.lines.size // LINE):
        line = np.uint64(n) * np.uint64(LINE)
        # The second first, so that it stays the older of the two.
        for k in range(2):
            at = line + ENTRY * np.uint64(1 - k)
            if lines[at + _ONE] != _EMPTY:
                _enter(larger, lines[at], lines[at + _ONE], lines[at + _TWO], lines[at + _THREE])
