"""The merge loop: from words laid out in one row to the merges that training learns.

All words lie in one row of slots, one a base symbol. A token keeps its id in its first slot and
minus its length in its last, so both neighbours of any token are one look away; what lies between
is marked as gone. The twin is `incremental.learn_merges`, the oracle `reference.train_reference`.

What makes it fast:
- A pair's occurrences all appear with the merge that makes the newer of its symbols. So their
  slots are gathered once, into one list as long as it must be, and from then on the pair's count
  only falls: a heap whose entries are set right when they come to the top is enough.
- The pairs that a merge makes all hold the new token, so they are counted in arrays indexed by the
  other symbol. Only pairs whose count falls are looked up in a hash table.
- Pairs rarer than a threshold aren't followed at all. When the best falls below it, the row is
  counted anew with a lower threshold: three or four times in a run.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.hashing import EMPTY, find_pair, pair_key
from bpe_core.kernels.jit import kernel, part
from bpe_core.kernels.pairs import BETWEEN

_GONE = -(2**30)  # a slot inside a token, neither its first nor its last

ENOUGH, BELOW_THRESHOLD, SMALL_INDEX = 0, 1, 2
"""Why `run_merges` returned: as many merges as asked for; count anew; make room."""


class Scratch(NamedTuple):
    """What one merge needs while it counts the pairs of the new token."""

    merged: NDArray[np.int32]
    """int32[n_slots // 2 + 1]: where the new token stands."""
    befores: NDArray[np.int32]
    afters: NDArray[np.int32]
    count_before: NDArray[np.int64]
    """int64[n_ids]: count of (id, new token)."""
    count_after: NDArray[np.int64]
    n_before: NDArray[np.int32]
    """int32[n_ids]: how many slots that pair has; then -1 - the pair's number."""
    n_after: NDArray[np.int32]
    neighbours: NDArray[np.int32]
    """int32[n_ids]: the ids that have entries in the arrays above."""


# -- the heap ---------------------------------------------------------------------------------


@part
def _goes_before(count, tie, other_count, other_tie):
    return count > other_count or (count == other_count and tie < other_tie)


@part
def _push(index, pair, count, tie):
    i = index.used[2]
    index.used[2] += 1
    while i > 0:
        parent = (i - 1) >> 1
        if not _goes_before(count, tie, index.heap_counts[parent], index.heap_ties[parent]):
            break
        index.heap[i] = index.heap[parent]
        index.heap_counts[i] = index.heap_counts[parent]
        index.heap_ties[i] = index.heap_ties[parent]
        i = parent
    index.heap[i] = pair
    index.heap_counts[i] = count
    index.heap_ties[i] = tie


@part
def _replace_top(index, pair, count, tie):
    size = index.used[2]
    i = 0
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
        index.heap[i] = index.heap[child]
        index.heap_counts[i] = index.heap_counts[child]
        index.heap_ties[i] = index.heap_ties[child]
        i = child
    index.heap[i] = pair
    index.heap_counts[i] = count
    index.heap_ties[i] = tie


@part
def _pop(index):
    index.used[2] -= 1
    last = index.used[2]
    if last > 0:
        _replace_top(index, index.heap[last], index.heap_counts[last], index.heap_ties[last])


@part
def _best_pair(index, row, lengths, threshold, first_seen):
    """The number of the pair to merge next, left at the heap's top; -1 where none is left."""
    while index.used[2] > 0:
        pair = index.heap[0]
        count = index.counts[pair]
        if count < threshold:
            _pop(index)
            continue
        tie = index.heap_ties[0]
        if count == index.heap_counts[0]:
            if not first_seen:
                return pair
            begin = _first_standing(index, pair, row, lengths)
            index.begins[pair] = begin
            tie = np.uint64(index.slots[begin])
            if tie == index.heap_ties[0]:
                return pair
        _replace_top(index, pair, count, tie)
    return -1


@part
def _first_standing(index, pair, row, lengths):
    """Which of a pair's slots is the first where it still stands; its count is above 0."""
    left, right = _ids(index.keys[pair])
    i = index.begins[pair]
    while True:
        slot = index.slots[i]
        if row[slot] == left:
            after = slot + lengths[left]
            if row[after] == right:
                return i
        i += 1


# -- one merge --------------------------------------------------------------------------------


@part
def _ids(key):
    return np.int64(key >> np.uint64(32)), np.int64(key & np.uint64(0xFFFFFFFF))


@part
def _before(row, slot):
    """The id of the token that ends just before a slot; negative where a word begins there."""
    value = row[slot - 1]
    if value < BETWEEN:
        value = row[slot + value]
    return value


@part
def _lower(index, left, right, weight):
    place = find_pair(index.table_keys, pair_key(left, right))
    if index.table_keys[place] != EMPTY:
        index.counts[index.table_pairs[place]] -= weight


@part
def _fuse(index, pair, new, rank, row, lengths, weights, joined_at, scratch):
    """Join a pair wherever it stands, left to right; how often, and what weight it has in all.

    The pairs that it breaks up, and those of the new token, are left to count.
    """
    left, right = _ids(index.keys[pair])
    n = 0
    saved = np.int64(0)
    for i in range(index.begins[pair], index.ends[pair]):
        slot = np.int64(index.slots[i])
        middle = slot + lengths[left]
        # A row ends with a place between words, so middle and after stay inside it.
        if row[slot] != left or row[middle] != right:
            continue
        saved += weights[slot]
        row[middle] = _GONE
        row[slot] = new
        row[slot + lengths[new] - 1] = -lengths[new]
        joined_at[middle] = rank
        scratch.merged[n] = slot
        n += 1
    return n, saved


@part
def _count_new_pairs(new, n_merged, row, lengths, weights, scratch):
    """Count the pairs that hold the new token, by their other symbol; how many those are."""
    n = 0
    for i in range(n_merged):
        slot = np.int64(scratch.merged[i])
        before = _before(row, slot)
        scratch.befores[i] = before
        if before >= 0:
            if scratch.n_before[before] == 0 and scratch.n_after[before] == 0:
                scratch.neighbours[n] = before
                n += 1
            scratch.n_before[before] += 1
            scratch.count_before[before] += weights[slot]
        after = row[slot + lengths[new]]
        if after == new:
            after = np.int32(-1)  # two new tokens side by side are counted from the right one
        scratch.afters[i] = after
        if after >= 0:
            if scratch.n_before[after] == 0 and scratch.n_after[after] == 0:
                scratch.neighbours[n] = after
                n += 1
            scratch.n_after[after] += 1
            scratch.count_after[after] += weights[slot]
    return n


@part
def _lower_broken_pairs(index, pair, new, n_neighbours, scratch):
    """Where the new token now has a neighbour, one of the two that it is made of had it before.

    So the counts of new pairs say by how much those of old ones fall: one look a neighbour, where
    one an occurrence took half of the time.
    """
    left, right = _ids(index.keys[pair])
    for i in range(n_neighbours):
        other = np.int64(scratch.neighbours[i])
        if scratch.n_before[other]:
            # Between two new tokens the old pair was the end of one and the start of the other.
            before = right if other == new else other
            _lower(index, before, left, scratch.count_before[other])
        if scratch.n_after[other]:
            _lower(index, right, other, scratch.count_after[other])
    index.counts[pair] = 0


@part
def _follow(index, key, count, n_slots):
    """Enter a pair into the index, its list of slots still empty; its number."""
    pair = index.used[0]
    index.used[0] += 1
    index.keys[pair] = key
    index.counts[pair] = count
    index.begins[pair] = index.used[1]
    index.ends[pair] = index.used[1]
    index.used[1] += n_slots
    place = find_pair(index.table_keys, key)
    index.table_keys[place] = key
    index.table_pairs[place] = pair
    index.used[3] += 1
    return pair


@part
def _add_slot(index, pair, slot):
    index.slots[index.ends[pair]] = slot
    index.ends[pair] += 1


@part
def _push_followed(index, pair, first_seen):
    tie = np.uint64(index.slots[index.begins[pair]]) if first_seen else index.keys[pair]
    _push(index, pair, index.counts[pair], tie)


@part
def _follow_new_pairs(
    index,
    new,
    n_merged,
    n_neighbours,
    lengths,
    token_bytes,
    longest_other,
    threshold,
    first_seen,
    scratch,
):
    """Enter the counted pairs that may merge and are frequent enough; clear the scratch."""
    for i in range(n_neighbours):
        other = scratch.neighbours[i]
        may_merge = token_bytes[other] <= longest_other
        for_before = np.int32(0)
        if may_merge and scratch.count_before[other] >= threshold:
            for_before = -1 - _follow(
                index, pair_key(other, new), scratch.count_before[other], scratch.n_before[other]
            )
        for_after = np.int32(0)
        if may_merge and scratch.count_after[other] >= threshold:
            for_after = -1 - _follow(
                index, pair_key(new, other), scratch.count_after[other], scratch.n_after[other]
            )
        scratch.n_before[other] = for_before
        scratch.n_after[other] = for_after
        scratch.count_before[other] = 0
        scratch.count_after[other] = 0
    for i in range(n_merged):
        slot = np.int64(scratch.merged[i])
        other = scratch.befores[i]
        if other >= 0 and scratch.n_before[other] < 0:
            _add_slot(index, -1 - scratch.n_before[other], slot - lengths[other])
        other = scratch.afters[i]
        if other >= 0 and scratch.n_after[other] < 0:
            _add_slot(index, -1 - scratch.n_after[other], slot)
    for i in range(n_neighbours):
        other = scratch.neighbours[i]
        if scratch.n_before[other] < 0:
            _push_followed(index, -1 - scratch.n_before[other], first_seen)
        if scratch.n_after[other] < 0:
            _push_followed(index, -1 - scratch.n_after[other], first_seen)
        scratch.n_before[other] = 0
        scratch.n_after[other] = 0


@kernel
def run_merges(
    row,
    lengths,
    token_bytes,
    weights,
    joined_at,
    index,
    scratch,
    threshold,
    first_seen,
    max_token_bytes,
    merges,
    counts,
    saved,
    first_new_id,
    done,
    until,
):
    """Learn merges until merge `until`, or until the index must be made anew or larger.

    row: int32[n_slots], BETWEEN before, between and after the words.
    lengths, token_bytes: int32[n_ids], of each token in slots and in bytes.
    weights: int64[n_slots]. joined_at: int32[n_slots], gets the rank of the merge that joins a
    slot to the one before it. merges: int32[n_merges, 2], counts and saved: int64[n_merges], get
    the pair, its count, and how many tokens fewer the corpus has. done: int64[1], merges so far.
    """
    while done[0] < until:
        pair = _best_pair(index, row, lengths, threshold, first_seen)
        if pair < 0:
            return BELOW_THRESHOLD
        left, right = _ids(index.keys[pair])
        most_new = 2 * (index.ends[pair] - index.begins[pair])
        if (
            index.used[0] + most_new > index.keys.size
            or index.used[1] + most_new > index.slots.size
            or index.used[2] + most_new > index.heap.size
            or 2 * (index.used[3] + most_new) > index.table_keys.size
        ):
            return SMALL_INDEX
        rank = done[0]
        new = first_new_id + rank
        lengths[new] = lengths[left] + lengths[right]
        token_bytes[new] = token_bytes[left] + token_bytes[right]
        merges[rank, 0] = left
        merges[rank, 1] = right
        counts[rank] = index.counts[pair]
        _pop(index)
        n_merged, saved[rank] = _fuse(
            index, pair, new, rank, row, lengths, weights, joined_at, scratch
        )
        n_neighbours = _count_new_pairs(new, n_merged, row, lengths, weights, scratch)
        _lower_broken_pairs(index, pair, new, n_neighbours, scratch)
        _follow_new_pairs(
            index,
            new,
            n_merged,
            n_neighbours,
            lengths,
            token_bytes,
            max_token_bytes - token_bytes[new],
            threshold,
            first_seen,
            scratch,
        )
        done[0] += 1
    return ENOUGH
