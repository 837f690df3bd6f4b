"""The merge loop of PickyBPE, which takes tokens out again. The twin is `picky.PickyState`.

A removal gives pairs occurrences back, so their counts rise, and their slots no longer appear in
one go: the slots of a pair are a list that grows, in a `row.PairIndex` whose `places` hold a slot
and the next node's number, and whose `begins` and `ends` are the first and the last node, or -1.
Slots that a pair has lost are left out once its list is read. All pairs are tracked.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.hashing import EMPTY, find_pair, pair_ids, pair_key
from bpe_core.kernels.row import (
    ENTRIES,
    PAIRS,
    SLOTS,
    has_room,
    pop,
    push,
    replace_top,
)

ENOUGH, FULL, NO_PAIRS, RARE, SMALL, SPELLED = 0, 1, 2, 3, 4, 5
"""Reasons to return from `run_picky`: `until` merges done, vocabulary full, nothing to merge, the
best pair too rare, arrays to enlarge, and the best pair's id to give, as its hash is known."""

N_MERGES, N_REMOVALS, N_UNDONE, N_IDS, N_REMOVED, GIVEN = 0, 1, 2, 3, 4, 5
NEW_PAIRS, NEW_SLOTS, NEW_UNDONE = 6, 7, 8
"""Places in `PickyLog.used`. GIVEN is the id given for the best pair, or -1; the last three are how
much of the index and of `undone` the next merge may take."""

_FREED = -3  # as in `trainers.incremental`


class PickyRow(NamedTuple):
    """The words in one row, each symbol at the slot of its first base symbol."""

    symbols: NDArray[np.int32]
    """int32[n_slots]: an id, -3 - rank where that merge joined the slot, or another negative."""
    before: NDArray[np.int32]
    """int32[n_slots]: the slot of the symbol before it."""
    after: NDArray[np.int32]
    """int32[n_slots]"""
    weights: NDArray[np.int64]
    """int64[n_slots]: how often the word occurs."""
    since: NDArray[np.int32]
    """int32[n_slots]: the step from which on it is joined, if not that after its merge; or -1."""


class PickyTokens(NamedTuple):
    """What is known of each token, by id."""

    n_bytes: NDArray[np.int32]
    """int32[room]"""
    lefts: NDArray[np.int32]
    """int32[room]: the left part of the first merge that made it, or -1."""
    rights: NDArray[np.int32]
    """int32[room]"""
    ranks: NDArray[np.int32]
    """int32[room]: the rank of that merge."""
    uses: NDArray[np.int64]
    """int64[room]: how many tokens of the text it is."""
    is_removed: NDArray[np.uint8]
    """uint8[room]"""
    firsts: NDArray[np.int64]
    """int64[room]: the first node of the list of the slots where it was made, or -1."""
    lasts: NDArray[np.int64]
    """int64[room]"""
    hashes: NDArray[np.uint64]
    """uint64[room]: as in `merging.Spelled`."""
    factors: NDArray[np.uint64]
    """uint64[room]"""
    known: NDArray[np.uint64]
    """uint64[capacity], a power of two: the hashes of all tokens."""


class PickyLog(NamedTuple):
    """The merges and removals so far."""

    merges: NDArray[np.int32]
    """int32[3 * room]: left, right and new id of each."""
    counts: NDArray[np.int64]
    """int64[room]"""
    saved: NDArray[np.int64]
    """int64[room]: by how many tokens each merge shortened the corpus, removals included."""
    removals: NDArray[np.int32]
    """int32[2 * room]: the number of merges done, and the id."""
    undone: NDArray[np.int32]
    """int32[4 * room]: the joints that did not last, as `PickyState.undone` says."""
    used: NDArray[np.int64]
    """int64[9]: how much of these arrays and of the ids is in use."""
    share: NDArray[np.float64]
    """float64[1]: the share of its uses above which a token is removed."""


class PickyScratch(NamedTuple):
    """Buffers of one merge."""

    slots: NDArray[np.int32]
    """int32[n_slots]: the slots of a pair."""
    form: NDArray[np.int32]
    """int32[n_slots]: what the slots of a removed token hold."""
    stack: NDArray[np.int32]
    """int32[2 * n_slots + 2]: ids to spell, each with what its first slot holds."""
    touched: NDArray[np.int32]
    """int32[room]: the pairs whose counts changed; their number is in `n_touched`."""
    marks: NDArray[np.uint8]
    """uint8[room], by pair: whether it is among those, its slots grew, and they need sorting."""
    n_touched: NDArray[np.int64]
    """int64[1]"""


_TOUCHED, _GREW, _UNSORTED = np.uint8(1), np.uint8(2), np.uint8(4)


# -- lists of slots -----------------------------------------------------------------------------


