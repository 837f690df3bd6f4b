"""The rivals for the next merge while a run is replayed: how often each pair occurs, which are the
most frequent, and which of them tie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import PairTable
from bpe_core.types import TieBreak

Integers = NDArray[np.int64]
_PAIRS_AT_A_TIME = 4096
_CLOSE_COUNTS = 256  # so far below, looking from count to count is quicker than through all
_FEW_COUNTS = 100  # fewer are told sooner one by one
_AFTER_ALL_PAIRS = np.iinfo(np.int64).max


class Counts:
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
        place = int(self.keys.searchsorted(key))
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

    def change(self, keys: Integers, by: Integers) -> Integers:
        """Add to the counts of pairs, each named once; gives the new counts."""
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
        self._tell(before, -1)
        self._tell(after, 1)
        return after

    def _tell(self, counts: Integers, sign: int) -> None:
        if len(counts) < _FEW_COUNTS:
            values, numbers = counts.tolist(), [1] * len(counts)
        else:
            values, numbers = (a.tolist() for a in np.unique(counts, return_counts=True))
        for value, number in zip(values, numbers, strict=True):
            self.n_with[value] += sign * number
            if not self.n_with[value]:
                del self.n_with[value]


Entry = tuple[int, int, int]
"""What a pair is ordered by: less its count, its first slot where the rule asks for it, its key."""


class Queue:
    """The pairs, most frequent first, ties broken by the rule: as `incremental.PairQueue` does.

    Entries are set right when they come to the top, since a count only falls once a pair is there.
    The pairs of the table, of which there may be hundreds of thousands, enter the heap a few
    thousand at a time, when the best of the others could be among the first.
    """

    def __init__(
        self, is_at: Callable[[int, int], bool], counts: Counts, table: PairTable, rule: TieBreak
    ) -> None:
        self._is_at = is_at
        self._counts = counts
        self._table = table
        self._first_seen = rule == "first-seen"
        self._heap: list[Entry] = []
        self._outside = np.arange(len(table.keys))
        self._most_outside = int(table.counts.max(initial=0))
        self._slots: dict[int, Integers] = {}
        """Where the pairs stand that came since, from left to right; used by `first-seen` alone."""
        self._passed: dict[int, int] = {}

    def add(self, keys: list[int], born: tuple[Integers, Integers]) -> None:
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
            heappush(self._heap, self.entry(key))

    def best(self, k: int) -> list[Entry]:
        """Find the entries of the k best pairs, in the order of the rule."""
        taken: dict[Entry, None] = {}
        while len(taken) < k and (best := self._best()) is not None:
            heappop(self._heap)
            taken[best] = None
        for entry in taken:
            heappush(self._heap, entry)
        return list(taken)

    def entry(self, key: int) -> Entry:
        """Tell what a pair is ordered by, as it stands now."""
        count = self._counts.of(key)
        return -count, self._first_slot(key) if self._first_seen and count else 0, key

    def _best(self) -> Entry | None:
        while True:
            if self._most_outside and (not self._heap or -self._heap[0][0] <= self._most_outside):
                self._let_in()
                continue
            if not self._heap:
                return None
            entry = self._heap[0]
            now = self.entry(entry[2])
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
            heappush(self._heap, self.entry(int(self._counts.keys[pair])))
        self._outside = self._outside[~enter]
        self._most_outside = int(counts[~enter].max(initial=0))

    def _first_slot(self, key: int) -> int:
        slots = self._slots.get(key)
        if slots is None:
            pair = int(np.searchsorted(self._table.keys, key))
            slots = self._table.slots[self._table.bounds[pair] : self._table.bounds[pair + 1]]
        n = self._passed.get(key, 0)
        while not self._is_at(key, slots[n]):
            n += 1
        self._passed[key] = n
        return int(slots[n])


class Ties:
    """Which pairs tie for the first place, and before which merges; a pair that stays is told once.

    All of them are looked for where the winner's count is another one than before; from then on
    only the pairs that a merge changed can come or go.
    """

    def __init__(self, counts: Counts, queue: Queue) -> None:
        self._counts = counts
        self._queue = queue
        self._count = -1
        self._since: dict[int, tuple[int, int]] = {}  # key -> its order, the first merge
        self._told: list[tuple[int, int, int, int]] = []  # order, key, from, until

    def before_merge(self, rank: int, count: int) -> None:
        """Look who ties before a merge, whose pair occurs `count` times."""
        n_tied = self._counts.n_with[count]
        if n_tied > 1 and count == self._count:
            return
        self._end_all(rank)
        if n_tied > 1:
            self._count = count
            for _, order, key in self._queue.best(n_tied):
                self._since[key] = order, rank

    def after_merge(
        self, rank: int, winner: int, keys: Integers, before: Integers, after: Integers
    ) -> None:
        """Take in what a merge changed: the counts of other pairs, `before` it and `after` it."""
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

    def told(self, stop: int) -> Integers:
        """int64[n, 3]: key, first merge, and the merge from which on it no longer ties.

        `stop` is the rank after the last merge. In the order of the rule.
        """
        self._end_all(stop)
        rows = [(key, since, until) for _, key, since, until in sorted(self._told)]
        return np.array(rows, np.int64).reshape(-1, 3)

    def _end_all(self, rank: int) -> None:
        for key in list(self._since):
            self._end(key, rank)
        self._count = -1

    def _end(self, key: int, rank: int) -> None:
        order, since = self._since.pop(key)
        if since < rank:
            self._told.append((order, key, since, rank))
