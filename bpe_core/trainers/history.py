"""The history of a run: each pair's count and rank at every step.

Nothing is replayed. The changes of all counts (`count_changes`) become pieces, each a range of
steps during which a pair's count stays the same (`PairLives`). A pair's counts are its own pieces;
its rank at a step is 1 + the number of pieces with a higher count at that step, and for a whole
life they are counted in one pass over all pieces (`PairLives._n_pairs_with`).

How the changes are found: two symbols meet at a boundary between two slots. A run stores the rank
of the merge that joined each slot to the one before it (`word_row`), which determines how long
there is a boundary before a slot, and which symbols end and begin there. Take the word `aab`, which
occurs 5 times, and the merges (a, b) -> X and (a, X) -> Y:

    slot        0  1  2  3  4        slots 0 and 4 are places between words
    symbol      -  a  a  b  -
    joined_at   -  -  1  0  -        `-` is NEVER

1. At step 0, before any merge, two symbols meet at each boundary inside a word: a and a before
   slot 2, a and b before slot 3 (`_first_meetings`).
2. One step after a merge, its new symbol is on the right of the boundary where it begins, and on
   the left of the boundary where it ends. It begins at the nearest earlier slot that is joined
   later or never, and ends before the nearest such slot to the right (`_later_meetings`). X is made
   at slot 3: it begins at slot 2 and ends before slot 4. Pointer jumping finds these nearest slots
   for all slots at once (`nearest_later_before`).
3. With meetings ordered by boundary and step, a meeting with one new symbol takes the other symbol
   from the meeting before it (`_in_order`). It lasts until the next meeting at its boundary, or
   until the boundary is joined (`_stops`):

       before slot 2   a and a from step 0 to 1, a and X from step 1 to 2
       before slot 3   a and b from step 0 to 1

4. When a meeting starts, the number of occurrences of the word is added to its pair's count; when
   it stops, that number is subtracted (`_list_changes`): (a, a) has +5 at step 0 and -5 at step 1.
   Changes of the same pair at the same step are summed (`_summed`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER
from bpe_core.errors import ConfigError, OutOfRangeError
from bpe_core.trainers.pair_tables import BITS, argsort_stable, sum_runs, unpack_pair
from bpe_core.trainers.picky import PickyState
from bpe_core.trainers.run import TrainingRun
from bpe_core.types import Pair, read_only

# Sorting takes about 300 bytes per slot, so a row is processed in parts, cut between words.
_SLOTS_AT_ONCE = 1 << 20
_MAX_CORNERS = 1_500


class _Meetings(NamedTuple):
    """Symbols that meet at boundaries, in columns of int64[n_meetings]."""

    boundaries: NDArray[np.int64]
    """The slot that the boundary is before."""
    starts: NDArray[np.int64]
    """The first step at which they meet: the number of merges done by then."""
    lefts: NDArray[np.int64]
    """The id of the symbol that ends there, or -1 for the same as in the previous meeting."""
    rights: NDArray[np.int64]
    """The id of the symbol that begins there, or -1 for the same as in the previous meeting."""

    def taken(self, which: NDArray[np.int64] | NDArray[np.bool_]) -> _Meetings:
        return _Meetings(*(values[which] for values in self))


def count_changes(run: TrainingRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return codes in ascending order, and the changes of pair counts that belong to them.

    A code is (left id * n_ids + right id) * n_steps + step, where n_ids is 1 + the highest id, and
    n_steps 1 + the number of merges. Raises ConfigError if the codes would not fit into 64 bits.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> config = TrainingConfig(4, base="characters", special_tokens=())
    >>> run = train(Corpus.from_word_counts({"aab": 5, "ab": 1}), config)
    >>> codes, changes = count_changes(run)
    >>> pairs, steps = np.divmod(codes, 3)
    >>> [divmod(pair, 4) for pair in pairs.tolist()]
    [(0, 0), (0, 0), (0, 1), (0, 1), (0, 2), (0, 2)]
    >>> steps.tolist(), changes.tolist()
    ([0, 1, 0, 1, 1, 2], [5, -5, 6, -6, 5, -5])
    """
    layout = run.layout_at(0)
    merge_ids = np.array([merge.id for merge in run.merges], np.int64)
    n_ids, n_steps = run.n_ids, len(merge_ids) + 1
    if n_ids * n_ids * n_steps > np.iinfo(np.int64).max:
        raise ConfigError(
            f"This run has ids up to {n_ids - 1:,}, too many to follow the counts of its pairs. "
            "Use a run of at most about 2 million tokens."
        )
    if len(run.undone):
        return _replay_changes(run)
    codes: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    changes: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    weights = layout.weights()
    for part in _parts(layout.gaps()):
        ids, joined_at = layout.ids[part], run.joined_at[part]
        later = _later_meetings(ids, joined_at, merge_ids)
        meetings = _in_order(_first_meetings(ids), later, n_steps)
        stops = _stops(meetings, joined_at)
        fits = run.allowed_pairs.mask(meetings.lefts, meetings.rights)
        meetings, stops = meetings.taken(fits), stops[fits]
        code, change = _list_changes(meetings, stops, weights[part], n_ids, n_steps)
        codes.append(code)
        changes.append(change)
    if len(codes) == 2:
        return codes[1], changes[1]  # a single part is already in order
    return _summed(np.concatenate(codes), np.concatenate(changes))