@inlined
def _new_node(index, slot):
    """Return a new last node for a slot."""
    node = index.used[SLOTS]
    index.used[SLOTS] += 1
    index.places[2 * node] = slot
    index.places[2 * node + 1] = -1
    return node


@part
def _place(tokens, index, id, slot):
    """Note that a token stands at a slot."""
    node = _new_node(index, slot)
    if tokens.firsts[id] < 0:
        tokens.firsts[id] = node
    else:
        index.places[2 * tokens.lasts[id] + 1] = node
    tokens.lasts[id] = node


@part
def _sort(values, n):
    """Sort the first n values (Shell's sort): most are in order."""
    gap = np.int64(1)
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value = values[i]
            at = i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@part
def _standing(row, index, pair, scratch):
    """Reduce the list of a pair to the slots where it stands, in order; return their number."""
    left, right = pair_ids(index.keys[pair])
    n = np.int64(0)
    node = index.begins[pair]
    while node >= 0:
        slot = index.places[2 * node]
        if row.symbols[slot] == left and row.symbols[row.after[slot]] == right:
            scratch.slots[n] = slot
            n += 1
        node = np.int64(index.places[2 * node + 1])
    if scratch.marks[pair] & _UNSORTED:
        scratch.marks[pair] ^= _UNSORTED
        _sort(scratch.slots, n)
    node = index.begins[pair]
    last = np.int64(-1)
    kept = np.int64(0)
    for i in range(n):
        if i == 0 or scratch.slots[i] != scratch.slots[i - 1]:
            scratch.slots[kept] = scratch.slots[i]
            index.places[2 * node] = scratch.slots[i]
            kept += 1
            last = node
            node = np.int64(index.places[2 * node + 1])
    if last >= 0:
        index.places[2 * last + 1] = -1
    index.ends[pair] = last
    return kept


# -- counts -------------------------------------------------------------------------------------


@part
def _change(tokens, index, scratch, longest, left, right, weight):
    """Change the count of a pair; return its number, or -1 if it is too long to merge."""
    if tokens.n_bytes[left] + tokens.n_bytes[right] > longest:
        return np.int64(-1)
    key = pair_key(left, right)
    place = find_pair(index.table_keys, key)
    if index.table_keys[place] == EMPTY:
        pair = index.used[PAIRS]
        index.used[PAIRS] += 1
        index.table_keys[place] = key
        index.table_pairs[place] = np.int32(pair)
        index.keys[pair] = key
        index.counts[pair] = 0
        index.begins[pair] = -1
        index.ends[pair] = -1
        scratch.marks[pair] = 0
    pair = np.int64(index.table_pairs[place])
    index.counts[pair] += weight
    if not scratch.marks[pair] & _TOUCHED:
        scratch.marks[pair] |= _TOUCHED
        scratch.touched[scratch.n_touched[0]] = np.int32(pair)
        scratch.n_touched[0] += 1
    return pair


@part
def _gain(tokens, index, scratch, longest, left, right, weight, slot):
    """Count a pair that now stands at a slot."""
    pair = _change(tokens, index, scratch, longest, left, right, weight)
    if pair >= 0:
        node = _new_node(index, slot)
        last = index.ends[pair]
        if last < 0:
            index.begins[pair] = node
        else:
            index.places[2 * last + 1] = node
            if slot < index.places[2 * last]:
                scratch.marks[pair] |= _UNSORTED
        index.ends[pair] = node
        scratch.marks[pair] |= _GREW


@part
def _settle_counts(row, index, scratch, first_seen):
    """Enter the pairs that gained some in the heap; forget the slots of those that are gone."""
    for i in range(scratch.n_touched[0]):
        pair = np.int64(scratch.touched[i])
        grew = scratch.marks[pair] & _GREW
        scratch.marks[pair] &= _UNSORTED
        if index.counts[pair] <= 0:
            index.counts[pair] = 0
            index.begins[pair] = -1
            index.ends[pair] = -1
            scratch.marks[pair] = 0
        elif grew:
            if first_seen:
                _standing(row, index, pair, scratch)
            push(index, pair, first_seen)
    scratch.n_touched[0] = 0


@part
def _best(row, index, scratch, first_seen):
    """Return the number of the pair to merge next, left at the heap's top; -1 if none is left."""
    while index.used[ENTRIES] > 0:
        pair = np.int64(index.heap[0])
        count = index.counts[pair]
        if count <= 0:
            pop(index)
            continue
        tie = index.heap_ties[0]
        if first_seen:
            _standing(row, index, pair, scratch)
            tie = np.uint64(index.places[2 * index.begins[pair]])
        if count == index.heap_counts[0] and tie == index.heap_ties[0]:
            return pair
        replace_top(index, np.int32(pair), count, tie)
    return np.int64(-1)


