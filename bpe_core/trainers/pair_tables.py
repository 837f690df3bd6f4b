"""Count every pair of neighbours in a row of symbols, and note where each occurs.

A `PairQueue` has the most frequent pair first; `order_pairs` and the ties between equally frequent
ones are what `reference.order_pairs` specifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import Layout
from bpe_core.trainers.continued import AllowedPairs
from bpe_core.types import Pair, TieBreak

BITS = 32
"""Fast code stores a pair as one int, `left << BITS | right`, which sorts as the pair does."""
RIGHT = (1 << BITS) - 1
"""The bits of a pair's right id."""
_FEW_CODES = 4096  # below this, packing takes longer than it saves


Entry = tuple[int, int, int]
"""The sort key of a pair: minus its count, its first slot (0 unless "first-seen"), its key."""


class _CountedPair(NamedTuple):
    left: int
    right: int
    # Hides tuple.count, which is of no use for three numbers.
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


class PairCount(_CountedPair):
    """A pair of ids and its count, as a tuple of three, which also records ties.

    It equals any tuple of the same three numbers, tied or not.

    >>> pair = PairCount(108, 97, 1379, tied=True)
    >>> left, right, count = pair
    >>> count, pair == (108, 97, 1379)
    (1379, True)
    >>> pair
    PairCount(left=108, right=97, count=1379, tied=True)
    """

    _tied: bool = False

    def __new__(cls, left: int, right: int, count: int, *, tied: bool = False) -> PairCount:
        """Make a pair with its count."""
        pair = super().__new__(cls, left, right, count)
        pair._tied = tied
        return pair

    @property
    def tied(self) -> bool:
        """True for each pair, the winner included, that shares the highest count with another.

        >>> PairCount(108, 97, 1379).tied
        False
        """
        return self._tied

    def __repr__(self) -> str:
        return (
            f"PairCount(left={self.left}, right={self.right}, count={self.count}, tied={self.tied})"
        )


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


def unpack_pair(key: int) -> Pair:
    """Return the two ids of a pair's key.

    >>> unpack_pair(7 << 32 | 8)
    (7, 8)
    """
    return key >> BITS, key & RIGHT


@dataclass(frozen=True, slots=True)
class PairTable:
    """Every pair of neighbours in a row, with its count and its places."""

    keys: NDArray[np.int64]
    """int64[n_pairs], ascending."""
    counts: NDArray[np.int64]
    """int64[n_pairs]"""
    slots: NDArray[np.int64]
    """int64[n_windows]: where the pairs start, grouped by pair, from left to right."""
    bounds: NDArray[np.int64]
    """int64[n_pairs + 1]: pair n has slots[bounds[n] : bounds[n + 1]]."""

    @property
    def first_slots(self) -> NDArray[np.int64]:
        """int64[n_pairs]: the first slot of each pair."""
        return self.slots[self.bounds[:-1]]

    def only(self, allowed: AllowedPairs) -> PairTable:
        """Return the table of the pairs that may merge."""
        fits = allowed.mask(self.keys >> BITS, self.keys & RIGHT)
        if fits.all():
            return self
        sizes = np.diff(self.bounds)
        bounds = np.append(0, np.cumsum(sizes[fits]))
        slots = self.slots[np.repeat(fits, sizes)]
        return PairTable(self.keys[fits], self.counts[fits], slots, bounds)

    def to_dict(self) -> dict[Pair, int]:
        """Return each pair's count, in the order of their first places in the row.

        >>> from bpe_core.corpus import Layout
        >>> pair_table(Layout.of_words([[8, 8, 7]], [2])).to_dict()
        {(8, 8): 2, (8, 7): 2}
        """
        order = np.argsort(self.first_slots)
        pairs = map(unpack_pair, self.keys[order].tolist())
        return dict(zip(pairs, self.counts[order].tolist(), strict=True))

    def top(self, k: int, tie_break: TieBreak) -> list[PairCount]:
        """Return the k most frequent pairs by the tie rule; mark those that tie for first place.

        >>> from bpe_core.corpus import Layout
        >>> table = pair_table(Layout.of_words([[8, 8, 7], [8, 7], [7, 7, 7]], [2, 1, 1]))
        >>> [tuple(pair) for pair in table.top(2, "smallest-pair")]
        [(8, 7, 3), (7, 7, 2)]
        """
        ties = self.first_slots if goes_by_slot(tie_break) else self.keys
        order = order_pairs(self.counts, ties)[:k]
        most = int(self.counts.max(initial=0))
        is_tie = int(np.count_nonzero(self.counts == most)) > 1
        keys, counts = self.keys[order].tolist(), self.counts[order].tolist()
        return [
            PairCount(*unpack_pair(key), count, tied=is_tie and count == most)
            for key, count in zip(keys, counts, strict=True)
        ]