def _replay_changes(run: TrainingRun) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `count_changes` returns, for a run that removed tokens again."""
    state = PickyState(run.layout_at(0), run.allowed_pairs)
    n_ids, n_steps = run.n_ids, len(run.merges) + 1
    codes: list[int] = []
    changes: list[int] = []

    def note(step: int, found: Mapping[int, int]) -> None:
        for key, change in found.items():
            left, right = unpack_pair(key)
            codes.append((left * n_ids + right) * n_steps + step)
            changes.append(change)

    note(0, state.counts)
    for step, merge in enumerate(run.merges, start=1):
        key = merge.left << BITS | merge.right
        note(step, {key: -state.counts[key]})
        note(step, {k: n for k, n in state.merge(*merge.pair, merge.id).items() if k != key})
        for id in run.removed_after(step):
            note(step, state.remove(id))
    found, changed = _summed(np.array(codes, np.int64), np.array(changes, np.int64))
    return found[changed != 0], changed[changed != 0]


def _parts(gaps: NDArray[np.int64]) -> Iterator[slice]:
    """Cut a row of slots at some of its gaps; each part begins and ends with one."""
    begin = 0
    while begin < len(gaps) - 1:
        start = int(gaps[begin])
        last = int(np.searchsorted(gaps, start + _SLOTS_AT_ONCE, side="right")) - 1
        begin = max(begin + 1, last)
        yield slice(start, int(gaps[begin]) + 1)


def _first_meetings(ids: NDArray[np.int32]) -> _Meetings:
    """Return the meetings before any merge.

    >>> for values in _first_meetings(np.array([-1, 7, 7, 8, -1], np.int32)): print(values)
    [2 3]
    [0 0]
    [7 7]
    [7 8]
    """
    inner = np.flatnonzero((ids[:-1] >= 0) & (ids[1:] >= 0)) + 1
    lefts, rights = ids[inner - 1].astype(np.int64), ids[inner].astype(np.int64)
    return _Meetings(inner, np.zeros(len(inner), np.int64), lefts, rights)


def _later_meetings(
    ids: NDArray[np.int32], joined_at: NDArray[np.int32], merge_ids: NDArray[np.int64]
) -> _Meetings:
    """Return the meetings at both ends of each merged symbol, inside words.

    >>> ids = np.array([-1, 7, 7, 8, -1], np.int32)
    >>> joined_at = np.array([NEVER, NEVER, 1, 0, NEVER], np.int32)
    >>> for values in _later_meetings(ids, joined_at, np.array([9, 10])): print(values)
    [2]
    [1]
    [-1]
    [9]
    """
    joints = np.flatnonzero(joined_at < NEVER)
    ranks = joined_at[joints].astype(np.int64)
    made, same = merge_ids[ranks], np.full(len(joints), -1)
    begins = nearest_later_before(joined_at)[joints]
    ends = nearest_later_after(joined_at)[joints]
    meetings = _Meetings(
        np.concatenate([begins, ends]),
        np.concatenate([ranks + 1, ranks + 1]),
        np.concatenate([same, made]),
        np.concatenate([made, same]),
    )
    inside = (ids[meetings.boundaries - 1] >= 0) & (ids[meetings.boundaries] >= 0)
    return meetings.taken(inside)


def nearest_later_before(joined_at: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each slot that is ever joined, the nearest slot before it that is joined later.

    A slot that is never joined counts as later than any, so each search ends. Pointer jumping: each
    slot points at the one before it. If that one is joined earlier, so are all those that it has
    skipped, and the slot copies its pointer. All slots do this at once until none changes, in at
    most as many rounds as the longest token has symbols, and usually far fewer.

    >>> nearest_later_before(np.array([NEVER, 0, 2, 1, NEVER], np.int32)).tolist()[1:4]
    [0, 0, 2]
    """
    pointers = np.arange(len(joined_at)) - 1
    looking = np.flatnonzero(joined_at < NEVER)
    while len(looking):
        at = pointers[looking]
        earlier = joined_at[at] < joined_at[looking]
        looking = looking[earlier]
        pointers[looking] = pointers[at[earlier]]
    return pointers


