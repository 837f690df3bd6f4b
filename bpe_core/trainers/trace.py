"""Trace what training saw before each merge and what the merge changed, as arrays.

A run records where each merge joined symbols, so nothing has to be searched for: each merge is
applied to all its places at once with NumPy, and only the pairs next to them are recounted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import Layout
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers.continued import AllowedPairs
from bpe_core.trainers.pair_tables import (
    BITS,
    RIGHT,
    Entry,
    PairQueue,
    PairTable,
    pair_table,
    sort_keys,
    sum_runs,
    unpack_pair,
)
from bpe_core.types import Merge, Pair, TieBreak
from bpe_core.unicode import is_letter

Integers = NDArray[np.int64]
_PAIRS_AT_A_TIME = 4096
_CLOSE_COUNTS = 256
"""The range within which trying one count after another is faster than searching all counts."""
_FEW_COUNTS = 100
"""Fewer counts than this are tallied faster one by one than with NumPy."""
_AFTER_ALL_PAIRS = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MergeTrace:
    """The state of training before each merge from start to stop - 1, with one row for each merge.

    Pairs that tie have separate rows. Ids and indices are int32, counts int64; -1 fills the columns
    that a row does not need.
    """

    start: int
    stop: int
    top_left: NDArray[np.int32]
    """int32[n, k]: left ids of the k most frequent pairs, the winner first; a pair that was merged
    for a term comes first whatever its count."""
    top_right: NDArray[np.int32]
    top_count: NDArray[np.int64]
    n_pairs: NDArray[np.int64]
    """int64[n]: how many distinct pairs occur."""
    n_tied: NDArray[np.int64]
    """int64[n]: how many of them share the winner's count, the winner included; 1 if the winner was
    merged for a term rather than for its count."""
    next_count: NDArray[np.int64]
    """int64[n]: the highest count below the winner's; 0 if there is none."""
    tied_left: NDArray[np.int32]
    """int32[t]: left ids of the pairs that tie for first place, ordered by the tie rule. The ties
    of a step are those with tied_from <= step < tied_until; a sole winner has none."""
    tied_right: NDArray[np.int32]
    tied_from: NDArray[np.int32]
    tied_until: NDArray[np.int32]
    n_overlapping: NDArray[np.int64]
    """int64[n]: counted occurrences that cannot merge: they share a symbol with one that does."""
    n_words: NDArray[np.int64]
    """int64[n]: how many distinct pre-tokens the merge changes."""
    touched: NDArray[np.int32]
    """int32[n, m]: those with the most occurrences of the pair, as indices into the pre-tokens."""
    touched_given: NDArray[np.int64]
    """int64[n, m]: how many occurrences that merge are in each of them."""
    risen_left: NDArray[np.int32]
    """int32[n, r]: pairs whose count the merge raises, most first."""
    risen_right: NDArray[np.int32]
    risen_by: NDArray[np.int64]
    fallen_left: NDArray[np.int32]
    """int32[n, r]: pairs other than the winner whose count the merge lowers, most first."""
    fallen_right: NDArray[np.int32]
    fallen_by: NDArray[np.int64]
    """int64[n, r]: by how much, as a positive number."""

    __hash__: ClassVar[None]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, other: object) -> bool:
        # A dataclass's own `==` would raise, because arrays compare element by element.
        if not isinstance(other, MergeTrace):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return f"<MergeTrace of merges {self.start} to {self.stop}>"


