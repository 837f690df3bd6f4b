"""Merge the new words of a batch together, and enter them into the word cache.

To merge two tokens, a kernel must look up which pairs that makes, in a table too large for the
processor's nearer caches. If one word after another is merged, that is most of the time that new
text takes. So all words of a batch do one merge each, and then the next: meanwhile the processor
fetches the places of all their pairs.

The twin is `tokenizer.rank_merging.merge_by_scan`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.intrinsics import leading_zeros, prefetch, trailing_zeros
from bpe_core.kernels.rank_merging import NO_RANK, find_rank, made_by, pair_place
from bpe_core.kernels.word_cache import remember_new

ROOM = 16
"""Room for the symbols of a word, of up to 15 bytes."""
_NO_PAIR = np.uint32(0xFFFFFFFF)
_PLACE_BITS = np.uint32(4)
_PLACE = np.uint32(ROOM - 1)
_ONE, _TOP = np.uint64(1), np.uint64(63)
_EIGHT = np.uint64(8)
_BYTE = np.uint64(0xFF)
_WIDTH_AT = np.uint64(56)


class NewWords(NamedTuple):
    """The new words of one batch."""

    numbers: NDArray[np.int64]
    """int64[n]: their numbers in the batch."""
    open: NDArray[np.int64]
    """int64[n]: which of them are not merged to the end."""
    symbols: NDArray[np.int32]
    """int32[ROOM * n]: a symbol where it begins."""
    pairs: NDArray[np.uint32]
    """uint32[ROOM * n]: the rank of the pair that begins there << 4 | the place in the word, or
    _NO_PAIR."""
    begins: NDArray[np.uint64]
    """uint64[n]: a mask of the places where a symbol begins."""
    merged: NDArray[np.uint64]
    """uint64[n]: the place that was merged last."""


@part
def merge_new_words(merges, cache, low, high, first, last, new, n_new, ids):
    """Merge words of up to 15 bytes, enter them, and write their entries to first and last.

    low, high: the keys of a batch. new.numbers[:n_new]: which of them are new. ids: scratch.
    """
    for w in range(n_new):
        j = new.numbers[w]
        _begin(merges, low[j], high[j], new, w)
        new.open[w] = w
    n_open = n_new
    while n_open:
        n_open = _merge_once(merges, new, n_open)
        for k in range(n_open):
            _find_ranks(merges.pairs, new, new.open[k])
    for w in range(n_new):
        n = 0
        begins = new.begins[w]
        while begins:
            ids[n] = merges.ids[new.symbols[w * ROOM + trailing_zeros(begins)]]
            begins &= begins - _ONE
            n += 1
        j = new.numbers[w]
        first[j], last[j] = remember_new(cache, low[j], high[j], ids, n)


@inlined
def _begin(merges, low, high, new, w):
    """Begin with a symbol for each byte of a word, which is in its key."""
    at = w * ROOM
    width = np.int64(high >> _WIDTH_AT)
    symbols, pairs = new.symbols, new.pairs
    for i in range(ROOM):
        pairs[at + i] = _NO_PAIR
    for i in range(width):
        symbols[at + i] = np.int32(low & _BYTE)
        low = low >> _EIGHT | high << _WIDTH_AT
        high >>= _EIGHT
    for i in range(width - 1):
        rank = merges.byte_ranks[symbols[at + i] << 8 | symbols[at + i + 1]]
        pairs[at + i] = _pair(rank, i)
    new.begins[w] = (_ONE << np.uint64(width)) - _ONE


@inlined
def _pair(rank, place):
    if rank == NO_RANK:
        return _NO_PAIR
    return np.uint32(rank) << _PLACE_BITS | np.uint32(place)


@inlined
def _merge_once(merges, new, n_open):
    """Merge the pair of the lowest rank in each open word; return how many had one."""
    symbols, pairs = new.symbols, new.pairs
    still = 0
    for k in range(n_open):
        w = new.open[k]
        at = w * ROOM
        lowest = _NO_PAIR
        for i in range(ROOM):
            lowest = min(lowest, pairs[at + i])
        if lowest == _NO_PAIR:
            continue
        place = np.uint64(lowest & _PLACE)
        i = at + np.int64(place)
        begins = new.begins[w]
        right = np.uint64(trailing_zeros(begins >> place >> _ONE)) + place + _ONE
        begins ^= _ONE << right
        symbols[i] = made_by(merges, lowest >> _PLACE_BITS)
        pairs[i] = _NO_PAIR
        pairs[at + np.int64(right)] = _NO_PAIR
        new.begins[w] = begins
        new.merged[w] = place
        after = begins >> place >> _ONE
        if after:
            next = i + 1 + trailing_zeros(after)
            prefetch(merges.pairs, pair_place(merges.pairs, symbols[i], symbols[next]))
        before = begins & ((_ONE << place) - _ONE)
        if before:
            previous = at + 63 - leading_zeros(before)
            prefetch(merges.pairs, pair_place(merges.pairs, symbols[previous], symbols[i]))
        new.open[still] = w
        still += 1
    return still


@inlined
def _find_ranks(table, new, w):
    """Find the ranks of the pairs on both sides of the symbol that was made."""
    symbols, pairs = new.symbols, new.pairs
    at = w * ROOM
    place = new.merged[w]
    i = at + np.int64(place)
    begins = new.begins[w]
    after = begins >> place >> _ONE
    if after:
        next = i + 1 + trailing_zeros(after)
        pairs[i] = _pair(find_rank(table, symbols[i], symbols[next]), np.int64(place))
    before = begins & ((_ONE << place) - _ONE)
    if before:
        place = 63 - leading_zeros(before)
        previous = at + place
        pairs[previous] = _pair(find_rank(table, symbols[previous], symbols[i]), place)
