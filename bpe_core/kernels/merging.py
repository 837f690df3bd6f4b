"""The merge loop: learn merges from words laid out in one row.

The row is a `row.Row`, the pairs that are tracked a `row.PairIndex`. The twin is
`incremental.learn_merges`, the oracle `reference.train_reference`.

What makes it fast:
- All occurrences of a pair appear with the merge that makes the newer of its symbols. So its slots
  are gathered once, into one list of the right length, and from then on the pair's count only
  falls: a heap whose entries are corrected when they reach the top is enough.
- The pairs that a merge creates all contain the new token, so they are counted in arrays indexed by
  the other symbol. Only pairs whose count falls are looked up in a hash table.
- Pairs rarer than a threshold are not tracked. When the best count falls below the threshold, the
  row is recounted with a lower one; the first threshold is chosen so that this is rare.
- Pairs that must not merge, because they spell a token that exists, are recognised by a hash, and
  only when they are the best: it is the caller who compares bytes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.hashing import find_pair, pair_ids, pair_key
from bpe_core.kernels.row import (
    ENTRIES,
    add_slot,
    follow,
    free_slots,
    has_room,
    id_before,
    join,
    lower,
    pop,
    push,
    rank_at,
    replace_top,
    slot_at,
    weight_at,
    word_count,
)

ENOUGH, BELOW_THRESHOLD, SMALL_INDEX, MAYBE_FORBIDDEN = 0, 1, 2, 3
"""Reasons to return from `run_merges`: all merges done, index to rebuild, index to enlarge, and the
best pair's bytes to compare."""

_AT_ONCE = np.uint64(256)
_NONE, _ONE = np.uint64(0), np.uint64(1)


class Rule(NamedTuple):
    """The pairs that may merge, and the order of two that are equally frequent."""

    first_seen: bool
    """The pair that occurs first in the row, rather than the one with the smallest ids."""
    max_token_bytes: int


class MergeLog(NamedTuple):
    """The merges learned so far, by their rank."""

    pairs: NDArray[np.int32]
    """int32[n_merges, 2]: left and right id."""
    counts: NDArray[np.int64]
    """int64[n_merges]: how often the pair occurred when it was merged."""
    saved: NDArray[np.int64]
    """int64[n_merges]: by how many tokens the merge shortened the corpus."""
    n_done: NDArray[np.int64]
    """int64[1]: the number of merges so far."""
    first_id: int
    """The id that the first merge makes; later merges make consecutive ids."""


class Spelled(NamedTuple):
    """Hashes by which a pair is recognised that may spell a token that exists.

    The hash of two tokens joined is hash * factor of the right one + hash of the right one.
    """

    known: NDArray[np.uint64]
    """uint64[capacity], a power of two: the hashes not to merge to, or EMPTY; length 0 if any pair
    may merge."""
    hashes: NDArray[np.uint64]
    """uint64[n_ids]"""
    factors: NDArray[np.uint64]
    """uint64[n_ids]"""
    allowed: NDArray[np.uint64]
    """uint64[capacity], a power of two: the keys of pairs that were compared and may merge, or
    EMPTY."""
    weights: NDArray[np.int32]
    """int32[n_ids]: a token's weight by the caller's rule, or more."""
    heaviest: int
    """A pair whose weights are together more than this must be compared too."""


class MergeScratch(NamedTuple):
    """Buffers for counting the pairs of the new token during one merge."""

    merged: NDArray[np.int32]
    """int32[n_slots + 1]: the slots where the new token starts, then those looked at."""
    weights: NDArray[np.int32]
    """int32[n_slots + 1]: the weight of the word there, see `Row.weights`."""
    befores: NDArray[np.int32]
    """int32[n_slots // 2 + 1]: the id before it there, or negative."""
    afters: NDArray[np.int32]
    """int32[n_slots // 2 + 1]: the id after it there, or negative."""
    count_before: NDArray[np.int64]
    """int64[n_ids]: count of (id, new token)."""
    count_after: NDArray[np.int64]
    """int64[n_ids]: count of (new token, id)."""
    n_before: NDArray[np.int32]
    """int32[n_ids]: how many slots (id, new token) has; then -1 - the pair's number."""
    n_after: NDArray[np.int32]
    """int32[n_ids]: the same of (new token, id)."""
    neighbours: NDArray[np.int32]
    """int32[n_ids]: the ids that have entries in the four arrays above."""


# -- the pair to merge next -------------------------------------------------------------------


@part
def _best_pair(index, row, tokens, first_seen):
    """Return the number of the pair to merge next, left at the heap's top; -1 if none is left."""
    while index.used[ENTRIES] > 0:
        pair = index.heap[0]
        count = index.counts[pair]
        if count < index.threshold:
            pop(index)
            continue
        tie = index.heap_ties[0]
        if count == index.heap_counts[0]:
            if not first_seen:
                return pair
            begin = _first_standing(index, pair, row, tokens)
            index.begins[pair] = begin
            tie = slot_at(index, begin)
            if tie == index.heap_ties[0]:
                return pair
        replace_top(index, pair, count, tie)
    return -1