def trace_merges(
    layout: Layout,
    joined_at: NDArray[np.int32],
    merges: Sequence[Merge],
    tie_break: TieBreak,
    allowed: AllowedPairs,
    *,
    start: int,
    k: int,
    n_touched: int,
    n_changes: int,
    n_chosen: int = 0,
) -> MergeTrace:
    """Trace consecutive merges of a run, given the row of symbols before the first of them.

    `joined_at` is int32[n_slots], the rank of the merge that joins each symbol of that row to the
    one before it; `start` is the rank of the first merge. For each step, keep at most `k` pairs,
    `n_touched` words, and `n_changes` each of the pairs that rose and fell. The pairs of the first
    `n_chosen` merges of the run did not win by their counts.

    >>> from bpe_core.corpus import NEVER, Layout
    >>> joined_at = np.array([NEVER, NEVER, 0, NEVER, NEVER], np.int32)
    >>> trace = trace_merges(Layout.of_words([[0, 0, 0]], [2]), joined_at, [Merge(0, 0, 0, 1, 4)],
    ...     "smallest-pair", AllowedPairs(), start=0, k=2, n_touched=1, n_changes=1)
    >>> trace.top_count.tolist(), trace.n_overlapping.tolist(), trace.risen_by.tolist()
    ([[4, -1]], [2], [[2]])
    >>> trace.touched.tolist(), trace.touched_given.tolist()
    ([[0]], [[2]])
    """
    n = len(merges)
    row = _Row(layout, allowed)
    table = pair_table(layout, allowed)
    counts = _Counts(table)
    queue = _Queue(row.is_at, counts, table, tie_break)
    ties = _Ties(counts, queue)
    separators = layout.gaps()
    weights_of = layout.weights()
    trace = _empty_trace(start, n, k, n_touched, n_changes)
    places = _places_by_merge(joined_at, start, n)
    for at, (merge, seconds) in enumerate(zip(merges, places, strict=True)):
        winner = merge.left << BITS | merge.right
        count = counts.get(winner)
        is_chosen = merge.rank < n_chosen
        best = queue.top(k)
        if is_chosen:
            others = [entry for entry in best if entry[2] != winner]
            best = [queue.entry(winner), *others][:k]
        for column, (less, _, key) in enumerate(best):
            trace.top_left[at, column], trace.top_right[at, column] = unpack_pair(key)
            trace.top_count[at, column] = -less
        trace.n_pairs[at] = counts.n_pairs
        trace.n_tied[at] = 1 if is_chosen else counts.n_with[count]
        trace.next_count[at] = counts.next_below(count)
        if is_chosen:
            ties.end_all(merge.rank)  # nothing ties with a pair not chosen by its count
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
            right[at, : len(most)] = keys[most] & RIGHT
            by[at, : len(most)] = sign * changes[most]
    tied, tied_from, tied_until = ties.ended_at(start + n).T
    return replace(
        trace,
        tied_left=(tied >> BITS).astype(np.int32),
        tied_right=(tied & RIGHT).astype(np.int32),
        tied_from=tied_from.astype(np.int32),
        tied_until=tied_until.astype(np.int32),
    )


def join_traces(traces: Sequence[MergeTrace]) -> MergeTrace:
    """Return one trace of consecutive stretches of merges.

    >>> one, other = _empty_trace(0, 2, 1, 1, 1), _empty_trace(2, 3, 1, 1, 1)
    >>> join_traces([one, other]).n_pairs.tolist(), join_traces([one, other]).stop
    ([0, 0, 0, 0, 0], 5)
    """
    if len(traces) == 1:
        return traces[0]
    arrays = {
        each.name: np.concatenate([getattr(trace, each.name) for trace in traces])
        for each in fields(MergeTrace)
        if each.name not in ("start", "stop")
    }
    return MergeTrace(start=traces[0].start, stop=traces[-1].stop, **arrays)


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


class _Counts:
    """The count of each pair: initial pairs in arrays, pairs made since then in a dict."""

    def __init__(self, table: PairTable) -> None:
        self.keys = np.append(table.keys, _AFTER_ALL_PAIRS)
        self.counts = np.append(table.counts, 0)
        self._born: dict[int, int] = {}
        self.n_pairs = len(table.keys)
        self.n_with: Counter[int] = Counter()
        """The number of pairs that have each count."""
        self._tally(table.counts, 1)

    def get(self, key: int) -> int:
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
        self.change(np.array([key]), np.array([-self.get(key)]))

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


