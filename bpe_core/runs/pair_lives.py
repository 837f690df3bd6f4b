"""The history of each pair during training: its count, and its rank among all pairs, at each step.

The changes of all counts, found by `pair_changes`, are stored as pieces: a range of steps during
which a pair's count stays the same. A pair's counts are its own pieces. Its rank at a step is 1 +
the number of pieces with a higher count at that step; for a whole life, they are counted in one
pass over all pieces (`PairLives._n_pairs_with`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import OutOfRangeError
from bpe_core.runs.pair_changes import count_changes
from bpe_core.runs.run import TrainingRun
from bpe_core.types import Pair, read_only


@dataclass(frozen=True, slots=True)
class PairLife:
    """A pair's count and rank after each number of merges; the arrays are read-only."""

    counts: NDArray[np.int64]
    """int64[n_merges + 1]: how often the pair occurs."""
    ranks: NDArray[np.int64]
    """int64[n_merges + 1]: 1 + the number of pairs that occur more often, so ties share a rank; 0
    where the pair does not occur."""
    n_tied: NDArray[np.int64]
    """int64[n_merges + 1]: how many other pairs have the same count; 0 where it does not occur."""

    @property
    def span(self) -> tuple[int, int] | None:
        """The first and last number of merges after which the pair occurs; None if it never does.

        >>> zeros = np.zeros(3, np.int64)
        >>> PairLife(np.array([0, 5, 4]), np.array([0, 1, 2]), zeros).span
        (1, 2)
        """
        there = np.flatnonzero(self.counts)
        return (int(there[0]), int(there[-1])) if len(there) else None

    @property
    def rank_swing(self) -> float:
        """How far the rank both rises and falls, in doublings; 0 if it only does one of them.

        The doublings of all rises are added up, and those of all falls; the smaller sum counts.

        >>> zeros = np.zeros(5, np.int64)
        >>> PairLife(np.array([9, 9, 4, 4, 0]), np.array([4, 2, 16, 8, 0]), zeros).rank_swing
        2.0
        """
        if self.span is None:
            return 0.0
        first, last = self.span
        # A rank of 0, in a gap of the life, is neither a rise nor a fall.
        doublings = np.diff(np.log2(np.maximum(self.ranks[first : last + 1], 1)))
        is_there = self.ranks[first : last + 1] > 0
        doublings = doublings[is_there[1:] & is_there[:-1]]
        falls, rises = doublings[doublings > 0].sum(), -doublings[doublings < 0].sum()
        return float(min(rises, falls))


class PairLives:
    """Every count of every pair over a whole run, indexed once so that each life is found quickly.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> config = TrainingConfig(6, base="characters", alphabet="seen", special_tokens=())
    >>> run = train(Corpus.from_word_counts({"hug": 10, "ugg": 5}), config)
    >>> run.pair_counts(0)
    {(1, 2): 10, (2, 0): 15, (0, 0): 5}
    >>> life = PairLives(run).find((1, 2))
    >>> life.counts.tolist(), life.ranks.tolist()
    ([10, 0, 0, 0], [2, 0, 0, 0])
    >>> PairLives(run).count_steps((1, 2))
    1
    """

    def __init__(self, run: TrainingRun) -> None:
        self._n_steps = n_steps = len(run.merges) + 1
        self._n_ids = run.n_ids
        codes, changes = count_changes(run)
        pairs, steps = np.divmod(codes, n_steps)
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))
        bounds = np.append(starts, len(pairs))
        # A count is the sum of the pair's changes so far, and stays until its next change.
        sums = np.cumsum(changes)
        counts = sums - np.repeat((sums - changes)[starts], np.diff(bounds))
        stops = np.append(steps[1:], n_steps)
        stops[bounds[1:] - 1] = n_steps
        self._pairs = pairs[starts]
        self._bounds = bounds
        self._starts = steps.astype(np.int32)
        self._stops = stops.astype(np.int32)
        self._counts = counts
        self._levels, self._level_of = np.unique(counts, return_inverse=True)

    def find(self, pair: Pair) -> PairLife:
        """Return the life of a pair of ids, all zeros if the pair never occurs.

        Raises OutOfRangeError for an id outside the run's vocabulary.
        """
        counts = self._expand_counts(pair)
        ranks = np.zeros(self._n_steps, np.int64)
        n_tied = np.zeros(self._n_steps, np.int64)
        for begin, end in _falling_parts(counts):
            as_many = self._n_pairs_with(counts, begin, end, ties=True)
            more = self._n_pairs_with(counts, begin, end, ties=False)
            ranks[begin:end] = 1 + more
            n_tied[begin:end] = as_many - more - 1
        return PairLife(read_only(counts), read_only(ranks), read_only(n_tied))

    def count_steps(self, pair: Pair) -> int:
        """Return the number of steps at which a pair occurs, without computing its ranks.

        Raises OutOfRangeError as `find` does.
        """
        pieces = self._find_pieces(pair)
        there = self._counts[pieces] > 0
        return int((self._stops[pieces] - self._starts[pieces])[there].sum())

    def _expand_counts(self, pair: Pair) -> NDArray[np.int64]:
        counts = np.zeros(self._n_steps, np.int64)
        pieces = self._find_pieces(pair)
        starts, stops = self._starts[pieces], self._stops[pieces]
        if len(starts):
            counts[starts[0] : stops[-1]] = np.repeat(self._counts[pieces], stops - starts)
        return counts

    def _find_pieces(self, pair: Pair) -> slice:
        """Return the slice of a pair's pieces, during each of which its count stays the same."""
        left, right = pair
        if not (0 <= left < self._n_ids and 0 <= right < self._n_ids):
            raise OutOfRangeError(
                f"({left}, {right}) is not a pair of ids of this run. "
                f"Use ids from 0 to {self._n_ids - 1}."
            )
        code = left * self._n_ids + right
        place = int(np.searchsorted(self._pairs, code))
        if place == len(self._pairs) or self._pairs[place] != code:
            return slice(0, 0)
        return slice(int(self._bounds[place]), int(self._bounds[place + 1]))

    def _n_pairs_with(
        self, counts: NDArray[np.int64], begin: int, end: int, *, ties: bool
    ) -> NDArray[np.int64]:
        """Return, for each of the steps begin ... end - 1, how many pairs have a higher count.

        With `ties`, an equal or higher count. `counts` must not rise in these steps: then a piece
        is higher from some step until it stops, and that step depends only on the piece's count.
        """
        side = "left" if ties else "right"
        # For each distinct count, the first step at which it is higher.
        more_from = begin + np.searchsorted(-counts[begin:end], -self._levels, side=side)
        starts = np.maximum(self._starts, more_from.astype(np.int32)[self._level_of])
        stops = np.minimum(self._stops, end)
        counted = starts < stops
        # Each start adds one pair from that step on, and each stop removes one.
        n_steps = end - begin + 1
        started = np.bincount(starts[counted] - begin, minlength=n_steps)
        stopped = np.bincount(stops[counted] - begin, minlength=n_steps)
        return np.cumsum(started - stopped)[:-1]


def _falling_parts(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut the steps at which a count is above 0 into parts during which it never rises.

    There is usually one part, because all occurrences of a pair appear with the merge that makes
    its newer symbol. If two merges make the same token, more occurrences can appear later.
    """
    rises = np.flatnonzero(np.diff(counts, prepend=0) > 0)
    ends = np.append(rises, len(counts))[1:]
    parts: list[tuple[int, int]] = []
    for begin, end in zip(rises.tolist(), ends.tolist(), strict=True):
        parts.append((begin, begin + int(np.count_nonzero(counts[begin:end]))))
    return parts