# -- one merge, and what follows it -------------------------------------------------------------


@part
def _merge(row, tokens, index, scratch, longest, pair, new, rank):
    """Join every occurrence of a pair, from left to right; return the sum of their counts."""
    left, right = pair_ids(index.keys[pair])
    n = _standing(row, index, pair, scratch)
    joined = np.int64(0)
    for i in range(n):
        slot = scratch.slots[i]
        second = row.after[slot]
        if row.symbols[slot] != left or row.symbols[second] != right:
            continue  # it overlaps the one before
        weight = row.weights[slot]
        previous = row.before[slot]
        following = row.after[second]
        other = np.int64(row.symbols[previous])
        if other >= 0:
            _change(tokens, index, scratch, longest, other, left, -weight)
            _gain(tokens, index, scratch, longest, other, new, weight, previous)
        other = np.int64(row.symbols[following])
        if other >= 0:
            _change(tokens, index, scratch, longest, right, other, -weight)
            _gain(tokens, index, scratch, longest, new, other, weight, slot)
        row.symbols[slot] = np.int32(new)
        row.symbols[second] = np.int32(_FREED - rank)
        row.after[slot] = following
        row.before[following] = slot
        _place(tokens, index, new, slot)
        joined += weight
    index.counts[pair] = 0
    return joined


@part
def _spell(tokens, id, scratch):
    """Write what the slots of a removed token hold once it is spelled; return their number.

    Its parts are the tokens of its first merge, or theirs if they were removed too.
    """
    n = np.int64(0)
    size = np.int64(1)
    scratch.stack[0] = np.int32(id)
    scratch.stack[1] = -1
    while size > 0:
        size -= 1
        top = scratch.stack[2 * size]
        holds = scratch.stack[2 * size + 1]
        is_part = holds == -1 and not tokens.is_removed[top]
        if is_part:
            holds = top
        if tokens.lefts[top] < 0:
            scratch.form[n] = holds
            n += 1
            continue
        of_right = np.int32(_FREED - tokens.ranks[top]) if holds != -1 else np.int32(-1)
        scratch.stack[2 * size] = tokens.rights[top]
        scratch.stack[2 * size + 1] = of_right
        scratch.stack[2 * size + 2] = tokens.lefts[top]
        scratch.stack[2 * size + 3] = holds
        size += 2
    return n


@part
def _undo(row, log, slot, symbol):
    """Note that the joint of a slot is undone, and whether it is joined otherwise now."""
    rank = _FREED - np.int64(row.symbols[slot])
    since = np.int64(row.since[slot]) if row.since[slot] >= 0 else rank + 1
    row.since[slot] = -1
    n_merges = log.used[N_MERGES]
    if since < n_merges:  # or it was made by another removal after the same merge
        at = 4 * log.used[N_UNDONE]
        log.undone[at] = slot
        log.undone[at + 1] = np.int32(rank)
        log.undone[at + 2] = np.int32(since)
        log.undone[at + 3] = np.int32(n_merges - 1)
        log.used[N_UNDONE] += 1
    if symbol < 0:
        row.since[slot] = np.int32(n_merges)


@part
def _remove(row, tokens, index, log, scratch, longest, id):
    """Split what is left of a token into its parts; return by how many tokens the text grows."""
    tokens.is_removed[id] = 1
    log.used[N_REMOVED] += 1
    log.removals[2 * log.used[N_REMOVALS]] = np.int32(log.used[N_MERGES])
    log.removals[2 * log.used[N_REMOVALS] + 1] = np.int32(id)
    log.used[N_REMOVALS] += 1
    n_form = _spell(tokens, id, scratch)
    node = tokens.firsts[id]
    tokens.firsts[id] = -1
    while node >= 0:
        slot = index.places[2 * node]
        node = np.int64(index.places[2 * node + 1])
        if row.symbols[slot] != id:
            continue
        weight = row.weights[slot]
        previous = row.before[slot]
        following = row.after[slot]
        if row.symbols[previous] >= 0:
            other = np.int64(row.symbols[previous])
            _change(tokens, index, scratch, longest, other, id, -weight)
        if row.symbols[following] >= 0:
            other = np.int64(row.symbols[following])
            _change(tokens, index, scratch, longest, id, other, -weight)
        for i in range(n_form):
            at = np.int32(slot + i)
            if i > 0 and row.symbols[at] != scratch.form[i]:
                _undo(row, log, at, scratch.form[i])
            row.symbols[at] = scratch.form[i]
        last = previous
        for i in range(n_form + 1):
            at = np.int32(slot + i) if i < n_form else following
            if i < n_form:
                if scratch.form[i] < 0:
                    continue
                if tokens.lefts[scratch.form[i]] >= 0:
                    _place(tokens, index, np.int64(scratch.form[i]), at)
            row.after[last] = at
            row.before[at] = last
            if row.symbols[last] >= 0 and row.symbols[at] >= 0:
                one, other = np.int64(row.symbols[last]), np.int64(row.symbols[at])
                _gain(tokens, index, scratch, longest, one, other, weight, last)
            last = at
    n_left = tokens.uses[id]
    tokens.uses[id] = 0
    grown = -n_left
    for i in range(n_form):
        if scratch.form[i] >= 0:
            tokens.uses[scratch.form[i]] += n_left
            grown += n_left
    return grown


