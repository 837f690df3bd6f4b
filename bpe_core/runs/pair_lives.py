"""The life of each pair in a training: when it occurred, how often, and how many were before it.

A run keeps when each two neighbouring slots were joined (`word_row`). Over the boundary between two
slots stand, one after the other, the pairs of the symbols that end there and begin there; so the
occurrences of all pairs over all merges follow from sorting, without replaying a merge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import NEVER, Layout, order_of
from bpe_core.errors import ConfigError
from bpe_core.runs.run import TrainingRun
from bpe_core.types import Pair, read_only

# Sorting takes some 300 bytes a slot at once; between two words a row can be cut.
_SLOTS_AT_ONCE = 1 << 20


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
        self._n_ids = n_ids = run.tokenizer.vocab_size
        if n_ids * n_ids * n_steps > np.iinfo(np.int64).max:
            raise ConfigError(
                f"The lives of pairs can be told for some 2 million tokens; this run has {n_ids:,}."
            )
        codes, changes = _changes_of(run)
        pairs, steps = np.divmod(codes, n_steps)
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))
        bounds = np.append(starts, len(pairs))
        # A count is the sum of the changes so far, and stands until the pair's next one.
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
        """How many pairs have more than the counts of steps begin ... end - 1, which never rise.

        With `ties`, how many have as many or more. A count that stands from one step to another is
        more than these from some step on; so it is so from the later of the two beginnings.
        """
        rising = -counts[begin:end]
        side = "left" if ties else "right"
        reached = begin + np.searchsorted(rising, -self._levels, side=side)
        starts = np.maximum(self._starts, reached.astype(np.int32)[self._level_of])
        there = starts < np.minimum(self._stops, end)
        length = end - begin + 1
        born = np.bincount(starts[there] - begin, minlength=length)
        gone = np.bincount(np.minimum(self._stops[there], end) - begin, minlength=length)
        return np.cumsum(born - gone)[:-1]


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


def _changes_of(run: TrainingRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All changes of all counts in a run, in the order of their codes.

    A code is (left id * ids + right id) * steps + step.
    """
    layout = run.layout_at(0)
    merge_ids = np.array([merge.id for merge in run.merges], np.int64)
    n_ids, n_steps = run.tokenizer.vocab_size, len(merge_ids) + 1
    limit = run.config.max_token_bytes
    vocab = run.tokenizer.vocab
    lengths = np.array([len(vocab[id]) for id in range(n_ids)])
    codes: list[NDArray[np.int64]] = []
    changes: list[NDArray[np.int64]] = []
    for part in _parts(layout.weights):
        left, right, steps, change = _changes(
            Layout(layout.ids[part], layout.weights[part]), run.joined_at[part], merge_ids
        )
        if limit is not None:
            fits = lengths[left] + lengths[right] <= limit
            left, right, steps, change = (a[fits] for a in (left, right, steps, change))
        code, change = _summed((left * n_ids + right) * n_steps + steps, change)
        codes.append(code)
        changes.append(change)
    if len(codes) == 1:
        return codes[0], changes[0]
    none = np.zeros(0, np.int64)
    return _summed(np.concatenate([none, *codes]), np.concatenate([none, *changes]))


def _parts(weights: NDArray[np.int64]) -> Iterator[slice]:
    """Cut a row of slots between words; each part begins and ends with a slot of no word."""
    between = np.flatnonzero(weights == 0)
    begin = 0
    while begin < len(between) - 1:
        start = int(between[begin])
        last = int(np.searchsorted(between, start + _SLOTS_AT_ONCE, side="right")) - 1
        begin = max(begin + 1, last)
        yield slice(start, int(between[begin]) + 1)


def _changes(
    layout: Layout, joined_at: NDArray[np.int32], merge_ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Say where pairs appear and go in a part of a row: left ids, right ids, steps, changes.

    Each symbol that a merge makes becomes the right one of a pair over the boundary where it
    begins, and the left one over the boundary where it ends; both at the step after the merge.
    """
    n_steps = len(merge_ids) + 1
    joints = np.flatnonzero(joined_at < NEVER)
    made = merge_ids[joined_at[joints]]
    born = joined_at[joints].astype(np.int64) + 1
    inner = np.flatnonzero((layout.ids[:-1] >= 0) & (layout.ids[1:] >= 0)) + 1
    none = np.full(len(joints), -1)
    boundaries = np.concatenate(
        [inner, _nearest_later_before(joined_at)[joints], _nearest_later_after(joined_at)[joints]]
    )
    steps = np.concatenate([np.zeros(len(inner), np.int64), born, born])
    lefts = np.concatenate([layout.ids[inner - 1], none, made])
    rights = np.concatenate([layout.ids[inner], made, none])

    is_inner = np.zeros(len(joined_at), np.bool_)
    is_inner[inner] = True
    order = np.flatnonzero(is_inner[boundaries])
    order = order[order_of(boundaries[order] * n_steps + steps[order])]
    boundaries, steps = boundaries[order], steps[order]
    lefts, rights = _filled(lefts[order]), _filled(rights[order])
    # A merge that makes both symbols of a pair has two entries here: the later one knows both.
    last = (np.diff(boundaries, append=-1) != 0) | (np.diff(steps, append=-1) != 0)
    boundaries, steps, lefts, rights = (a[last] for a in (boundaries, steps, lefts, rights))

    stops = joined_at[boundaries].astype(np.int64) + 1
    same = boundaries[1:] == boundaries[:-1]
    stops[:-1][same] = steps[1:][same]
    weights = layout.weights[boundaries]
    ends = stops < n_steps
    return (
        np.concatenate([lefts, lefts[ends]]),
        np.concatenate([rights, rights[ends]]),
        np.concatenate([steps, stops[ends]]),
        np.concatenate([weights, -weights[ends]]),
    )


def _filled(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put the id before it in the place of each -1."""
    return ids[np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))]


def _nearest_later_before(joined_at: NDArray[np.int32]) -> NDArray[np.int64]:
    """For each slot that is ever joined, the nearest one before it that is joined later or never.

    There the symbol begins that the slot's merge makes. All slots look one further at once, and
    whoever has to go on takes over what the slot it looks at has found: few rounds are enough.

    >>> _nearest_later_before(np.array([NEVER, 0, 2, 1, NEVER], np.int32)).tolist()[1:4]
    [0, 0, 2]
    """
    found = np.arange(len(joined_at)) - 1
    looking = np.flatnonzero(joined_at < NEVER)
    while len(looking):
        at = found[looking]
        earlier = joined_at[at] < joined_at[looking]
        looking = looking[earlier]
        found[looking] = found[at[earlier]]
    return found


def _nearest_later_after(joined_at: NDArray[np.int32]) -> NDArray[np.int64]:
    """The same, behind it: where the symbol ends that the slot's merge makes."""
    return len(joined_at) - 1 - _nearest_later_before(joined_at[::-1])[::-1]


def _summed(
    codes: NDArray[np.int64], changes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort codes and sum the changes of equal ones; sums of 0 fall away."""
    order = np.argsort(codes)
    codes, changes = codes[order], changes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    sums = np.add.reduceat(changes, starts) if len(starts) else changes
    return codes[starts][sums != 0], sums[sums != 0]
