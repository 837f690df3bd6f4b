"""The pairs of a row: how often each occurs, and where.

The twin is `trainers.pair_table`.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import inlined, kernel
from bpe_core.kernels.hashing import EMPTY, find_pair, pair_key, spread_pair
from bpe_core.kernels.row import BETWEEN, add_slot, word_count

CELLS = 4
"""uint64 numbers per entry of a table of counts: key, count, number of slots, padding.

With 32 bytes, an entry lies within one cache line: with a million pairs, three separate arrays took
twice as long.
"""

NEXT_SLOT, NEXT_WORD, END, N_PAIRS = 0, 1, 2, 3
"""Places in `count_row`'s `reached`: the slot to continue from, the number of words before it, the
slot to stop at, and the number of pairs counted."""

MAX_SKETCHED = (1 << 32) - 1
"""The largest count in a sketch; it stands for all that are larger."""

_ENTRY = np.uint64(CELLS)
_COUNT = np.uint64(1)
_SLOTS = np.uint64(2)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_NONE = np.uint64(0)


@inlined
def _find_entry(table, key):
    """Return where a pair's entry, or the free one for it, starts in a table of counts."""
    mask = np.uint64(table.size // CELLS - 1)
    place = spread_pair(key) & mask
    while table[place * _ENTRY + _SLOTS] != _NONE and table[place * _ENTRY] != key:
        place = (place + _ONE) & mask
    return place * _ENTRY


@inlined
def _pair_at(row, tokens, slot):
    """Return the ids of a token and of the one after it, and where that begins.

    The first is below zero where no token begins, and the second where no pair does.
    """
    id = row.ids[slot]
    if id < 0:
        return id, id, slot + _ONE
    after = slot + np.uint64(tokens.n_slots[np.uint64(id)])
    return id, row.ids[after], after


@kernel
def sketch_row(row, tokens, begin, end, word, sketch):
    """Add the count of each pair in a part of the row to the place in a sketch that it shares.

    So no pair is more frequent than its place says. sketch: uint32[n], n a power of two. A sketch
    stays in the cache where a table of millions of pairs does not.
    """
    mask = np.uint64(sketch.size - 1)
    slot = np.uint64(begin)
    stop = np.uint64(end)
    next_word = np.uint64(word)
    while slot < stop:
        left, right, after = _pair_at(row, tokens, slot)
        next_word += np.uint64(left == BETWEEN)
        if right >= 0:
            place = spread_pair(pair_key(left, right)) & mask
            known = np.int64(sketch[place])
            more = np.int64(word_count(row, row.weights[next_word - _ONE]))
            sketch[place] = np.uint32(known + min(more, MAX_SKETCHED - known))
        slot = after


@kernel
def count_row(row, tokens, max_token_bytes, sketch, least, table, reached):
    """Count the pairs in a part of the row that may merge; return False if the table is half full.

    Left out are those whose place in the sketch, unless it is empty, is below `least`. table:
    uint64[CELLS * n], n a power of two, zeros at first. reached: int64[4]; the part begins and ends
    between two words. After False, add the counts to a larger table and call again with the same
    `reached`.
    """
    mask = np.uint64(max(sketch.size, 1) - 1)
    most = table.size // CELLS // 2
    n_pairs = reached[N_PAIRS]
    slot = np.uint64(reached[NEXT_SLOT])
    word = np.uint64(reached[NEXT_WORD])
    end = np.uint64(reached[END])
    while slot < end and n_pairs < most:
        left, right, after = _pair_at(row, tokens, slot)
        word += np.uint64(left == BETWEEN)
        if (
            right >= 0
            and tokens.n_bytes[np.uint64(left)] + tokens.n_bytes[np.uint64(right)]
            <= max_token_bytes
        ):
            key = pair_key(left, right)
            if not sketch.size or sketch[spread_pair(key) & mask] >= least:
                entry = _find_entry(table, key)
                n_pairs += np.int64(table[entry + _SLOTS] == _NONE)
                table[entry] = key
                table[entry + _COUNT] += np.uint64(word_count(row, row.weights[word - _ONE]))
                table[entry + _SLOTS] += _ONE
        slot = after
    reached[NEXT_SLOT] = np.int64(slot)
    reached[NEXT_WORD] = np.int64(word)
    reached[N_PAIRS] = n_pairs
    return slot == end


@kernel
def add_counts(table, to):
    """Add the entries of a table of counts to another that has room for them."""
    for old in range(0, table.size, CELLS):
        from_entry = np.uint64(old)
        if table[from_entry + _SLOTS] != _NONE:
            entry = _find_entry(to, table[from_entry])
            to[entry] = table[from_entry]
            to[entry + _COUNT] += table[from_entry + _COUNT]
            to[entry + _SLOTS] += table[from_entry + _SLOTS]


@kernel
def find_slots(table, keys, n_slots):
    """Write the number of slots that a table of counts has for each pair; 0 for a pair it lacks."""
    for i in range(keys.size):
        n_slots[i] = np.int64(table[_find_entry(table, keys[i]) + _SLOTS])


@kernel
def list_counts(row, begin, end, word, step, counts):
    """Write how often every step-th word of two or more slots occurs; return how many were written.

    begin and end: slots between words, or the end of the row. word: how many words are before.
    """
    n = np.int64(0)
    left = np.int64(step)
    gap = np.uint64(begin)
    of_word = np.uint64(word)
    stop = min(end + 1, row.ids.size)
    for slot in range(np.uint64(begin + 1), np.uint64(stop)):
        if row.ids[slot] == BETWEEN:
            if slot - gap > _TWO:
                left -= 1
                if left == 0:
                    counts[n] = word_count(row, row.weights[of_word])
                    n += 1
                    left = np.int64(step)
            gap = slot
            of_word += _ONE
    return n


@kernel
def enter_pairs(keys, table_keys, table_pairs):
    """Enter pairs, numbered by their place in keys, into an empty table."""
    for pair in range(keys.size):
        place = find_pair(table_keys, keys[pair])
        table_keys[place] = keys[pair]
        table_pairs[place] = pair


@kernel
def gather_slots(row, tokens, index, begin, end, word):
    """Add every slot in a part of the row where a pair of the index occurs.

    word: how many words are before the part.
    """
    slot = np.uint64(begin)
    stop = np.uint64(end)
    next_word = np.uint64(word)
    while slot < stop:
        left, right, after = _pair_at(row, tokens, slot)
        next_word += np.uint64(left == BETWEEN)
        if right >= 0:
            place = find_pair(index.table_keys, pair_key(left, right))
            if index.table_keys[place] != EMPTY:
                pair = np.int64(index.table_pairs[place])
                add_slot(index, pair, np.int32(slot), row.weights[next_word - _ONE])
        slot = after
