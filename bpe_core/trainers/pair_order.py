"""The order in which pairs merge: the most frequent first, and which of two equally frequent ones.

This is what `reference.order_pairs` specifies, for pairs stored as keys (see `pair_table`) and
places in a row of slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush, heapreplace

import numpy as np
from numpy.typing import NDArray

from bpe_core.types import TieBreak

Entry = tuple[int, int, int]
"""The sort key of a pair: minus its count, its first slot (0 unless "first-seen"), its key."""


def goes_by_slot(tie_break: TieBreak) -> bool:
    """Return True if ties go to the pair that occurs first, rather than to the smallest ids."""
    return tie_break == "first-seen"


def order_pairs(counts: NDArray[np.int64], ties: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the indices that sort pairs, given their counts and the keys or slots that break ties.

    >>> order_pairs(np.array([1, 3, 3]), np.array([5, 9, 7])).tolist()
    [2, 1, 0]
    """
    return np.lexsort((ties, -counts))


class PairQueue:
    """The pairs, most frequent first, while merges change their counts.

    This is a heap whose entries are corrected only when they reach the top. This suffices, because
    a pair never moves up: all its occurrences appear with the merge that makes the newer of its two
    symbols; from then on its count only falls and its first occurrence only moves right.

    `count` returns a pair's count, 0 if it does not occur; `slots` where it starts, from left to
    right; `is_at` whether it still starts at a slot.

    >>> counts, slots = {8: 3, 7: 3}, {8: [0], 7: [4]}
    >>> for rule in "smallest-pair", "first-seen":
    ...     queue = PairQueue(rule, counts.__getitem__, slots.__getitem__, lambda key, slot: True)
    ...     queue.add(counts)
    ...     print(queue.top(2))
    [(-3, 0, 7), (-3, 0, 8)]
    [(-3, 0, 8), (-3, 4, 7)]
    """

    def __init__(
        self,
        tie_break: TieBreak,
        count: Callable[[int], int],
        slots: Callable[[int], Sequence[int] | NDArray[np.int64]],
        is_at: Callable[[int, int], bool],
    ) -> None:
        self._by_slot = goes_by_slot(tie_break)
        self._count = count
        self._slots = slots
        self._is_at = is_at
        self._passed: dict[int, int] = {}
        self._heap: list[Entry] = []

    def add(self, keys: Iterable[int]) -> None:
        """Add pairs that now occur, with all their slots."""
        for key in keys:
            self._passed.pop(key, None)
            heappush(self._heap, self.entry(key))

    def entry(self, key: int) -> Entry:
        """Return the current sort key of a pair."""
        count = self._count(key)
        return -count, self._first_slot(key) if self._by_slot and count else 0, key

    def best(self) -> Entry | None:
        """Return the entry of the pair to merge next, or None if no pairs are left."""
        heap = self._heap
        while heap:
            entry = heap[0]
            now = self.entry(entry[2])
            if now == entry:
                return entry
            if now[0]:
                heapreplace(heap, now)
            else:
                heappop(heap)
        return None

    def top(self, k: int) -> list[Entry]:
        """Return the entries of the k best pairs, best first."""
        taken: dict[Entry, None] = {}  # a pair that was added twice has two entries
        while len(taken) < k and self.best() is not None:
            taken[heappop(self._heap)] = None
        for entry in taken:
            heappush(self._heap, entry)
        return list(taken)

    def _first_slot(self, key: int) -> int:
        slots = self._slots(key)
        n = self._passed.get(key, 0)
        while not self._is_at(key, slots[n]):
            n += 1
        self._passed[key] = n
        return int(slots[n])
