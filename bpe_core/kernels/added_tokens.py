"""Find the added tokens in a text: those that no merge makes and that are found anywhere.

A mask of 64 bytes says where one may begin, and a trie finds the longest one there. The twin is
`tokenizer.steps`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.intrinsics import BYTES, bytes_between, trailing_zeros
from bpe_core.kernels.word_cache import SHORT_WORD, prefer
from bpe_core.kernels.word_merging import enter_symbol, longest_match

FIRST_SYMBOL = 256
"""The symbol of the first token in the trie: below are the bytes, which it takes for symbols."""
_ONE = np.uint64(1)


class AddedTokens(NamedTuple):
    """The tokens that are found in any text; `ranges` is empty if there are none."""

    ranges: NDArray[np.uint8]
    """uint8[2 * n]: the lowest and the highest of each range of bytes, of which one begins each
    token; not every byte within a range need begin one."""
    second: NDArray[np.int32]
    edges: NDArray[np.uint64]
    symbol_at: NDArray[np.int32]
    width: NDArray[np.int32]
    """A trie of the tokens: see `word_merging.TrieArrays`."""


@kernel
def enter_added(added, whole, cache):
    """Enter the tokens, which are the whole words too, into their empty trie and a word cache."""
    n_nodes = np.int64(FIRST_SYMBOL)
    for number in range(whole.ids.size):
        start = whole.starts[number]
        symbol = np.int32(FIRST_SYMBOL + number)
        n_nodes = enter_symbol(added, n_nodes, whole.letters, start, symbol)
        if added.width[symbol] <= SHORT_WORD:
            low, high = whole.keys[2 * number], whole.keys[2 * number + 1]
            prefer(cache, low, high, whole.ids, number)


@inlined
def _may_begin(text, at, stop, ranges):
    """Return a mask of the bytes from text[at] on that may begin a token."""
    mask = np.uint64(0)
    if at + BYTES <= text.size:
        for k in range(0, ranges.size, 2):
            mask |= bytes_between(text, at, ranges[k], ranges[k + 1])
        return mask
    for i in range(at, stop):
        for k in range(0, ranges.size, 2):
            if ranges[k] <= text[i] <= ranges[k + 1]:
                mask |= _ONE << np.uint64(i - at)
    return mask


@inlined
def _longest_token(added, text, start, stop):
    """Return the symbol of the longest token that text[start:stop] begins with, or -1."""
    symbol = longest_match(added, text, start, stop)
    return symbol if symbol >= FIRST_SYMBOL else added.symbol_at[symbol]


@part
def isolate(text, begin, ends, n_ends, added, isolated):
    """Write the ends of words, and of added tokens and what is before them; return their number.

    ends: int64, of the words from text[begin] on; no added token crosses the last. isolated: int64,
    with room for one end per byte. A word that ends within an added token ends before it.
    """
    stop = ends[n_ends - 1]
    n = np.int64(0)
    i = np.int64(0)
    reached = np.int64(begin)
    for at in range(np.int64(begin), stop, BYTES):
        mask = _may_begin(text, at, stop, added.ranges)
        while mask:
            place = at + trailing_zeros(mask)
            mask &= mask - _ONE
            if place < reached or place >= stop:
                continue
            symbol = _longest_token(added, text, place, stop)
            if symbol < 0:
                continue
            while ends[i] < place:
                isolated[n] = ends[i]
                n += 1
                i += 1
            if place > reached:
                isolated[n] = place
                n += 1
            reached = place + added.width[symbol]
            isolated[n] = reached
            n += 1
            while i < n_ends and ends[i] <= reached:
                i += 1
    while i < n_ends:
        isolated[n] = ends[i]
        n += 1
        i += 1
    return n
