"""Encode a word: by joining, again and again, the pair of lowest rank; or, exactly, by a trie.

Tokens are *symbols* here: 0 to 255 are the bytes, 256 + r is the result of the merge of rank r. So
symbols are in the order learned, whatever the tokenizer's ids. The twins are `merge_by_scan` and
`merge_by_heap` of `tokenizer.rank_merging`. Longer words are encoded by backtracking over a trie in
arrays; the twin, and the explanation, are in `tokenizer.trie`.
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


_BYTES = np.int32(256)
_NO_LIMIT = np.int32(0x7FFFFFFF)
_BYTE = np.uint64(8)
_VALUE_BITS = np.uint64(64 - 2 * SYMBOL_BITS)
_VALUE = np.uint64((1 << (64 - 2 * SYMBOL_BITS)) - 1)


class TrieArrays(NamedTuple):
    """All symbols that encode to themselves, by their bytes.

    Empty (symbol_at has size 0) if two merges make the same symbol.
    """

    second: NDArray[np.int32]
    """int32[65536]: the node of the two bytes first << 8 | second, or -1; most walks end there."""
    edges: NDArray[np.uint64]
    """uint64[capacity], a power of two: node << 40 | byte << 32 | child at the edge's place."""
    symbol_at: NDArray[np.int32]
    """int32[room]: the symbol that ends at a node, or -1; node b is the byte b."""
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    """int32[n_symbols]: the two symbols that a symbol was merged from."""
    width: NDArray[np.int32]
    """int32[n_symbols]: its length in bytes."""
    shorter: NDArray[np.int32]
    """int32[n_symbols]: the longest other symbol that is a prefix of it, or -1."""


@inlined
def _edge_place(edges, key):
    """Return the place of an edge, or the free place for it. key: node << 8 | byte."""
    mask = np.uint64(edges.size - 1)
    place = spread_pair(key) & mask
    while edges[place] != EMPTY and edges[place] >> _HALF != key:
        place = (place + np.uint64(1)) & mask
    return place


@part
def enter_symbol(trie, n_nodes, letters, start, symbol):
    """Add a symbol whose bytes start at letters[start]; return the new number of nodes."""
    node = np.int64(letters[start])
    for i in range(start + 1, start + trie.width[symbol]):
        if i == start + 1:
            place = np.uint64(node << 8 | np.int64(letters[i]))
            if trie.second[place] < 0:
                trie.second[place] = n_nodes
                n_nodes += 1
            node = np.int64(trie.second[place])
        else:
            key = np.uint64(node) << _BYTE | np.uint64(letters[i])
            place = _edge_place(trie.edges, key)
            if trie.edges[place] == EMPTY:
                trie.edges[place] = key << _HALF | np.uint64(n_nodes)
                n_nodes += 1
            node = np.int64(trie.edges[place] & _LOW_HALF)
    trie.symbol_at[node] = symbol
    return n_nodes


@part
def longest_match(trie, text, start, stop):
    """Return the longest symbol that text[start:stop] begins with."""
    best = np.int32(text[start])
    if start + 1 == stop:
        return best
    found = trie.second[np.int64(text[start]) << 8 | np.int64(text[start + 1])]
    if found < 0:
        return best
    node = np.uint64(found)
    i = np.uint64(start + 2)
    while True:
        if trie.symbol_at[node] >= 0:
            best = trie.symbol_at[node]
        if i >= np.uint64(stop):
            return best
        edge = trie.edges[_edge_place(trie.edges, node << _BYTE | np.uint64(text[i]))]
        if edge == EMPTY:
            return best
        node = edge & _LOW_HALF
        i += np.uint64(1)


@part
def stay_apart(merges, trie, left, right):
    """Return True if no merge crosses the boundary between two adjacent symbols."""
    limit = _NO_LIMIT
    while left >= _BYTES or right >= _BYTES:
        rank = find_rank_again(merges.pairs, left, right)
        if rank != NO_RANK and rank + _BYTES < limit:
            return False
        # Undo the last merge first. Of equal ranks, the left one is merged first, so a pair across
        # the boundary may have the left symbol's rank, but not the right one's.
        if left > right and left >= _BYTES:
            limit = left
            left = trie.right[left]
        else:
            limit = right + np.int32(1)
            right = trie.left[right]
    rank = merges.byte_ranks[left << 8 | right]
    return rank == NO_RANK or rank + _BYTES >= limit


@part
def longest_apart(merges, trie, neighbours, left, symbol):
    """Return the longest symbol that `symbol` begins with and that stays apart from `left`, or -1.

    neighbours: uint64[capacity], a power of two, EMPTY at first: left << 44 | symbol << 24 | the
    result + 1, of the pair that was last looked for among those with the same place. In a run of
    spaces, the same few pairs come again and again, and each would try dozens of shorter symbols.
    """
    key = np.uint64(left) << _SYMBOL_BITS | np.uint64(symbol)
    place = spread_pair(key) & np.uint64(neighbours.size - 1)
    known = neighbours[place]
    if known >> _VALUE_BITS == key:
        return np.int32(known & _VALUE) - np.int32(1)
    while symbol >= 0 and not stay_apart(merges, trie, left, symbol):
        symbol = trie.shorter[symbol]
    neighbours[place] = key << _VALUE_BITS | np.uint64(symbol + np.int32(1))
    return symbol


@part
def encode_by_trie(merges, trie, text, start, n, out, written, dead, neighbours):
    """Encode n bytes by backtracking over longest matches, and append the symbols; O(n).

    dead: uint8[n + 1] scratch, the positions known to be dead ends. Each is left at most once, so
    the time is proportional to n. neighbours: see `longest_apart`; kept from word to word.
    """
    for i in range(n + 1):
        dead[i] = 0
    stop = start + n
    at = start
    k = written
    symbol = longest_match(trie, text, at, stop)
    while True:
        if symbol >= 0 and k > written:
            symbol = longest_apart(merges, trie, neighbours, out[k - 1], symbol)
        if symbol < 0:
            dead[at - start] = 1
            k -= 1
            at -= trie.width[out[k]]
            symbol = trie.shorter[out[k]]
        elif dead[at - start + trie.width[symbol]]:
            symbol = trie.shorter[symbol]
        else:
            out[k] = symbol
            k += 1
            at += trie.width[symbol]
            if at == stop:
                return k
            symbol = longest_match(trie, text, at, stop)
