"""The data of the training kernels: all words in one row of slots, and the pairs that they track.

A slot is the place of one base symbol. A token has its id in its first slot, and _END - id in its
last, so that both neighbours of any token can be read directly. If a merge joins a token of several
slots to another, the first of these slots records which merge it was. The other slots inside a
token keep what they held in the shorter tokens that it was made from.

For example, the words `abc` and `bc`, with the ids 1 to 3 for their letters: at first, after
merging `bc` into 4, and after merging `abc` into 5. -7 and -8 are the ends of 4 and 5.

    [-1, 1, 2, 3, -1, 2, 3, -1]
    [-1, 1, 4, -7, -1, 4, -7, -1]
    [-1, 5, JOINED - 1, -8, -1, 4, -7, -1]

A `PairIndex` knows of each pair how often it occurs and where, and which pair is the best.
Each pair has a number. A hash table maps the pair's two ids to its number, arrays hold its count
and slots by number, and a heap orders the numbers. Counts only fall, so a heap entry's count may be
too high: it is corrected when it reaches the top.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.hashing import EMPTY, find_pair, pair_key

BETWEEN = -1
"""Marks the place between two words."""

MISSING = -2
"""Marks a symbol that the alphabet lacks, which no merge takes."""

JOINED = -(2**30)
"""JOINED - rank marks a slot inside a token: the merge of that rank joined it to the one before.
Ids and ranks are smaller than 2**30 - 3, because arrays of that many ids do not fit into memory."""

_END = -3
"""_END - id marks the last slot of a token of two or more slots."""


class Row(NamedTuple):
    """The words in one row, with BETWEEN before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots], as described above. The occurrences of a pair are far apart, and each costs a
    line of the processor's cache, so a slot holds nothing but this number."""
    weights: NDArray[np.int32]
    """int32[n_words]: how often each word occurs; -1 - i stands for large[i]."""
    large: NDArray[np.int64]
    """int64[n_large]: the counts too large for an int32."""


class Tokens(NamedTuple):
    """The lengths of each token, and how it ends, by id."""

    n_slots: NDArray[np.int32]
    """int32[n_ids]"""
    n_bytes: NDArray[np.int32]
    """int32[n_ids]"""
    end_ranks: NDArray[np.int32]
    """int32[n_ids]: the rank of the merge that joined the token's last slot to the one before."""


# A slot's number is a uint64 here: Numba checks the sign of any other int, because a negative index
# counts from the end.
_ONE = np.uint64(1)


@inlined
def id_before(row, slot):
    """Return the id of the token that ends just before a slot, negative if no token does."""
    value = row.ids[slot - _ONE]
    return value if value >= 0 else np.int32(_END - value)


@inlined
def join(row, slot, middle, last, new, rank):
    """Join two tokens, which begin at `slot` and `middle`, to a new one, which ends at `last`."""
    row.ids[slot] = new
    row.ids[middle] = JOINED - rank  # overwritten below if the right token has one slot only
    row.ids[last] = _END - new


@inlined
def with_larger_id(value, more):
    """Return what a slot holds, with the id in it, if there is one, larger by `more`."""
    if value >= 0:
        value += more
    elif JOINED < value <= _END:
        value -= more
    return value


@inlined
def word_count(row, weight):
    """Return how often a word occurs, given its entry in `weights`."""
    count = np.int64(weight)
    if count < 0:
        count = row.large[-1 - count]
    return count


@inlined
def rank_at(row, tokens, slot, never):
    """Return the rank of the merge that joined a slot to the one before it, `never` if none did."""
    value = row.ids[slot]
    is_end = JOINED < value <= _END
    # Always read, because a branch would be mispredicted.
    at_end = tokens.end_ranks[np.uint64(_END - value if is_end else 0)]
    within = at_end if is_end else np.int32(JOINED - value)
    return within if value <= _END else never


PAIRS, SLOTS, ENTRIES = 0, 1, 2
"""Places in `PairIndex.used`, which counts the pairs, their slots and the heap's entries."""


_TWO = np.uint64(2)


class PairIndex(NamedTuple):
    """The tracked pairs, in arrays with room to grow."""

    table_keys: NDArray[np.uint64]
    """uint64[capacity], a power of two: key of the pair at a place, or EMPTY."""
    table_pairs: NDArray[np.int32]
    """int32[capacity]: number of the pair at a place."""
    keys: NDArray[np.uint64]
    """uint64[room]: left << 32 | right, by number of the pair."""
    counts: NDArray[np.int64]
    """int64[room]: how often each pair occurs now."""
    begins: NDArray[np.int64]
    """int64[room]: a pair's slots are places[2 * begins : 2 * ends : 2], from left to right; some
    have merged. Those of a pair that was merged itself may be another pair's by now."""
    ends: NDArray[np.int64]
    """int64[room]"""
    places: NDArray[np.int32]
    """int32[2 * room]: the slots of all pairs, each followed by its word's entry in `Row.weights`.
    They are read in order, so a weight costs less here than in the row."""
    heap: NDArray[np.int32]
    """int32[room]: numbers of pairs, best first by the two arrays below."""
    heap_counts: NDArray[np.int64]
    """int64[room]: the pair's count when it was pushed or last corrected."""
    heap_ties: NDArray[np.uint64]
    """uint64[room]: the tie-break, lowest first: the pair's key, or its first slot."""
    used: NDArray[np.int64]
    """int64[3]: how much of these arrays is in use, by PAIRS, SLOTS and ENTRIES."""
    free: NDArray[np.int64]
    """int64[2]: new pairs may take the slots from the first number to before the second, which were
    those of a merged pair."""
    threshold: int
    """Pairs with a lower count are not tracked."""


