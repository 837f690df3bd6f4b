"""What training saw before each merge and what the merge changed, as arrays for the merge loop.

A run knows where each of its merges joined symbols. So nothing is searched for: each merge is
applied to all its places at once, as NumPy arrays, and only the windows beside them are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from bpe_core.layout import BITS, Layout, PairTable, order_of_pairs, pair_of, pair_table
from bpe_core.types import Merge, MergeTrace, TrainingConfig

_PAIRS_AT_A_TIME = 4096
_CLOSE_COUNTS = 256  # so far below, looking from count to count is quicker than through all
_AFTER_ALL_PAIRS = np.iinfo(np.int64).max
_Integers = NDArray[np.int64]


def trace_merges(
    layout: Layout,
    joined_at: NDArray[np.int32],
    tokens: Sequence[bytes],
    merges: Sequence[Merge],
    config: TrainingConfig,
    *,
    start: int,
    k: int,
    n_touched: int,
    n_changes: int,
) -> MergeTrace:
    """Trace consecutive merges of a run, from the row of symbols as it was before the first.

    `joined_at` is int32[n_slots], the rank of the merge that joins each symbol of that row to the
    one before it; `start` the rank of the first merge, `k` how many pairs of each step to keep,
    `n_touched` how many words, `n_changes` how many risen and how many fallen pairs.

    >>> from bpe_core.layout import NEVER, lay_out
    >>> joined_at = np.array([NEVER, NEVER, 0, NEVER, NEVER], np.int32)
    >>> trace = trace_merges(lay_out([[0, 0, 0]], [2]), joined_at, [b"a", b"aa"],
    ...     [Merge(0, 0, 0, 1, 4)], TrainingConfig(), start=0, k=2, n_touched=1, n_changes=1)
    >>> trace.top_count.tolist(), trace.n_overlapping.tolist(), trace.risen_by.tolist()
    ([[4, -1]], [2], [[2]])
    >>> trace.touched.tolist(), trace.touched_given.tolist()
    ([[0]], [[2]])
    """
    n = len(merges)
    row = _Row(layout, tokens, config.max_token_bytes)
    table = pair_table(layout, tokens, config.max_token_bytes)
    counts = _Counts(table)
    queue = _Queue(row, counts, table, first_seen=config.tie_break == "first-seen")
    separators = np.flatnonzero(layout.ids < 0)
    trace = _empty_trace(start, n, k, n_touched, n_changes)
    places = _places_by_merge(joined_at, start, n)
    for at, (merge, seconds) in enumerate(zip(merges, places, strict=True)):
        for column, key in enumerate(queue.top(k)):
            trace.top_left[at, column], trace.top_right[at, column] = pair_of(key)
            trace.top_count[at, column] = counts.of(key)
        winner = merge.left << BITS | merge.right
        count = counts.of(winner)
        trace.n_pairs[at] = counts.n_pairs
        trace.n_tied[at] = counts.n_with[count]
        trace.next_count[at] = counts.next_below(count)

        weights = layout.weights[seconds]
        trace.n_overlapping[at] = count - weights.sum()
        # The slots come in order, so the words do: among equals the one first seen stays first.
        words, given = np.unique(np.searchsorted(separators, seconds) - 1, return_counts=True)
        given *= layout.weights[separators[words] + 1]
        most = np.argsort(-given, kind="stable")[:n_touched]
        trace.n_words[at] = len(words)
        trace.touched[at, : len(most)] = words[most]
        trace.touched_given[at, : len(most)] = given[most]

        keys, changes, born = row.merge(winner, seconds, merge.id)
        counts.remove(winner)
        counts.change(keys, changes)
        queue.add(keys[changes > 0].tolist(), born)
        for sign, left, right, by in (
            (1, trace.risen_left, trace.risen_right, trace.risen_by),
            (-1, trace.fallen_left, trace.fallen_right, trace.fallen_by),
        ):
            moved = np.flatnonzero(sign * changes > 0)
            most = moved[np.argsort(-sign * changes[moved], kind="stable")[:n_changes]]
            left[at, : len(most)] = keys[most] >> BITS
            right[at, : len(most)] = keys[most] & ((1 << BITS) - 1)
            by[at, : len(most)] = sign * changes[most]
    return trace


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


def _places_by_merge(joined_at: NDArray[np.int32], start: int, n: int) -> Iterator[_Integers]:
    """The slots that each of the merges start ... start + n - 1 joins to the one before them."""
    slots = np.flatnonzero((joined_at >= start) & (joined_at < start + n))
    ranks = joined_at[slots] - start
    slots = slots[np.argsort(ranks, kind="stable")]
    sizes = np.bincount(ranks, minlength=n)
    ends = np.cumsum(sizes)
    return (slots[stop - size : stop] for stop, size in zip(ends, sizes, strict=True))


class _Row:
    """The symbols of all words while merges are applied; each knows its neighbours' slots."""

    def __init__(
        self, layout: Layout, tokens: Sequence[bytes], max_token_bytes: int | None
    ) -> None:
        n = len(layout.ids)
        self._ids = layout.ids.astype(np.int64)
        self._weights = layout.weights
        self._before = np.arange(-1, n - 1)
        self._after = np.arange(1, n + 1)
        self._marked = np.zeros(n, np.bool_)
        self._longest = max_token_bytes
        self._lengths = np.array([len(token) for token in tokens], np.int64)

    def is_at(self, key: int, slot: int) -> bool:
        """Say whether a pair (still) stands at a slot."""
        left, right = pair_of(key)
        return bool(self._ids[slot] == left and self._ids[self._after[slot]] == right)

    def merge(
        self, winner: int, seconds: _Integers, new_id: int
    ) -> tuple[_Integers, _Integers, tuple[_Integers, _Integers]]:
        """Join each of the slots to the one before it.

        Returns the keys of the other pairs beside them, ascending, by how much the count of each
        changed, and where pairs came to stand: their slots and keys.
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

    def _windows(self, slots: _Integers, befores: _Integers) -> tuple[_Integers, _Integers]:
        """The slots and keys of the pairs that start at the slots, or just before; each once."""
        self._marked[slots] = True
        starts = np.concatenate([slots, befores[~self._marked[befores]]])
        self._marked[slots] = False
        left, right = self._ids[starts], self._ids[self._after[starts]]
        fits = (left >= 0) & (right >= 0)
        if self._longest is not None:
            fits &= self._lengths[left] + self._lengths[right] <= self._longest
        return starts[fits], left[fits] << BITS | right[fits]


class _Counts:
    """How often each pair occurs: those of a table as arrays, those that came since as a dict."""

    def __init__(self, table: PairTable) -> None:
        self.keys = np.append(table.keys, _AFTER_ALL_PAIRS)
        self.counts = np.append(table.counts, 0)
        self._born: dict[int, int] = {}
        self.n_pairs = len(table.keys)
        self.n_with: Counter[int] = Counter()
        """How many pairs there are of each count."""
        self._tell(table.counts, 1)

    def of(self, key: int) -> int:
        """Give how often a pair occurs; 0 where it doesn't."""
        place = int(np.searchsorted(self.keys, key))
        return int(self.counts[place]) if self.keys[place] == key else self._born.get(key, 0)

    def next_below(self, count: int) -> int:
        """Give the highest count that is lower; 0 where there is none."""
        for close in range(count - 1, max(0, count - _CLOSE_COUNTS), -1):
            if close in self.n_with:
                return close
        return max((one for one in self.n_with if one < count), default=0)

    def remove(self, key: int) -> None:
        """Forget a pair: it has merged wherever it could."""
        self.change(np.array([key]), np.array([-self.of(key)]))

    def change(self, keys: _Integers, by: _Integers) -> None:
        """Add to the counts of pairs, each named once."""
        places = np.searchsorted(self.keys, keys)
        known = self.keys[places] == keys
        before = np.where(known, self.counts[places], 0)
        for at in np.flatnonzero(~known).tolist():
            key = int(keys[at])
            before[at] = self._born.get(key, 0)
            self._born[key] = int(before[at] + by[at])
        after = before + by
        self.counts[places[known]] = after[known]
        self.n_pairs += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        self._tell(before, -1)
        self._tell(after, 1)

    def _tell(self, counts: _Integers, sign: int) -> None:
        values, numbers = np.unique(counts, return_counts=True)
        for value, number in zip(values.tolist(), numbers.tolist(), strict=True):
            self.n_with[value] += sign * number
            if not self.n_with[value]:
                del self.n_with[value]


