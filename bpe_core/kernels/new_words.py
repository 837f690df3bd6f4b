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
from bpe_core.kernels.hashing import LONG, word_width
from bpe_core.kernels.intrinsics import leading_zeros, lowest_of_sixteen, prefetch, trailing_zeros
from bpe_core.kernels.rank_merging import find_rank, made_by, pair_row
from bpe_core.kernels.whole_words import find_whole_word
from bpe_core.kernels.word_cache import remember_new, remember_new_long

ROOM = 32
"""Room for the symbols of a word, of up to 31 bytes."""
_ROOM, _HALF_ROOM = np.uint64(ROOM), np.uint64(16)
_SECOND_HALF = np.uint64(1 << 16)
_NO_PAIR = np.uint32(0xFFFFFFFF)
_NO_PAIRS = np.uint32(0xFFFFFFE0)
"""This and all above come from NO_RANK << _PLACE_BITS, or are _NO_PAIR."""
_PLACE_BITS = np.uint32(5)
_PLACE = np.uint32(ROOM - 1)
_NONE, _ONE, _EIGHT = np.uint64(0), np.uint64(1), np.uint64(8)
_TOP = np.uint64(63)


class NewWords(NamedTuple):
    """The new words of one batch."""

    numbers: NDArray[np.int64]
    """int64[n]: their numbers in the batch."""
    open: NDArray[np.uint64]
    """uint64[n]: which of them are not fully merged yet."""
    symbols: NDArray[np.int32]
    """int32[ROOM * n]: a symbol where it begins."""
    pairs: NDArray[np.uint32]
    """uint32[ROOM * n]: the rank of the pair that begins there << 5 | the place in the word, or at
    least _NO_PAIRS. Of words of up to 15 bytes, only the first half is used."""
    begins: NDArray[np.uint64]
    """uint64[n]: a mask of the places where a symbol begins."""
    merged: NDArray[np.uint64]
    """uint64[n]: the place that was merged last."""


@part
def merge_new_words(merges, whole, cache, text, begin, pieces, i, words, new, n_new, ids):
    """Merge new words of up to 31 bytes, and enter them; those of up to 15 get their entries.

    begin, pieces, i: the batch begins there, and its words end at pieces[i] and on. words: the
    batch, an `EncodingScratch`. new.numbers[:n_new]: which of them are new. ids: scratch. Words
    that are tokens which the merges never make are left out. The ids of longer words are found in
    the cache when they are appended.
    """
    low, high = words.low, words.high
    n = _NONE
    for k in range(n_new):
        j = new.numbers[k]
        start = _find_start(begin, pieces, i, j)
        width = word_width(high[j])
        new.numbers[n] = j
        new.open[n] = n
        if find_whole_word(whole, text, start, np.int64(width), low[j], high[j]) < 0:
            _begin(merges, text, np.uint64(start), width, new, n)
            n += _ONE
    n_open = n
    while n_open:
        n_open = _merge_once(merges, new, n_open)
        for k in range(n_open):
            _find_ranks(merges.pairs, new, new.open[k])
    for w in range(n):
        n_ids = _NONE
        begins = new.begins[w]
        while begins:
            symbol = new.symbols[w * _ROOM + np.uint64(trailing_zeros(begins))]
            ids[n_ids] = merges.ids[np.uint64(symbol)]
            begins &= begins - _ONE
            n_ids += _ONE
        j = new.numbers[w]
        if high[j] < LONG:
            found = remember_new(cache, low[j], high[j], ids, np.int64(n_ids))
            words.first[j], words.last[j] = found
        else:
            start = _find_start(begin, pieces, i, j)
            remember_new_long(cache, low[j], high[j], text, start, ids, np.int64(n_ids))


@inlined
def _find_start(begin, pieces, i, j):
    """Return where the word of number j begins."""
    return abs(pieces[i + j - 1]) if j else np.int64(begin)


@inlined
def _begin(merges, text, start, width, new, w):
    """Begin with a symbol for each byte of a word."""
    at = w * _ROOM
    symbols, pairs = new.symbols, new.pairs
    for i in range(_HALF_ROOM):
        pairs[at + i] = _NO_PAIR
    if width >= _HALF_ROOM:
        for i in range(_HALF_ROOM, _ROOM):
            pairs[at + i] = _NO_PAIR
    before = np.uint64(text[start])
    symbols[at] = before
    for i in range(_ONE, width):
        byte = np.uint64(text[start + i])
        symbols[at + i] = byte
        pairs[at + i - _ONE] = _pair(merges.byte_ranks[before << _EIGHT | byte], i - _ONE)
        before = byte
    new.begins[w] = (_ONE << width) - _ONE


@inlined
def _pair(rank, place):
    return np.uint32(rank) << _PLACE_BITS | np.uint32(place)


@inlined
def _merge_once(merges, new, n_open):
    """Merge the pair of the lowest rank in each open word; return how many had one."""
    symbols, pairs = new.symbols, new.pairs
    still = _NONE
    for k in range(n_open):
        w = new.open[k]
        at = w * _ROOM
        begins = new.begins[w]
        lowest = lowest_of_sixteen(pairs, at)
        if begins >= _SECOND_HALF:
            lowest = min(lowest, lowest_of_sixteen(pairs, at + _HALF_ROOM))
        if lowest >= _NO_PAIRS:
            while begins:
                prefetch(merges.ids, symbols[at + np.uint64(trailing_zeros(begins))])
                begins &= begins - _ONE
            continue
        place = np.uint64(lowest & _PLACE)
        i = at + place
        right = _first_after(begins, place)
        begins ^= _ONE << right
        symbols[i] = made_by(merges, lowest >> _PLACE_BITS)
        pairs[i] = _NO_PAIR
        pairs[at + right] = _NO_PAIR
        new.begins[w] = begins
        new.merged[w] = place
        if begins >> place > _ONE:
            next = symbols[at + _first_after(begins, place)]
            prefetch(merges.pairs, pair_row(merges.pairs, symbols[i], next))
        before = begins & ((_ONE << place) - _ONE)
        if before:
            previous = symbols[at + _TOP - np.uint64(leading_zeros(before))]
            prefetch(merges.pairs, pair_row(merges.pairs, previous, symbols[i]))
        new.open[still] = w
        still += _ONE
    return still


@inlined
def _first_after(begins, place):
    """Return the place of the first symbol after another."""
    return place + _ONE + np.uint64(trailing_zeros(begins >> place >> _ONE))


@inlined
def _find_ranks(table, new, w):
    """Find the ranks of the pairs on both sides of the symbol that was made."""
    symbols, pairs = new.symbols, new.pairs
    at = w * _ROOM
    place = new.merged[w]
    begins = new.begins[w]
    made = symbols[at + place]
    if begins >> place > _ONE:
        next = symbols[at + _first_after(begins, place)]
        pairs[at + place] = _pair(find_rank(table, made, next), place)
    before = begins & ((_ONE << place) - _ONE)
    if before:
        place = _TOP - np.uint64(leading_zeros(before))
        pairs[at + place] = _pair(find_rank(table, symbols[at + place], made), place)