@part
def _first_standing(index, pair, row, tokens):
    """Return which of a pair's slots is the first where it still occurs; its count is above 0."""
    left, right = pair_ids(index.keys[pair])
    i = index.begins[pair]
    while True:
        slot = slot_at(index, i)
        if row.ids[slot] == left:
            after = slot + np.uint64(tokens.n_slots[left])
            if row.ids[after] == right:
                return i
        i += 1


@part
def _joined_hash(spelled, left, right):
    return spelled.hashes[left] * spelled.factors[right] + spelled.hashes[right]


@part
def _may_be_forbidden(spelled, key):
    """Return True if the bytes of a pair must be compared before it merges."""
    if spelled.allowed[find_pair(spelled.allowed, key)] == key:
        return False
    left, right = pair_ids(key)
    if spelled.weights[left] + spelled.weights[right] > spelled.heaviest:
        return True
    joined = _joined_hash(spelled, left, right)
    return spelled.known[find_pair(spelled.known, joined)] == joined


# -- one merge --------------------------------------------------------------------------------


@part
def fuse(index, pair, new, rank, row, tokens, scratch):
    """Join every occurrence of a pair, left to right; return their number and the sum of counts.

    The ids next to each new token are noted, but no counts of pairs are updated here.

    Four in ten of the slots have merged since they were listed, so a branch on that would often be
    mispredicted. A few slots at a time, those that still hold the pair are picked out without a
    branch, and then joined while their part of the row is in the cache.
    """
    # Read here because in the loop, which writes to arrays, each would be read at every slot.
    left_id, right_id = pair_ids(index.keys[pair])
    left, right = np.int32(left_id), np.int32(right_id)
    to_middle = np.uint64(tokens.n_slots[left])
    to_after = np.uint64(tokens.n_slots[new])
    to_last = to_after - _ONE
    n = _NONE
    saved = np.int64(0)
    begin = np.uint64(index.begins[pair])
    end = np.uint64(index.ends[pair])
    while begin < end:
        stop = min(end, begin + _AT_ONCE)
        first = last = n
        for i in range(begin, stop):
            slot = slot_at(index, i)
            scratch.merged[last] = np.int32(slot)
            scratch.weights[last] = weight_at(index, i)
            # The pair once was there, so its middle is inside the row.
            last += np.uint64((row.ids[slot] == left) & (row.ids[slot + to_middle] == right))
        begin = stop
        for i in range(first, last):
            slot = np.uint64(scratch.merged[i])
            if left == right and row.ids[slot] != left:
                continue  # it overlaps the one before, which has been joined
            weight = scratch.weights[i]
            saved += word_count(row, weight)
            before = id_before(row, slot)
            scratch.befores[n] = before
            scratch.afters[n] = row.ids[slot + to_after]
            if before == np.int32(new):
                # Two new tokens side by side are counted from the right one.
                scratch.afters[n - _ONE] = np.int32(-1)
            join(row, slot, slot + to_middle, slot + to_last, np.int32(new), np.int32(rank))
            scratch.merged[n] = np.int32(slot)
            scratch.weights[n] = weight
            n += _ONE
    return np.int64(n), saved


@part
def count_new_pairs(n_merged, row, scratch):
    """Count the pairs that contain the new token, by the other id; return how many ids."""
    n = _NONE
    for i in range(np.uint64(n_merged)):
        count = word_count(row, scratch.weights[i])
        before = scratch.befores[i]
        if before >= 0:
            n += _list_once(scratch, before, n)
            other = np.uint64(before)
            scratch.n_before[other] += 1
            scratch.count_before[other] += count
        after = scratch.afters[i]
        if after >= 0:
            n += _list_once(scratch, after, n)
            other = np.uint64(after)
            scratch.n_after[other] += 1
            scratch.count_after[other] += count
    return np.int64(n)


@inlined
def _list_once(scratch, id, n):
    """List an id as the nth neighbour unless it is one already; return how many were listed."""
    other = np.uint64(id)
    if scratch.n_before[other] == 0 and scratch.n_after[other] == 0:
        scratch.neighbours[n] = id
        return _ONE
    return _NONE


@part
def lower_broken_pairs(index, pair, new, n_neighbours, scratch):
    """Lower the counts of the pairs that the merge broke.

    A neighbour of the new token was a neighbour of one of its two parts before. So the counts of
    the new pairs show by how much those of the old ones fall, with one lookup per neighbour; one
    per occurrence took half of the total time.
    """
    left, right = pair_ids(index.keys[pair])
    for i in range(n_neighbours):
        other = np.int64(scratch.neighbours[i])
        if scratch.n_before[other]:
            # Between two new tokens, the broken pair was the end of one and the start of the other.
            before = right if other == new else other
            lower(index, before, left, scratch.count_before[other])
        if scratch.n_after[other]:
            lower(index, right, other, scratch.count_after[other])
    index.counts[pair] = 0