class _Queue(PairQueue):
    """The pairs, most frequent first, as in training.

    The initial pairs, which can number hundreds of thousands, enter the heap a few thousand at a
    time, when the best of those outside could be among the first.
    """

    def __init__(
        self, is_at: Callable[[int, int], bool], counts: _Counts, table: PairTable, rule: TieBreak
    ) -> None:
        super().__init__(rule, counts.get, self._list_slots, is_at)
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


class _Ties:
    """The pairs that tie for first place, each with the range of merges before which it ties.

    The ties are searched for whenever the winner's count changes; after that, only the pairs that a
    merge changed can join or leave them.
    """

    def __init__(self, counts: _Counts, queue: _Queue) -> None:
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
        self.end_all(rank)
        if n_tied > 1:
            self._count = count
            for _, order, key in self._queue.top(n_tied):
                self._since[key] = order, rank

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
        self.end_all(stop)
        rows = [(key, since, until) for _, key, since, until in sorted(self._ended)]
        return np.array(rows, np.int64).reshape(-1, 3)

    def end_all(self, rank: int) -> None:
        """End all ties before a merge."""
        for key in list(self._since):
            self._end(key, rank)
        self._count = -1

    def _end(self, key: int, rank: int) -> None:
        order, since = self._since.pop(key)
        if since < rank:
            self._ended.append((order, key, since, rank))


class _Row:
    """The symbols of all words while merges are applied, linked to their neighbours' slots."""

    def __init__(self, layout: Layout, allowed: AllowedPairs) -> None:
        n = len(layout.ids)
        self._ids = layout.ids.astype(np.int64)
        self._weights = layout.weights()
        self._before = np.arange(-1, n - 1)
        self._after = np.arange(1, n + 1)
        self._marked = np.zeros(n, np.bool_)
        self._allowed = allowed

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
        order = sort_keys(keys)
        keys = keys[order]
        starts, changes = sum_runs(keys, by[order])
        return keys[starts], changes, (made, made_keys)

    def _windows(self, slots: Integers, befores: Integers) -> tuple[Integers, Integers]:
        """Return the slots and keys of pairs that start at or just before `slots`, once each."""
        self._marked[slots] = True
        starts = np.concatenate([slots, befores[~self._marked[befores]]])
        self._marked[slots] = False
        left, right = self._ids[starts], self._ids[self._after[starts]]
        fits = (left >= 0) & (right >= 0)
        fits[fits] = self._allowed.mask(left[fits], right[fits])
        return starts[fits], left[fits] << BITS | right[fits]


CLOSE_RACE: Final = 0.95
"""A race is close if the runner-up occurs at least this often, as a share of the winner's count."""


def is_close(trace: MergeTrace) -> NDArray[np.bool_]:
    """Return bool[n]: which merges of a trace won by a tie or in a close race.

    The trace must hold at least the two most frequent pairs of each merge.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_word_counts({"ab": 100, "cd": 95, "ef": 90, "gh": 90, "ij": 85})
    >>> run = train(corpus, TrainingConfig(261, special_tokens=()))
    >>> is_close(run.trace(0, 5, k=2)).tolist()
    [True, False, True, False, False]
    """
    winner, runner_up = trace.top_count[:, 0], trace.top_count[:, 1]
    return (runner_up > 0) & (runner_up >= CLOSE_RACE * winner)


def has_letters(tokenizer: Tokenizer, pair: Pair) -> bool:
    """Return True if both tokens of a pair consist of whole letters and marks only.

    An end-of-word marker at the end of a token is ignored.

    >>> from bpe_core.tokenizer import gpt2
    >>> ids = [gpt2().encode(text)[0] for text in ("in", " the", "g")]
    >>> has_letters(gpt2(), (ids[0], ids[2])), has_letters(gpt2(), (ids[0], ids[1]))
    (True, False)
    """
    return all(_is_letters(tokenizer, id) for id in pair)


def _is_letters(tokenizer: Tokenizer, id: int) -> bool:
    try:
        text = tokenizer.table.content[id].decode()
    except UnicodeDecodeError:
        return False
    return text != "" and all(map(is_letter, text))