@part
def _fits(row, tokens, index, log, scratch, pair, left, right):
    """Return True if the arrays have room for a merge and two removals."""
    n_slots = row.symbols.size
    joined = min(index.counts[pair], n_slots)
    n_split = np.int64(0)
    for id in (left, right):
        if tokens.lefts[id] >= 0:
            n_split += min(tokens.uses[id] * tokens.n_bytes[id], n_slots)
    # The parts of the left token may be the right one, which is removed next.
    n_split *= 2
    most = 8 * (log.used[N_IDS] + 1) + 2 * (tokens.n_bytes[left] + tokens.n_bytes[right])
    # A pair is pushed once after the merge, and once after each removal.
    log.used[NEW_PAIRS] = 3 * min(2 * joined + 2 * n_split, most)
    log.used[NEW_SLOTS] = 3 * joined + 3 * n_split
    log.used[NEW_UNDONE] = n_split
    return (
        has_room(index, log.used[NEW_PAIRS], log.used[NEW_SLOTS])
        and index.keys.size <= scratch.touched.size
        and log.used[N_IDS] < tokens.uses.size
        and log.used[N_MERGES] < log.counts.size
        and 2 * (log.used[N_REMOVALS] + 2) <= log.removals.size
        and 4 * (log.used[N_UNDONE] + n_split) <= log.undone.size
    )


@kernel
def run_picky(row, tokens, index, log, scratch, first_seen, longest, least, vocab_size, until):
    """Learn merges and removals until there are `until` merges, or until the caller must act.

    longest: the most bytes of a token. least: the smallest count to merge. Return one of the
    reasons above; after SMALL, all arrays must be enlarged, and after SPELLED, the id of the best
    pair written to GIVEN.
    """
    while log.used[N_MERGES] < until:
        if log.used[N_IDS] - log.used[N_REMOVED] >= vocab_size:
            return FULL
        pair = _best(row, index, scratch, first_seen)
        if pair < 0:
            return NO_PAIRS
        count = index.counts[pair]
        if count < least:
            return RARE
        left, right = pair_ids(index.keys[pair])
        if not _fits(row, tokens, index, log, scratch, pair, left, right):
            return SMALL
        joined = tokens.hashes[left] * tokens.factors[right] + tokens.hashes[right]
        place = find_pair(tokens.known, joined)
        new = log.used[N_IDS]
        if tokens.known[place] == joined:
            new = log.used[GIVEN]
            if new < 0:
                return SPELLED
            log.used[GIVEN] = -1
        if new == log.used[N_IDS]:
            log.used[N_IDS] += 1
            tokens.known[place] = joined
            tokens.hashes[new] = joined
            tokens.factors[new] = tokens.factors[left] * tokens.factors[right]
            tokens.n_bytes[new] = tokens.n_bytes[left] + tokens.n_bytes[right]
            tokens.lefts[new] = -1
            tokens.firsts[new] = -1
            tokens.uses[new] = 0
            tokens.is_removed[new] = 0
        rank = log.used[N_MERGES]
        if tokens.lefts[new] < 0:
            tokens.lefts[new] = np.int32(left)
            tokens.rights[new] = np.int32(right)
            tokens.ranks[new] = np.int32(rank)
        log.used[N_REMOVED] -= np.int64(tokens.is_removed[new])
        tokens.is_removed[new] = 0
        log.merges[3 * rank] = np.int32(left)
        log.merges[3 * rank + 1] = np.int32(right)
        log.merges[3 * rank + 2] = np.int32(new)
        log.counts[rank] = count
        pop(index)
        n_joined = _merge(row, tokens, index, scratch, longest, pair, new, rank)
        log.used[N_MERGES] += 1
        tokens.uses[left] -= n_joined
        tokens.uses[right] -= n_joined
        tokens.uses[new] += n_joined
        _settle_counts(row, index, scratch, first_seen)
        log.saved[rank] = n_joined
        for side in range(2 if left != right else 1):
            id = right if side else left
            if tokens.lefts[id] >= 0 and n_joined / (n_joined + tokens.uses[id]) > log.share[0]:
                log.saved[rank] -= _remove(row, tokens, index, log, scratch, longest, id)
                _settle_counts(row, index, scratch, first_seen)
    return ENOUGH
