"""The pairs of a row: how often each occurs, and where.

The twin is `trainers.pair_table`.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.hashing import EMPTY, find_pair, pair_key, spread_pair
from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.pair_index import add_slot

ENTRY = 4
"""uint64 numbers per entry of a table of counts: key, count, number of slots, padding.

With 32 bytes, an entry lies within one cache line: with a million pairs, three separate arrays took
twice as long.
"""

NEXT_SLOT, N_PAIRS = 0, 1
"""Places in `count_row`'s `reached`: the slot to continue from, the number of pairs counted."""

_ENTRY = np.uint64(ENTRY)
_COUNT = np.uint64(1)
_SLOTS = np.uint64(2)
_ONE = np.uint64(1)
_NONE = np.uint64(0)


@inlined
def _entry_of(table, key):
    """Return where a pair's entry, or the free one for it, starts in a table of counts."""
    mask = np.uint64(table.size // ENTRY - 1)
    place = spread_pair(key) & mask
    while table[place * _ENTRY + _SLOTS] != _NONE and table[place * _ENTRY] != key:
        place = (place + _ONE) & mask
    return place * _ENTRY


@kernel
def count_row(row, tokens, max_token_bytes, table, reached):
    """Count the pairs in the row that may merge; return False if the table gets half full.

    table: uint64[ENTRY * n], n a power of two, zeros at first. reached: int64[2], zeros at first.
    After False, move the counts to a larger table and call again with the same `reached`.
    """
    most = table.size // ENTRY // 2
    n_pairs = reached[N_PAIRS]
    slot = np.uint64(reached[NEXT_SLOT])
    end = np.uint64(row.ids.size)
    while slot < end and n_pairs < most:
        if row.ids[slot] < 0:
            slot += _ONE
            continue
        left = np.uint64(row.ids[slot])
        after = slot + np.uint64(tokens.n_slots[left])
        if row.ids[after] >= 0:
            right = np.uint64(row.ids[after])
            if tokens.n_bytes[left] + tokens.n_bytes[right] <= max_token_bytes:
                key = pair_key(left, right)
                entry = _entry_of(table, key)
                n_pairs += np.int64(table[entry + _SLOTS] == _NONE)
                table[entry] = key
                table[entry + _COUNT] += np.uint64(row.weights[slot])
                table[entry + _SLOTS] += _ONE
        slot = after
    reached[NEXT_SLOT] = np.int64(slot)
    reached[N_PAIRS] = n_pairs
    return slot == end


@kernel
def move_counts(table, larger):
    """Copy the entries of a table of counts into a larger, empty one."""
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
def gather_slots(row, tokens, index):
    """Add every slot of the row where a pair of the index occurs; no pair has slots yet."""
    slot = np.int64(0)
    while slot < row.ids.size:
        left = np.int64(row.ids[slot])
        if left < 0:
            slot += 1
            continue
        after = slot + tokens.n_slots[left]
        right = np.int64(row.ids[after])
        if right >= 0:
            place = find_pair(index.table_keys, pair_key(left, right))
            if index.table_keys[place] != EMPTY:
                add_slot(index, np.int64(index.table_pairs[place]), slot)
        slot = after
