"""Rank the pairs while a run is replayed: their counts, the most frequent ones, and ties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bpe_core.trainers.pair_order import Entry, PairQueue
from bpe_core.trainers.pair_table import PairTable
from bpe_core.types import TieBreak

Integers = NDArray[np.int64]
_PAIRS_AT_A_TIME = 4096
_CLOSE_COUNTS = 256
"""The range within which trying one count after another is faster than searching all counts."""
_FEW_COUNTS = 100
"""Fewer counts than this are tallied faster one by one than with NumPy."""
_AFTER_ALL_PAIRS = np.iinfo(np.int64).max


class Counts:
    """The count of each pair: initial pairs in arrays, pairs made since then in a dict."""

    def __init__(self, table: PairTable) -> None:
        self.keys = np.append(table.keys, _AFTER_ALL_PAIRS)
        self.counts = np.append(table.counts, 0)
        self._born: dict[int, int] = {}
        self.n_pairs = len(table.keys)
        self.n_with: Counter[int] = Counter()
        """The number of pairs that have each count."""
        self._tally(table.counts, 1)

    def of(self, key: int) -> int:
        """Return the count of a pair, 0 if it doesn't occur."""
        place = int(self.keys.searchsorted(key))
        return int(self.counts[place]) if self.keys[place] == key else self._born.get(key, 0)

    def next_below(self, count: int) -> int:
        """Return the highest count below `count`, 0 if there is none."""
        for close in range(count - 1, max(0, count - _CLOSE_COUNTS), -1):
            if close in self.n_with:
                return close
        return max((one for one in self.n_with if one < count), default=0)

    def remove(self, key: int) -> None:
        """Set the count of a pair to 0, once it has been merged everywhere."""
        self.change(np.array([key]), np.array([-self.of(key)]))

    def change(self, keys: Integers, by: Integers) -> Integers:
        """Add `by` to the counts of distinct pairs; return their new counts."""
        places = self.keys.searchsorted(keys)
        known = self.keys[places] == keys
        before = np.where(known, self.counts[places], 0)
        for at in np.flatnonzero(~known).tolist():
            key = int(keys[at])
            before[at] = self._born.get(key, 0)
            self._born[key] = int(before[at] + by[at])
        after = before + by
        self.counts[places[known]] = after[known]
        self.n_pairs += int(np.count_nonzero(after)) - int(np.count_nonzero(before))
        self._tally(before, -1)
        self._tally(after, 1)
        return after

    def _tally(self, counts: Integers, sign: int) -> None:
        if len(counts) < _FEW_COUNTS:
            values, numbers = counts.tolist(), [1] * len(counts)
        else:
            values, numbers = (a.tolist() for a in np.unique(counts, return_counts=True))
        for value, number in zip(values, numbers, strict=True):
            self.n_with[value] += sign * number
            if not self.n_with[value]:
                del self.n_with[value]


class Queue(PairQueue):
    """The pairs, most frequent first, as in training.

    The initial pairs, which can number hundreds of thousands, enter the heap a few thousand at a
    time, when the best of those outside could be among the first.
    """

    def __init__(
        self, is_at: Callable[[int, int], bool], counts: Counts, table: PairTable, rule: TieBreak
    ) -> None:
        super().__init__(rule, counts.of, self._list_slots, is_at)
        self._counts = counts
        self._table = table
        self._outside = np.arange(len(table.keys))
        self._max_outside = int(table.counts.max(initial=0))
        self._born: dict[int, Integers] = {}
        """The slots of pairs made since the start, left to right; only used for "first-seen"."""

    def add_born(self, keys: list[int], born: tuple[Integers, Integers]) -> None:
        """Add the pairs that a merge has created; `born` holds their slots and keys."""
        if self._by_slot:
            slots, stands = born
            order = np.lexsort((slots, stands))
            slots, stands = slots[order], stands[order]
            bounds = np.searchsorted(stands, keys), np.searchsorted(stands, keys, side="right")
            for key, begin, end in zip(keys, *map(np.ndarray.tolist, bounds), strict=True):
                known = self._born.get(key)
                new = slots[begin:end]
                self._born[key] = new if known is None else np.union1d(known, new)
        self.add(keys)

    def best(self) -> Entry | None:
        """Return the entry of the pair to merge next, or None if no pairs are left."""
        best = super().best()
        while self._max_outside and (best is None or -best[0] <= self._max_outside):
            self._admit_more()
            best = super().best()
        return best

    def _admit_more(self) -> None:
        counts = self._counts.counts[self._outside]
        enough = max(0, len(counts) - _PAIRS_AT_A_TIME)
        least = np.partition(counts, enough)[enough]
        enter = counts >= least
        self.add(map(int, self._counts.keys[self._outside[enter & (counts > 0)]]))
        self._outside = self._outside[~enter]
        self._max_outside = int(counts[~enter].max(initial=0))

    def _list_slots(self, key: int) -> Integers:
        slots = self._born.get(key)
        if slots is None:
            pair = int(np.searchsorted(self._table.keys, key))
            slots = self._table.slots[self._table.bounds[pair] : self._table.bounds[pair + 1]]
        return slots


class Ties:
    """The pairs that tie for first place, each with the range of merges before which it ties.

    The ties are searched for whenever the winner's count changes; after that, only the pairs that a
    merge changed can join or leave them.
    """

    def __init__(self, counts: Counts, queue: Queue) -> None:
        self._counts = counts
        self._queue = queue
        self._count = -1
        self._since: dict[int, tuple[int, int]] = {}  # key -> first slot, first merge
        self._ended: list[tuple[int, int, int, int]] = []  # first slot, key, from, until

    def before_merge(self, rank: int, count: int) -> None:
        """Update the ties before a merge whose pair occurs `count` times."""
        n_tied = self._counts.n_with[count]
        if n_tied > 1 and count == self._count:
            return
        self._end_all(rank)
        if n_tied > 1:
            self._count = count
            for _, order, key in self._queue.top(n_tied):
                self._since[key] = order, rank

    def none_before(self, rank: int) -> None:
        """Note that a merge's pair was not chosen by its count, so nothing ties with it."""
        self._end_all(rank)

    def after_merge(
        self, rank: int, winner: int, keys: Integers, before: Integers, after: Integers
    ) -> None:
        """Update the ties after a merge: the counts of the other pairs `before` and `after` it."""
        if self._count < 0:
            return
        self._end(winner, rank + 1)
        for at in np.flatnonzero((before == self._count) | (after == self._count)).tolist():
            key = int(keys[at])
            order = self._queue.entry(key)[1] if after[at] == self._count else -1
            if key in self._since and self._since[key][0] != order:
                self._end(key, rank + 1)
            if order >= 0 and key not in self._since:
                self._since[key] = order, rank + 1

    def ended_at(self, stop: int) -> Integers:
        """End all ties; return int64[n, 3]: key, first merge, first merge without the tie.

        `stop` is the rank after the last merge. Rows are in tie-break order.
        """
        self._end_all(stop)
        rows = [(key, since, until) for _, key, since, until in sorted(self._ended)]
        return np.array(rows, np.int64).reshape(-1, 3)

    def _end_all(self, rank: int) -> None:
        for key in list(self._since):
            self._end(key, rank)
        self._count = -1

    def _end(self, key: int, rank: int) -> None:
        order, since = self._since.pop(key)
        if since < rank:
            self._ended.append((order, key, since, rank))
