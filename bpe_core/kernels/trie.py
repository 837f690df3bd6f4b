"""The trie in arrays, and exact encoding by backtracking over it.

The twin, and the explanation, are in `tokenizer.trie`. Symbols are those of `rank_merging`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.hashing import EMPTY, spread_pair
from bpe_core.kernels.rank_merging import NO_RANK, SYMBOL_BITS, find_rank_again

_BYTES = np.int32(256)
_NO_LIMIT = np.int32(0x7FFFFFFF)
_BYTE = np.uint64(8)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_SYMBOL_BITS = np.uint64(SYMBOL_BITS)
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