@part
def has_room(index, n_pairs, n_slots):
    """Return True if `n_pairs` more pairs with `n_slots` slots in all fit into the index."""
    after = index.used[PAIRS] + n_pairs
    return (
        after <= index.keys.size
        and 2 * after <= index.table_keys.size
        and 2 * (index.used[SLOTS] + n_slots) <= index.places.size
        and index.used[ENTRIES] + n_pairs <= index.heap.size
    )


@part
def follow(index, key, count, n_slots):
    """Enter a pair and reserve room for its slots; return its number."""
    pair = index.used[PAIRS]
    index.used[PAIRS] += 1
    index.keys[pair] = key
    index.counts[pair] = count
    begin = index.used[SLOTS]
    if n_slots <= index.free[1] - index.free[0]:
        begin = index.free[0]
        index.free[0] += n_slots
    else:
        index.used[SLOTS] += n_slots
    index.begins[pair] = begin
    index.ends[pair] = begin
    place = find_pair(index.table_keys, key)
    index.table_keys[place] = key
    index.table_pairs[place] = pair
    return pair


@part
def free_slots(index, pair):
    """Let new pairs take the room of a pair that has merged, unless more room is free elsewhere.

    New memory is slow to touch for the first time, and the slots of this pair are in the cache.
    """
    if index.ends[pair] - index.begins[pair] > index.free[1] - index.free[0]:
        index.free[0] = index.begins[pair]
        index.free[1] = index.ends[pair]


@inlined
def add_slot(index, pair, slot, weight):
    """Add a slot where a pair occurs, in a word of this weight; go from left to right."""
    at = _TWO * np.uint64(index.ends[pair])
    index.places[at] = slot
    index.places[at + _ONE] = weight
    index.ends[pair] += 1


@inlined
def slot_at(index, i):
    """Return the ith of all slots of all pairs."""
    return np.uint64(index.places[_TWO * np.uint64(i)])


@inlined
def weight_at(index, i):
    """Return the weight of the word at the ith of all slots."""
    return index.places[_TWO * np.uint64(i) + _ONE]


@part
def lower(index, left, right, weight):
    """Lower the count of a pair by a weight, if the pair is tracked."""
    place = find_pair(index.table_keys, pair_key(left, right))
    if index.table_keys[place] != EMPTY:
        index.counts[index.table_pairs[place]] -= weight


# -- the heap ---------------------------------------------------------------------------------


@part
def _goes_before(count, tie, other_count, other_tie):
    return count > other_count or (count == other_count and tie < other_tie)


@inlined
def _set_entry(index, i, pair, count, tie):
    index.heap[i] = pair
    index.heap_counts[i] = count
    index.heap_ties[i] = tie


@inlined
def _move_entry(index, i, to):
    _set_entry(index, to, index.heap[i], index.heap_counts[i], index.heap_ties[i])


@part
def push(index, pair, first_seen):
    """Push a pair, whose slots have been added, onto the heap."""
    pair = np.int32(pair)
    count = index.counts[pair]
    tie = slot_at(index, index.begins[pair]) if first_seen else index.keys[pair]
    i = index.used[ENTRIES]
    index.used[ENTRIES] += 1
    while i > 0:
        parent = (i - 1) >> 1
        if not _goes_before(count, tie, index.heap_counts[parent], index.heap_ties[parent]):
            break
        _move_entry(index, parent, i)
        i = parent
    _set_entry(index, i, pair, count, tie)


@part
def replace_top(index, pair, count, tie):
    """Replace the best entry by another and sift it down."""
    size = index.used[ENTRIES]
    i = np.int64(0)
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        other = child + 1
        if other < size and _goes_before(
            index.heap_counts[other],
            index.heap_ties[other],
            index.heap_counts[child],
            index.heap_ties[child],
        ):
            child = other
        if not _goes_before(index.heap_counts[child], index.heap_ties[child], count, tie):
            break
        _move_entry(index, child, i)
        i = child
    _set_entry(index, i, pair, count, tie)


@part
def pop(index):
    """Remove the best entry from the heap."""
    index.used[ENTRIES] -= 1
    last = index.used[ENTRIES]
    if last > 0:
        replace_top(index, index.heap[last], index.heap_counts[last], index.heap_ties[last])