@part
def follow_new_pairs(index, new, n_neighbours, tokens, rule, scratch):
    """Enter the counted pairs that may merge and are frequent enough; clear their counts.

    In the scratch, -1 - the pair's number replaces the number of its slots.
    """
    longest_other = rule.max_token_bytes - tokens.n_bytes[new]
    for i in range(n_neighbours):
        other = np.int64(scratch.neighbours[i])
        may_merge = tokens.n_bytes[other] <= longest_other
        for_before = np.int32(0)
        if may_merge and scratch.count_before[other] >= index.threshold:
            for_before = -1 - follow(
                index, pair_key(other, new), scratch.count_before[other], scratch.n_before[other]
            )
        for_after = np.int32(0)
        if may_merge and scratch.count_after[other] >= index.threshold:
            for_after = -1 - follow(
                index, pair_key(new, other), scratch.count_after[other], scratch.n_after[other]
            )
        scratch.n_before[other] = for_before
        scratch.n_after[other] = for_after
        scratch.count_before[other] = 0
        scratch.count_after[other] = 0


@part
def add_new_slots(index, n_merged, tokens, scratch):
    """Add the slots of the pairs that are new to the index, from left to right."""
    for i in range(n_merged):
        slot = scratch.merged[i]
        weight = scratch.weights[i]
        other = scratch.befores[i]
        if other >= 0 and scratch.n_before[other] < 0:
            before = np.int32(slot - tokens.n_slots[other])
            add_slot(index, -1 - scratch.n_before[other], before, weight)
        other = scratch.afters[i]
        if other >= 0 and scratch.n_after[other] < 0:
            add_slot(index, -1 - scratch.n_after[other], slot, weight)


@part
def _push_new_pairs(index, n_neighbours, rule, scratch):
    """Push the pairs that are new to the index on its heap; clear the rest of the scratch."""
    for i in range(n_neighbours):
        other = scratch.neighbours[i]
        if scratch.n_before[other] < 0:
            push(index, -1 - scratch.n_before[other], rule.first_seen)
        if scratch.n_after[other] < 0:
            push(index, -1 - scratch.n_after[other], rule.first_seen)
        scratch.n_before[other] = 0
        scratch.n_after[other] = 0


@kernel
def run_merges(row, tokens, index, rule, spelled, log, scratch, until):
    """Learn merges until the log has `until`, or until the caller must do something.

    A merge joins a pair in the row, gives the new token its lengths in `tokens`, brings the index
    up to date, and is added to the log. The counts in the scratch are zero before and after.
    Return ENOUGH, BELOW_THRESHOLD, SMALL_INDEX or MAYBE_FORBIDDEN.
    """
    while log.n_done[0] < until:
        pair = _best_pair(index, row, tokens, rule.first_seen)
        if pair < 0:
            return BELOW_THRESHOLD
        if spelled.known.size and _may_be_forbidden(spelled, index.keys[pair]):
            return MAYBE_FORBIDDEN
        rank = log.n_done[0]
        new = log.first_id + rank
        max_slots = 2 * (index.ends[pair] - index.begins[pair])
        # Each id, the new one too, may come before the new token and after it.
        if not has_room(index, min(max_slots, 2 * (new + 1)), max_slots):
            return SMALL_INDEX
        left, right = pair_ids(index.keys[pair])
        tokens.n_slots[new] = tokens.n_slots[left] + tokens.n_slots[right]
        tokens.n_bytes[new] = tokens.n_bytes[left] + tokens.n_bytes[right]
        of_right = tokens.end_ranks[right]
        tokens.end_ranks[new] = np.int32(rank) if tokens.n_slots[right] == 1 else of_right
        if spelled.known.size:
            spelled.hashes[new] = _joined_hash(spelled, left, right)
            spelled.factors[new] = spelled.factors[left] * spelled.factors[right]
            spelled.weights[new] = spelled.weights[left] + spelled.weights[right]
        log.pairs[rank, 0] = left
        log.pairs[rank, 1] = right
        log.counts[rank] = index.counts[pair]
        pop(index)
        n_merged, log.saved[rank] = fuse(index, pair, new, rank, row, tokens, scratch)
        free_slots(index, pair)
        n_neighbours = count_new_pairs(n_merged, row, scratch)
        lower_broken_pairs(index, pair, new, n_neighbours, scratch)
        follow_new_pairs(index, new, n_neighbours, tokens, rule, scratch)
        add_new_slots(index, n_merged, tokens, scratch)
        _push_new_pairs(index, n_neighbours, rule, scratch)
        log.n_done[0] += 1
    return ENOUGH


@kernel
def list_ranks(row, tokens, never):
    """Replace each slot of the row by the rank of the merge that joined it, or by `never`.

    A slot is joined to the one before it.
    """
    for slot in range(np.uint64(row.ids.size)):
        row.ids[slot] = rank_at(row, tokens, slot, np.int32(never))
