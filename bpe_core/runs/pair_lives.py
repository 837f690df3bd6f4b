"""The life of each pair in a training: when it occurred, how often, and how many more often.

All changes of all counts, from `pair_changes`, are kept as pieces: a count of a pair, and from
which step to which it stays the same. A pair's counts are its own pieces. Its rank at a step is 1 +
the number of pieces with a higher count there; for a whole life they are counted in one pass over
all pieces (`PairLives._n_pairs_with`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError
from bpe_core.runs.pair_changes import count_changes
from bpe_core.runs.run import TrainingRun
from bpe_core.types import Pair, read_only


@dataclass(frozen=True, slots=True)
class PairLife:
    """How often a pair occurred after each number of merges, and how many pairs more often."""

    counts: NDArray[np.int64]
    """int64[n_merges + 1]: read-only, as the others."""
    ranks: NDArray[np.int64]
    """int64[n_merges + 1]: 1 and the number of pairs that occur more often, so that ties share a
    rank; 0 where the pair does not occur."""
    n_tied: NDArray[np.int64]
    """int64[n_merges + 1]: how many other pairs occur as often; 0 where it does not occur."""

    @property
    def span(self) -> tuple[int, int] | None:
        """The first and the last number of merges after which it occurs; None where it never does.

        >>> zeros = np.zeros(3, np.int64)
        >>> PairLife(np.array([0, 5, 4]), np.array([0, 1, 2]), zeros).span
        (1, 2)
        """
        there = np.flatnonzero(self.counts)
        return (int(there[0]), int(there[-1])) if len(there) else None


class LifeExtent(NamedTuple):
    """How much there is to tell of a pair's life."""

    n_steps: int
    """After how many numbers of merges it occurs."""
    n_changes: int
    """How often its count changes while it occurs."""


class PairLives:
    """Every count of every pair over a whole run, laid out once; then each life is quick to tell.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> config = TrainingConfig(6, base="characters", alphabet="seen", special_tokens=())
    >>> run = train(Corpus.from_word_counts({"hug": 10, "ugg": 5}), config)
    >>> run.pair_counts(0)
    {(1, 2): 10, (2, 0): 15, (0, 0): 5}
    >>> life = PairLives(run).of((1, 2))
    >>> life.counts.tolist(), life.ranks.tolist()
    ([10, 0, 0, 0], [2, 0, 0, 0])
    >>> PairLives(run).extent_of((1, 2))
    LifeExtent(n_steps=1, n_changes=0)
    """

    def __init__(self, run: TrainingRun) -> None:
        self._n_steps = n_steps = len(run.merges) + 1
        self._n_ids = run.tokenizer.vocab_size
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

    def of(self, pair: Pair) -> PairLife:
        """Tell the life of one pair of ids; a pair that never occurs has one of zeros.

        Raises ConfigError for an id that the run's vocabulary lacks.
        """
        counts = self._counts_of(pair)
        ranks = np.zeros(self._n_steps, np.int64)
        n_tied = np.zeros(self._n_steps, np.int64)
        for begin, end in _falling_parts(counts):
            as_many = self._n_pairs_with(counts, begin, end, ties=True)
            more = self._n_pairs_with(counts, begin, end, ties=False)
            ranks[begin:end] = 1 + more
            n_tied[begin:end] = as_many - more - 1
        return PairLife(read_only(counts), read_only(ranks), read_only(n_tied))

    def extent_of(self, pair: Pair) -> LifeExtent:
        """Tell how long the life of a pair lasts and how eventful it is, without its ranks.

        Raises ConfigError as `of` does.
        """
        pieces = self._pieces_of(pair)
        there = self._counts[pieces] > 0
        n_steps = int((self._stops[pieces] - self._starts[pieces])[there].sum())
        return LifeExtent(n_steps, max(0, int(np.count_nonzero(there)) - 1))

    def _counts_of(self, pair: Pair) -> NDArray[np.int64]:
        counts = np.zeros(self._n_steps, np.int64)
        pieces = self._pieces_of(pair)
        starts, stops = self._starts[pieces], self._stops[pieces]
        if len(starts):
            counts[starts[0] : stops[-1]] = np.repeat(self._counts[pieces], stops - starts)
        return counts

    def _pieces_of(self, pair: Pair) -> slice:
        """Where the pieces of a pair's life stand, in each of which its count stays the same."""
        left, right = pair
        if not (0 <= left < self._n_ids and 0 <= right < self._n_ids):
            raise ConfigError(
                f"({left}, {right}) is no pair of this run: take ids from 0 to {self._n_ids - 1}."
            )
        code = left * self._n_ids + right
        place = int(np.searchsorted(self._pairs, code))
        if place == len(self._pairs) or self._pairs[place] != code:
            return slice(0, 0)
        return slice(int(self._bounds[place]), int(self._bounds[place + 1]))

    def _n_pairs_with(
        self, counts: NDArray[np.int64], begin: int, end: int, *, ties: bool
    ) -> NDArray[np.int64]:
        """Return how many pairs have more than the counts of steps begin ... end - 1.

        With `ties`, how many have as many or more. The counts never rise in these steps. So a
        piece has more from some step on, the same one for all pieces of its count, until it stops.
        """
        side = "left" if ties else "right"
        # By count: the first step at which it is more.
        more_from = begin + np.searchsorted(-counts[begin:end], -self._levels, side=side)
        starts = np.maximum(self._starts, more_from.astype(np.int32)[self._level_of])
        stops = np.minimum(self._stops, end)
        counted = starts < stops
        # One more from each start on, one fewer from each stop on.
        n_steps = end - begin + 1
        started = np.bincount(starts[counted] - begin, minlength=n_steps)
        stopped = np.bincount(stops[counted] - begin, minlength=n_steps)
        return np.cumsum(started - stopped)[:-1]


def _falling_parts(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut steps where a count is above 0 into parts in which it never rises.

    One part, mostly: all that a pair will ever have comes with the merge that makes its newer
    symbol. Where two merges spell the same token, more can come later.
    """
    rises = np.flatnonzero(np.diff(counts, prepend=0) > 0)
    ends = np.append(rises, len(counts))[1:]
    parts: list[tuple[int, int]] = []
    for begin, end in zip(rises.tolist(), ends.tolist(), strict=True):
        parts.append((begin, begin + int(np.count_nonzero(counts[begin:end]))))
    return parts