def pair_table(layout: Layout, allowed: AllowedPairs | None = None) -> PairTable:
    """Count all pairs that may merge, overlapping ones too (`aaa` has two).

    >>> from bpe_core.corpus import Layout
    >>> table = pair_table(Layout.of_words([[7, 7, 7], [0, 7]], [2, 5]))
    >>> [unpack_pair(key) for key in table.keys.tolist()], table.counts.tolist()
    ([(0, 7), (7, 7)], [5, 4])
    """
    left, right = layout.ids[:-1], layout.ids[1:]
    slots = np.flatnonzero((left >= 0) & (right >= 0))
    keys = left[slots].astype(np.int64) << BITS | right[slots]
    order = sort_keys(keys)
    keys, slots = keys[order], slots[order]
    starts, counts = sum_runs(keys, layout.weights()[slots])
    table = PairTable(keys[starts], counts, slots, np.append(starts, len(slots)))
    return table if allowed is None else table.only(allowed)


def sum_runs(
    keys: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each run of equal keys starts, and the sum of its values; keys are ascending.

    >>> starts, sums = sum_runs(np.array([3, 5, 5]), np.array([2, 1, 3]))
    >>> starts.tolist(), sums.tolist()
    ([0, 1], [2, 4])
    """
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    # bincount would sum in float64, which is exact only up to 2**53.
    return starts, np.add.reduceat(values, starts) if len(starts) else values


def sort_keys(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices that sort the keys of pairs, keeping the order of equal ones.

    >>> sort_keys(np.array([7 << 32 | 8, 7 << 32 | 2, 7 << 32 | 8])).tolist()
    [1, 0, 2]
    """
    if len(keys) < _FEW_CODES:
        return np.argsort(keys, kind="stable")
    left, right = keys >> BITS, keys & RIGHT
    # Without the gap between the two ids, more bits are left for the indices.
    return argsort_stable(left << int(right.max()).bit_length() | right)


def argsort_stable(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the indices that sort codes of at least 0, keeping the order of equal ones.

    If they fit, codes and indices are packed into one int and sorted together: 0.2 s for five
    million pairs, where `argsort` takes 1.0 s.

    >>> argsort_stable(np.array([5, 3, 5, 3])).tolist()
    [1, 3, 0, 2]
    """
    n = len(codes)
    bits = n.bit_length()
    if n < _FEW_CODES or int(codes.max()).bit_length() + bits >= 63:
        return np.argsort(codes, kind="stable")
    packed = codes << bits | np.arange(n)
    packed.sort()
    return packed & ((1 << bits) - 1)


def goes_by_slot(tie_break: TieBreak) -> bool:
    """Return True if ties go to the pair that occurs first, rather than to the smallest ids."""
    return tie_break == "first-seen"


def order_pairs(counts: NDArray[np.int64], ties: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the indices that sort pairs, given their counts and the keys or slots that break ties.

    >>> order_pairs(np.array([1, 3, 3]), np.array([5, 9, 7])).tolist()
    [2, 1, 0]
    """
    return np.lexsort((ties, -counts))
