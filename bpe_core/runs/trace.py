"""Trace what training saw before each merge and what the merge changed, as arrays.

A run records where each merge joined symbols, so nothing has to be searched for: each merge is
applied to all its places at once with NumPy, and only the pairs next to them are recounted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import Layout
from bpe_core.runs.pair_ranking import Counts, Integers, Queue, Ties
from bpe_core.trainers.forbidden_pairs import ForbiddenPairs
from bpe_core.trainers.pair_table import BITS, order_of_pairs, pair_table, unpack_pair
from bpe_core.types import Merge, MergeTrace, TrainingConfig

_RIGHT = (1 << BITS) - 1


def trace_merges(
    layout: Layout,
    joined_at: NDArray[np.int32],
    tokens: Sequence[bytes],
    merges: Sequence[Merge],
    config: TrainingConfig,
    forbidden: ForbiddenPairs | None = None,
    *,
    start: int,
    k: int,
    n_touched: int,
    n_changes: int,
    n_for_terms: int = 0,
) -> MergeTrace:
    """Trace consecutive merges of a run, given the row of symbols before the first of them.

    `joined_at` is int32[n_slots], the rank of the merge that joins each symbol of that row to the
    one before it; `start` is the rank of the first merge. For each step, keep at most `k` pairs,
    `n_touched` words, and `n_changes` each of the pairs that rose and fell. The pairs of the first
    `n_for_terms` merges of the run did not win by their counts.

    >>> from bpe_core.counting.word_row import NEVER, lay_out
    >>> joined_at = np.array([NEVER, NEVER, 0, NEVER, NEVER], np.int32)
    >>> trace = trace_merges(lay_out([[0, 0, 0]], [2]), joined_at, [b"a", b"aa"],
    ...     [Merge(0, 0, 0, 1, 4)], TrainingConfig(), start=0, k=2, n_touched=1, n_changes=1)
    >>> trace.top_count.tolist(), trace.n_overlapping.tolist(), trace.risen_by.tolist()
    ([[4, -1]], [2], [[2]])
    >>> trace.touched.tolist(), trace.touched_given.tolist()
    ([[0]], [[2]])
    """
    n = len(merges)
    row = _Row(layout, tokens, config.max_token_bytes, forbidden)
    table = pair_table(layout, tokens, config.max_token_bytes, forbidden)
    counts = Counts(table)
    queue = Queue(row.is_at, counts, table, config.tie_break)
    ties = Ties(counts, queue)
    separators = layout.gaps()
    weights_of = layout.weights()
    trace = _empty_trace(start, n, k, n_touched, n_changes)
    places = _places_by_merge(joined_at, start, n)
    for at, (merge, seconds) in enumerate(zip(merges, places, strict=True)):
        winner = merge.left << BITS | merge.right
        count = counts.of(winner)
        is_for_term = merge.rank < n_for_terms
        best = queue.top(k)
        if is_for_term:
            others = [entry for entry in best if entry[2] != winner]
            best = [queue.entry(winner), *others][:k]
        for column, (less, _, key) in enumerate(best):
            trace.top_left[at, column], trace.top_right[at, column] = unpack_pair(key)
            trace.top_count[at, column] = -less
        trace.n_pairs[at] = counts.n_pairs
        trace.n_tied[at] = 1 if is_for_term else counts.n_with[count]
        trace.next_count[at] = counts.next_below(count)
        if is_for_term:
            ties.none_before(merge.rank)
        else:
            ties.before_merge(merge.rank, count)

        weights = weights_of[seconds]
        trace.n_overlapping[at] = count - weights.sum()
        # Slots, and therefore words, are in order, so of equal words the first seen stays first.
        words, given = np.unique(np.searchsorted(separators, seconds) - 1, return_counts=True)
        given *= weights_of[separators[words] + 1]
        most = np.argsort(-given, kind="stable")[:n_touched]
        trace.n_words[at] = len(words)
        trace.touched[at, : len(most)] = words[most]
        trace.touched_given[at, : len(most)] = given[most]

        keys, changes, born = row.merge(winner, seconds, merge.id)
        counts.remove(winner)
        after = counts.change(keys, changes)
        queue.add_born(keys[changes > 0].tolist(), born)
        ties.after_merge(merge.rank, winner, keys, after - changes, after)
        for sign, left, right, by in (
            (1, trace.risen_left, trace.risen_right, trace.risen_by),
            (-1, trace.fallen_left, trace.fallen_right, trace.fallen_by),
        ):
            moved = np.flatnonzero(sign * changes > 0)
            most = moved[np.argsort(-sign * changes[moved], kind="stable")[:n_changes]]
            left[at, : len(most)] = keys[most] >> BITS
            right[at, : len(most)] = keys[most] & _RIGHT
            by[at, : len(most)] = sign * changes[most]
    tied, tied_from, tied_until = ties.ended_at(start + n).T
    return replace(
        trace,
        tied_left=(tied >> BITS).astype(np.int32),
        tied_right=(tied & _RIGHT).astype(np.int32),
        tied_from=tied_from.astype(np.int32),
        tied_until=tied_until.astype(np.int32),
    )


def _empty_trace(start: int, n: int, k: int, n_touched: int, n_changes: int) -> MergeTrace:
    return MergeTrace(
        start=start,
        stop=start + n,
        top_left=np.full((n, k), -1, np.int32),
        top_right=np.full((n, k), -1, np.int32),
        top_count=np.full((n, k), -1, np.int64),
        n_pairs=np.zeros(n, np.int64),
        n_tied=np.zeros(n, np.int64),
        next_count=np.zeros(n, np.int64),
        tied_left=np.zeros(0, np.int32),
        tied_right=np.zeros(0, np.int32),
        tied_from=np.zeros(0, np.int32),
        tied_until=np.zeros(0, np.int32),
        n_overlapping=np.zeros(n, np.int64),
        n_words=np.zeros(n, np.int64),
        touched=np.full((n, n_touched), -1, np.int32),
        touched_given=np.full((n, n_touched), -1, np.int64),
        risen_left=np.full((n, n_changes), -1, np.int32),
        risen_right=np.full((n, n_changes), -1, np.int32),
        risen_by=np.full((n, n_changes), -1, np.int64),
        fallen_left=np.full((n, n_changes), -1, np.int32),
        fallen_right=np.full((n, n_changes), -1, np.int32),
        fallen_by=np.full((n, n_changes), -1, np.int64),
    )


def _places_by_merge(joined_at: NDArray[np.int32], start: int, n: int) -> Iterator[Integers]:
    """Yield, for each of the merges start ... start + n - 1, the slots that it joins leftwards."""
    slots = np.flatnonzero((joined_at >= start) & (joined_at < start + n))
    ranks = joined_at[slots] - start
    slots = slots[np.argsort(ranks, kind="stable")]
    sizes = np.bincount(ranks, minlength=n)
    ends = np.cumsum(sizes)
    return (slots[stop - size : stop] for stop, size in zip(ends, sizes, strict=True))


class _Row:
    """The symbols of all words while merges are applied, linked to their neighbours' slots."""

    def __init__(
        self,
        layout: Layout,
        tokens: Sequence[bytes],
        max_token_bytes: int | None,
        forbidden: ForbiddenPairs | None,
    ) -> None:
        n = len(layout.ids)
        self._ids = layout.ids.astype(np.int64)
        self._weights = layout.weights()
        self._before = np.arange(-1, n - 1)
        self._after = np.arange(1, n + 1)
        self._marked = np.zeros(n, np.bool_)
        self._longest = max_token_bytes
        self._forbidden = forbidden
        self._lengths = np.array([len(token) for token in tokens], np.int64)

    def is_at(self, key: int, slot: int) -> bool:
        """Return True if a pair (still) starts at a slot."""
        left, right = unpack_pair(key)
        return bool(self._ids[slot] == left and self._ids[self._after[slot]] == right)

    def merge(
        self, winner: int, seconds: Integers, new_id: int
    ) -> tuple[Integers, Integers, tuple[Integers, Integers]]:
        """Join each of the slots to the one before it.

        Returns the keys of the other pairs that changed, ascending; the change of each one's
        count; and the slots and keys of the pairs created.
        """
        firsts = self._before[seconds]
        lost, lost_keys = self._windows(seconds, self._before[firsts])
        others = lost_keys != winner
        lost, lost_keys = lost[others], lost_keys[others]
        following = self._after[seconds]
        self._ids[firsts] = new_id
        self._ids[seconds] = -1
        self._after[firsts] = following
        self._before[following] = firsts
        made, made_keys = self._windows(firsts, self._before[firsts])

        keys = np.concatenate([lost_keys, made_keys])
        by = np.concatenate([-self._weights[lost], self._weights[made]])
        order = order_of_pairs(keys)
        keys, by = keys[order], by[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        changes = np.add.reduceat(by, starts) if len(starts) else by
        return keys[starts], changes, (made, made_keys)

    def _windows(self, slots: Integers, befores: Integers) -> tuple[Integers, Integers]:
        """Return the slots and keys of pairs that start at or just before `slots`, once each."""
        self._marked[slots] = True
        starts = np.concatenate([slots, befores[~self._marked[befores]]])
        self._marked[slots] = False
        left, right = self._ids[starts], self._ids[self._after[starts]]
        fits = (left >= 0) & (right >= 0)
        if self._longest is not None:
            fits[fits] = self._lengths[left[fits]] + self._lengths[right[fits]] <= self._longest
        if self._forbidden is not None:
            fits[fits] = ~self._forbidden.mask(left[fits], right[fits])
        return starts[fits], left[fits] << BITS | right[fits]
