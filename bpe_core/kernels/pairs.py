"""The pairs of a row: how often each counts, and where it stands.

For rows and slots see `bpe_core.kernels.merging`. The twin is `bpe_core.layout.pair_table`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.hashing import EMPTY, find_pair, pair_key, spread_pair
from bpe_core.kernels.jit import inlined, kernel

BETWEEN = -1
"""In a row: no symbol, the place between two words. No token of one slot has minus its length."""

ENTRY = 4
"""uint64 numbers in an entry of a table of counts: key, count, number of slots, nothing.

32 bytes, so that an entry is within one cache line: three arrays, one for each, took twice as long
where there are a million pairs.
"""

_ENTRY = np.uint64(ENTRY)
_COUNT = np.uint64(1)
_SLOTS = np.uint64(2)
_ONE = np.uint64(1)
_NONE = np.uint64(0)


class PairIndex(NamedTuple):
    """The pairs that are followed: their counts, where they stand, and a heap of them."""

    table_keys: NDArray[np.uint64]
    """uint64[capacity], a power of two: key of the pair at a place."""
    table_pairs: NDArray[np.int32]
    """int32[capacity]: number of the pair at a place."""
    keys: NDArray[np.uint64]
    """uint64[room]: left << 32 | right, by number of the pair."""
    counts: NDArray[np.int64]
    begins: NDArray[np.int64]
    """int64[room]: a pair's slots are slots[begins:ends], from left to right; some have merged."""
    ends: NDArray[np.int64]
    slots: NDArray[np.int32]
    heap: NDArray[np.int32]
    """int32[room]: numbers of pairs, best first by the two arrays below."""
    heap_counts: NDArray[np.int64]
    heap_ties: NDArray[np.uint64]
    """uint64[room]: what breaks a tie, lowest first: the pair's key, or where it stands first."""
    used: NDArray[np.int64]
    """int64[4]: pairs, slots, heap entries, and places of the table in use."""


@inlined
def _entry_of(table, key):
    """Where a pair's entry starts in a table of counts, or the free one for it."""
    mask = np.uint64(table.size // ENTRY - 1)
    place = spread_pair(key) & mask
    while table[place * _ENTRY + _SLOTS] != _NONE and table[place * _ENTRY] != key:
        place = (place + _ONE) & mask
    return place * _ENTRY


@kernel
def count_row(row, lengths, token_bytes, weights, max_token_bytes, table, reached):
    """Count every pair in the row that may merge; False where the table is half full before.

    table: uint64[ENTRY * n], n a power of two, zeros at first. reached: int64[2], the slot to go
    on from, and how many pairs the table has.
    """
    most = table.size // ENTRY // 2
    n_pairs = reached[1]
    slot = np.uint64(reached[0])
    end = np.uint64(row.size)
    while slot < end and n_pairs < most:
        if row[slot] < 0:
            slot += _ONE
            continue
        left = np.uint64(row[slot])
        after = slot + np.uint64(lengths[left])
        if row[after] >= 0:
            right = np.uint64(row[after])
            if token_bytes[left] + token_bytes[right] <= max_token_bytes:
                key = pair_key(left, right)
                entry = _entry_of(table, key)
                n_pairs += np.int64(table[entry + _SLOTS] == _NONE)
                table[entry] = key
                table[entry + _COUNT] += np.uint64(weights[slot])
                table[entry + _SLOTS] += _ONE
        slot = after
    reached[0] = np.int64(slot)
    reached[1] = n_pairs
    return slot == end


@kernel
def move_counts(table, larger):
    """Enter what a table of counts holds into a larger one that is empty."""
    for old in range(0, table.size, ENTRY):
        from_entry = np.uint64(old)
        if table[from_entry + _SLOTS] != _NONE:
            entry = _entry_of(larger, table[from_entry])
            larger[entry] = table[from_entry]
            larger[entry + _COUNT] = table[from_entry + _COUNT]
            larger[entry + _SLOTS] = table[from_entry + _SLOTS]


@kernel
def enter_pairs(keys, table_keys, table_pairs):
    """Enter pairs, numbered by their place in keys, into an empty table."""
    for pair in range(keys.size):
        place = find_pair(table_keys, keys[pair])
        table_keys[place] = keys[pair]
        table_pairs[place] = pair


@kernel
def gather_slots(row, lengths, table_keys, table_pairs, ends, slots):
    """Write down where each pair of the table stands, and move its end on."""
    i = 0
    while i < row.size:
        if row[i] < 0:
            i += 1
            continue
        after = i + lengths[row[i]]
        if row[after] >= 0:
            place = find_pair(table_keys, pair_key(row[i], row[after]))
            if table_keys[place] != EMPTY:
                pair = table_pairs[place]
                slots[ends[pair]] = i
                ends[pair] += 1
        i = after
