"""Rank merging: repeatedly join the adjacent pair whose merge has the lowest rank.

Tokens are *symbols* here: 0 to 255 are the bytes, 256 + r is the result of the merge of rank r. So
symbols are in the order learned, whatever the tokenizer's ids. The twins are `merge_by_scan` and
`merge_by_heap` of `tokenizer.rank_merging`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.hashing import EMPTY, spread_pair
from bpe_core.kernels.intrinsics import find_shifted_in_eight

NO_RANK = np.int32(0x7FFFFFFF)
PAIR_ROW = 8
"""Places in a row of the table of pairs, a cache line; one instruction compares all."""
SYMBOL_BITS = 20
"""A pair and its rank share 64 bits, so there are fewer than 2**20 symbols."""

_SYMBOL_BITS = np.uint64(SYMBOL_BITS)
_RANK_BITS = np.uint64(64 - 2 * SYMBOL_BITS)
_RANK = np.uint64((1 << (64 - 2 * SYMBOL_BITS)) - 1)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_NONE, _THREE = np.uint64(0), np.uint64(3)
_ROW, _LAST = np.uint64(PAIR_ROW), np.uint64(PAIR_ROW - 1)


class MergeTable(NamedTuple):
    """Lookup tables for the merges of a byte tokenizer."""

    pairs: NDArray[np.uint64]
    """uint64[capacity], a power of two: left << 44 | right << 24 | rank, in the row of the pair or,
    if that is full, in the first after it that is not."""
    byte_ranks: NDArray[np.int32]
    """int32[65536]: the rank of two bytes at first << 8 | second, NO_RANK if none joins them."""
    joined: NDArray[np.uint8]
    """uint8[65536]: 1 if some token that can occur contains the two bytes side by side."""
    made: NDArray[np.int32]
    """int32[n_merges]: the symbol that each merge makes; empty if each makes its own."""
    ids: NDArray[np.int32]
    """int32[256 + n_merges]: the id of each symbol, below 2**24."""


@inlined
def made_by(merges, rank):
    """Return the symbol that a merge makes."""
    if merges.made.size:
        return merges.made[rank]
    return np.int32(256) + np.int32(rank)


@inlined
def pair_row(pairs, left, right):
    """Return the first place of the row in which the search for two symbols' merge begins."""
    key = np.uint64(left) << _SYMBOL_BITS | np.uint64(right)
    return spread_pair(key) & np.uint64(pairs.size - PAIR_ROW)


@inlined
def find_rank(pairs, left, right):
    """Return the rank of the merge that joins two symbols, NO_RANK if none does.

    Only a full row, which is rare, has the processor guess what it will find there.
    """
    key = np.uint64(left) << _SYMBOL_BITS | np.uint64(right)
    row = pair_row(pairs, left, right)
    while True:
        place = find_shifted_in_eight(pairs, row, _RANK_BITS, key)
        is_lost = place >> _THREE
        if not is_lost & np.uint64(pairs[row + _LAST] != EMPTY):
            rank = pairs[row + (place & _LAST)] & _RANK | (_NONE - is_lost)
            return np.int32(rank & np.uint64(NO_RANK))
        row = (row + _ROW) & np.uint64(pairs.size - 1)


@inlined
def find_rank_again(pairs, left, right):
    """Return what `find_rank` does, by trying one place after another.

    That is faster where the same pairs are looked up again and again, as the processor guesses
    right then.
    """
    key = np.uint64(left) << _SYMBOL_BITS | np.uint64(right)
    place = pair_row(pairs, left, right)
    while pairs[place] != EMPTY:
        if pairs[place] >> _RANK_BITS == key:
            return np.int32(pairs[place] & _RANK)
        place = (place + np.uint64(1)) & np.uint64(pairs.size - 1)
    return NO_RANK


@part
def enter_pairs(lefts, rights, pairs):
    """Enter distinct pairs in rank order; entering them again changes nothing."""
    for rank in range(lefts.size):
        key = np.uint64(lefts[rank]) << _SYMBOL_BITS | np.uint64(rights[rank])
        place = pair_row(pairs, lefts[rank], rights[rank])
        while pairs[place] != EMPTY and pairs[place] >> _RANK_BITS != key:
            place = (place + np.uint64(1)) & np.uint64(pairs.size - 1)
        pairs[place] = key << _RANK_BITS | np.uint64(rank)


@part
def merge_by_scan(merges, text, start, n, symbols, ranks):
    """Merge n bytes from `start` on by scanning; return the number of symbols. For short words."""
    for i in range(n):
        symbols[i] = text[start + i]
    for i in range(n - 1):
        ranks[i] = merges.byte_ranks[np.int64(text[start + i]) << 8 | np.int64(text[start + i + 1])]
    while n > 1:
        lowest = NO_RANK
        at = 0
        for i in range(n - 1):
            if ranks[i] < lowest:
                lowest = ranks[i]
                at = i
        if lowest == NO_RANK:
            break
        symbols[at] = made_by(merges, lowest)
        n -= 1
        for i in range(at + 1, n):
            symbols[i] = symbols[i + 1]
            ranks[i - 1] = ranks[i]
        if at > 0:
            ranks[at - 1] = find_rank(merges.pairs, symbols[at - 1], symbols[at])
        if at < n - 1:
            ranks[at] = find_rank(merges.pairs, symbols[at], symbols[at + 1])
    return n


@inlined
def _sift_up(heap, i, value):
    while i > 0:
        parent = (i - 1) >> 1
        if heap[parent] <= value:
            break
        heap[i] = heap[parent]
        i = parent
    heap[i] = value


@inlined
def _sift_down(heap, size, value):
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = value


@part
def _push_pair(merges, symbols, base, i, j, heap, size):
    """Push the pair at base + i and base + j if it has a merge; return the heap's new size."""
    rank = find_rank(merges.pairs, symbols[base + i], symbols[base + j])
    if rank == NO_RANK:
        return size
    _sift_up(heap, size, np.uint64(rank) << _HALF | np.uint64(i))
    return size + 1


@part
def merge_by_heap(merges, text, start, n, out, written, heap, links):
    """Merge n bytes with a heap over a linked list, and append the symbols; O(n log n).

    heap: uint64[3 * n], links: int64[2 * n], both scratch.
    """
    size = 0
    for i in range(n):
        out[written + i] = text[start + i]
        links[2 * i] = i - 1
        links[2 * i + 1] = i + 1
    for i in range(n - 1):
        size = _push_pair(merges, out, written, i, i + 1, heap, size)
    while size > 0:
        top = heap[0]
        size -= 1
        if size > 0:
            _sift_down(heap, size, heap[size])
        i = np.int64(top & _LOW_HALF)
        j = links[2 * i + 1]
        rank = np.int64(top >> _HALF)
        # Stale if a symbol no longer exists or has joined another since.
        if out[written + i] < 0 or j >= n:
            continue
        if find_rank(merges.pairs, out[written + i], out[written + j]) != rank:
            continue
        out[written + i] = made_by(merges, rank)
        out[written + j] = -1
        k = links[2 * j + 1]
        links[2 * i + 1] = k
        if k < n:
            links[2 * k] = i
            size = _push_pair(merges, out, written, i, k, heap, size)
        h = links[2 * i]
        if h >= 0:
            size = _push_pair(merges, out, written, h, i, heap, size)
    k = written
    i = 0
    while i < n:
        out[k] = out[written + i]
        k += 1
        i = links[2 * i + 1]
    return k