_Entry = tuple[int, int, int]


class _Queue:
    """The pairs, most frequent first, ties broken by the rule: as `incremental.PairQueue` does.

    Entries are set right when they come to the top, since a count only falls once a pair is there.
    The pairs of the table, of which there may be hundreds of thousands, enter the heap a few
    thousand at a time, when the best of the others could be among the first.
    """

    def __init__(self, row: _Row, counts: _Counts, table: PairTable, *, first_seen: bool) -> None:
        self._row = row
        self._counts = counts
        self._table = table
        self._first_seen = first_seen
        self._heap: list[_Entry] = []
        self._outside = np.arange(len(table.keys))
        self._most_outside = int(table.counts.max(initial=0))
        self._slots: dict[int, _Integers] = {}
        """Where the pairs stand that came since, from left to right; used by `first-seen` alone."""
        self._passed: dict[int, int] = {}

    def add(self, keys: list[int], born: tuple[_Integers, _Integers]) -> None:
        """Take in pairs that a merge has made, which stand where `born` says."""
        if self._first_seen:
            slots, stands = born
            order = np.lexsort((slots, stands))
            slots, stands = slots[order], stands[order]
            bounds = np.searchsorted(stands, keys), np.searchsorted(stands, keys, side="right")
            for key, begin, end in zip(keys, *map(np.ndarray.tolist, bounds), strict=True):
                known = self._slots.get(key)
                new = slots[begin:end]
                self._slots[key] = new if known is None else np.union1d(known, new)
                self._passed.pop(key, None)
        for key in keys:
            heappush(self._heap, self._entry(key))

    def top(self, k: int) -> list[int]:
        """Find the k best pairs, in the order of the rule."""
        taken: list[_Entry] = []
        while len(taken) < k and (best := self._best()) is not None:
            heappop(self._heap)
            if best not in taken:
                taken.append(best)
        for entry in taken:
            heappush(self._heap, entry)
        return [key for _, _, key in taken]

    def _best(self) -> _Entry | None:
        while True:
            if self._most_outside and (not self._heap or -self._heap[0][0] <= self._most_outside):
                self._let_in()
                continue
            if not self._heap:
                return None
            entry = self._heap[0]
            now = self._entry(entry[2])
            if now == entry:
                return entry
            if now[0] == 0:
                heappop(self._heap)
            else:
                heapreplace(self._heap, now)

    def _let_in(self) -> None:
        counts = self._counts.counts[self._outside]
        enough = max(0, len(counts) - _PAIRS_AT_A_TIME)
        least = np.partition(counts, enough)[enough]
        enter = counts >= least
        for pair in self._outside[enter & (counts > 0)].tolist():
            heappush(self._heap, self._entry(int(self._counts.keys[pair])))
        self._outside = self._outside[~enter]
        self._most_outside = int(counts[~enter].max(initial=0))

    def _entry(self, key: int) -> _Entry:
        count = self._counts.of(key)
        return -count, self._first_slot(key) if self._first_seen and count else 0, key

    def _first_slot(self, key: int) -> int:
        slots = self._slots.get(key)
        if slots is None:
            pair = int(np.searchsorted(self._table.keys, key))
            slots = self._table.slots[self._table.bounds[pair] : self._table.bounds[pair + 1]]
        n = self._passed.get(key, 0)
        while not self._row.is_at(key, slots[n]):
            n += 1
        self._passed[key] = n
        return int(slots[n])