def nearest_later_after(joined_at: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return, for each slot that is ever joined, the nearest slot after it that is joined later.

    >>> nearest_later_after(np.array([NEVER, 0, 2, 1, NEVER], np.int32)).tolist()[1:4]
    [2, 4, 4]
    """
    return len(joined_at) - 1 - nearest_later_before(joined_at[::-1])[::-1]


def _in_order(first: _Meetings, later: _Meetings, n_steps: int) -> _Meetings:
    """Return all meetings ordered by boundary and step, with both symbols filled in.

    >>> ids = np.array([-1, 7, 7, 8, -1], np.int32)
    >>> joined_at = np.array([NEVER, NEVER, 1, 0, NEVER], np.int32)
    >>> later = _later_meetings(ids, joined_at, np.array([9, 10]))
    >>> for values in _in_order(_first_meetings(ids), later, 3): print(values)
    [2 2 3]
    [0 1 0]
    [7 7 7]
    [7 9 8]
    """
    meetings = _Meetings(*(np.concatenate(pair) for pair in zip(first, later, strict=True)))
    meetings = meetings.taken(argsort_stable(meetings.boundaries * n_steps + meetings.starts))
    # The first meeting at each boundary has both symbols, so no id leaks in from another boundary.
    meetings = meetings._replace(lefts=_filled(meetings.lefts), rights=_filled(meetings.rights))
    # A merge that makes both symbols of a meeting has two entries: the later one holds both.
    boundaries, starts = meetings.boundaries, meetings.starts
    return meetings.taken((np.diff(boundaries, append=-1) != 0) | (np.diff(starts, append=-1) != 0))


def _filled(ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace each -1 by the last id before it.

    >>> _filled(np.array([7, -1, 8, -1, -1])).tolist()
    [7, 7, 8, 8, 8]
    """
    return ids[np.maximum.accumulate(np.where(ids >= 0, np.arange(len(ids)), 0))]


def _stops(meetings: _Meetings, joined_at: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the step at which each meeting ends; one above all steps if it never does."""
    stops = joined_at[meetings.boundaries].astype(np.int64) + 1
    goes_on = meetings.boundaries[1:] == meetings.boundaries[:-1]
    stops[:-1][goes_on] = meetings.starts[1:][goes_on]
    return stops


def _list_changes(
    meetings: _Meetings,
    stops: NDArray[np.int64],
    weights: NDArray[np.int64],
    n_ids: int,
    n_steps: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return codes and changes: counts rise when a meeting starts and fall when it stops."""
    pairs = (meetings.lefts * n_ids + meetings.rights) * n_steps
    counts = weights[meetings.boundaries]
    over = stops < n_steps
    return _summed(
        np.concatenate([pairs + meetings.starts, pairs[over] + stops[over]]),
        np.concatenate([counts, -counts[over]]),
    )


def _summed(
    codes: NDArray[np.int64], changes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sort codes, sum the changes of equal ones, and drop sums of 0.

    >>> codes, sums = _summed(np.array([5, 3, 5, 4, 4]), np.array([1, 2, 3, 6, -6]))
    >>> codes.tolist(), sums.tolist()
    ([3, 5], [2, 4])
    """
    order = np.argsort(codes)
    codes = codes[order]
    starts, sums = sum_runs(codes, changes[order])
    return codes[starts][sums != 0], sums[sums != 0]


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
    def drawn_counts(self) -> NDArray[np.int64]:
        """int64[n]: the steps at which the curve of counts is drawn."""
        return self._corners(self.counts)

    @property
    def drawn_ranks(self) -> NDArray[np.int64]:
        """int64[n]: the steps at which the curve of ranks is drawn."""
        return self._corners(self.ranks)

    def _corners(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return both ends of the life and where the curve changes; at most 1,500 of these.

        >>> ones = np.ones(8, np.int64)
        >>> PairLife(np.array([0, 5, 5, 5, 4, 4, 2, 2]), ones, ones).drawn_counts.tolist()
        [1, 4, 6, 7]
        """
        first, last = self.span or (0, 0)
        curve = values[first : last + 1]
        changes = np.flatnonzero(curve[1:] != curve[:-1]) + 1
        places = np.unique(np.concatenate([changes, [0, len(curve) - 1]]).astype(np.int64))
        if len(places) > _MAX_CORNERS:
            places = places[np.linspace(0, len(places) - 1, _MAX_CORNERS).astype(np.int64)]
        return first + places

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
    >>> from bpe_core.trainers import train
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
