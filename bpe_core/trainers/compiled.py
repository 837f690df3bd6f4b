"""The compiled trainer: `incremental.learn_merges`, with the kernels of `merging`."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.kernels import (
    ENTRIES,
    MergeLog,
    MergeScratch,
    PairIndex,
    ParityLog,
    Row,
    Rule,
    Spelled,
    Tokens,
    longer,
    merging,
    together,
    without_garbage_collection,
)
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import ContinuedVocabulary, ForbiddenPairs
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.incremental import learn_merges as learn_merges_incrementally
from bpe_core.trainers.indexing import (
    NO_SKETCH,
    SPARE,
    CountedPairs,
    build_index,
    build_table,
    count_pairs,
    counts_of_words,
    cut_row,
    sketch_pairs,
    with_room,
)
from bpe_core.trainers.pair_tables import goes_by_slot, order_pairs
from bpe_core.types import StopReason, TrainingConfig

# Pairs rarer than the best count divided by this are not indexed until the best count falls that
# low. On 100 MB, 64 took 1.6 s, 512 and 2048 took 1.1 s, because the row is recounted less often.
_THRESHOLD_SHARE = 512
_WORDS_SAMPLED = 1 << 16  # for the first threshold
_NO_LIMIT = int(np.iinfo(np.int32).max)
# With more pairs than this, a table of them is looked up in memory, not in the cache: most of the
# 16 million places of 100 MB in which words may join have pairs of their own.
_MANY_PAIRS = 1 << 21
# Calling the kernel and reporting cost 10 microseconds, 0.05 % of this.
_SECONDS_A_CALL = 0.02
MIN_PER_CALL, _MAX_PER_CALL = 16, 1 << 14
# Later merges are faster, so calls grow; but no call's time says much about the next one's.
_MAX_GROWTH = 2
# Judging one pair costs 2 microseconds, calling the kernel again 60.
_JUDGED = 64
_SHORTEST = 1e-6  # seconds, where a coarse clock shows 0

Log = TypeVar("Log", MergeLog, ParityLog)


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
) -> LearnedMerges:
    """Learn the same merges as `incremental.learn_merges`, from the same arguments.

    The layout is used up, and its memory becomes the result's `joined_at`. `should_stop` is called
    about every 20 ms with the number of merges done, the tokens saved since its last call, and the
    last pair's count, and the merges are added to `done` before, if it is given.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> layout = Layout.of_words([vocabulary.start(b"abab")], [1])
    >>> learn_merges(layout, vocabulary, config, lambda done, saved, count: False).merges
    [(64, 65, 256), (256, 256, 257)]
    """
    before = None if isinstance(vocabulary, ContinuedVocabulary) else vocabulary.copy()
    work = _Work(layout, vocabulary, config)
    stop_reason = work.run(should_stop, done)
    with without_garbage_collection():
        work.name_new_tokens()
    if isinstance(before, GrowingVocabulary) and len(vocabulary) < len(before) + work.n_done:
        # A token with the bytes of an older one takes its id, which changes every later count.
        # Training from single symbols never gets here: see GrowingVocabulary.join.
        cast("GrowingVocabulary", vocabulary).take_over(before)
        return learn_merges_incrementally(work.first_layout(), vocabulary, config, should_stop)
    with without_garbage_collection():
        merges = work.new_merges()
    return work.learned(merges, stop_reason)


class MergeWork(ABC, Generic[Log]):
    """The arrays that a training's kernel works on, and the loop that calls it."""

    def __init__(
        self, layout: Layout, n_ids: int, n_merges: int, log: Log, config: TrainingConfig
    ) -> None:
        self._wanted, self._log = n_merges, log
        self._floor = max(1, config.min_frequency)
        self._rule = Rule(goes_by_slot(config.tie_break), config.max_token_bytes or _NO_LIMIT)
        self._row = Row(layout.ids, *pack_weights(layout.counts))
        self._tokens = Tokens(
            n_slots=np.ones(n_ids, np.int32),
            n_bytes=np.ones(n_ids, np.int32),
            end_ranks=np.full(n_ids, NEVER, np.int32),
        )
        n_slots = layout.ids.size
        self._scratch = MergeScratch(
            merged=np.empty(n_slots + 1, np.int32),
            weights=np.empty(n_slots + 1, np.int32),
            befores=np.empty(n_slots // 2 + 1, np.int32),
            afters=np.empty(n_slots // 2 + 1, np.int32),
            count_before=np.zeros(n_ids, np.int64),
            count_after=np.zeros(n_ids, np.int64),
            n_before=np.zeros(n_ids, np.int32),
            n_after=np.zeros(n_ids, np.int32),
            neighbours=np.empty(n_ids, np.int32),
        )

    @property
    def n_done(self) -> int:
        """The number of merges so far."""
        return int(self._log.n_done[0])

    def merged(self, first: int = 0) -> tuple[list[int], list[int]]:
        """Return the left ids and the right ids of all merges so far, from rank `first` on."""
        left, right = self._log.pairs[first : self.n_done].T
        return left.tolist(), right.tolist()

    def new_merges(self, first: int = 0) -> list[tuple[int, int, int]]:
        """Return the merges so far, from rank `first` on, as (left, right, new id)."""
        new_ids = range(self._log.first_id + first, self._log.first_id + self.n_done)
        return list(zip(*self.merged(first), new_ids, strict=True))

    def run(
        self,
        should_stop: Callable[[int, int, int], bool],
        merges: list[tuple[int, int, int]] | None = None,
    ) -> StopReason:
        """Learn until a stop condition is met or `should_stop` returns True."""
        reported = 0
        a_call = MIN_PER_CALL
        while True:
            done = self.n_done
            if done == self._wanted:
                return "vocab-size"
            last_count = int(self._log.counts[done - 1]) if done else 0
            if merges is not None:
                merges += self.new_merges(reported)
            if should_stop(done, int(self._log.saved[reported:done].sum()), last_count):
                return "cancelled"
            reported = done
            started = time.perf_counter()
            status = self._call_kernel(min(self._wanted, done + a_call))
            if status == merging.ENOUGH:
                took = max(time.perf_counter() - started, _SHORTEST)
                a_call = int(a_call * min(_MAX_GROWTH, _SECONDS_A_CALL / took))
                a_call = max(MIN_PER_CALL, min(_MAX_PER_CALL, a_call))
            elif (reason := self._continue_after(status)) is not None:
                return reason

    @abstractmethod
    def _call_kernel(self, until: int) -> int:
        """Learn until there are `until` merges, or return why not."""

    @abstractmethod
    def _continue_after(self, status: int) -> StopReason | None:
        """Do what the kernel needs to go on, or return why training ends."""


class _Work(MergeWork[MergeLog]):
    """The work of one text; its arrays are enlarged when a kernel runs out of room."""

    def __init__(
        self,
        layout: Layout,
        vocabulary: GrowingVocabulary | ContinuedVocabulary,
        config: TrainingConfig,
    ) -> None:
        self._vocabulary = vocabulary
        self._forbidden = vocabulary.forbidden
        self.first_new_id = vocabulary.next_id
        # Each merge uses up at least one slot, so there can be no more merges than slots.
        n_merges = min(config.vocab_size - len(vocabulary), len(layout.ids))
        n_ids = self.first_new_id + n_merges
        log = MergeLog(
            pairs=np.zeros((n_merges, 2), np.int32),
            counts=np.zeros(n_merges, np.int64),
            saved=np.zeros(n_merges, np.int64),
            n_done=np.zeros(1, np.int64),
            first_id=self.first_new_id,
        )
        super().__init__(layout, n_ids, n_merges, log, config)
        self._counts = layout.counts
        n_bytes = np.fromiter(map(len, vocabulary.tokens), np.int32, self.first_new_id)
        self._tokens.n_bytes[: self.first_new_id] = n_bytes
        self._spelled = _spelled(self._forbidden, n_ids)
        self._parts = cut_row(self._row)
        self._index = self._new_index()

    def name_new_tokens(self) -> None:
        """Add the tokens of all merges so far to the vocabulary."""
        n_named = self._vocabulary.next_id - self.first_new_id
        self._vocabulary.join_new(zip(*self.merged(n_named), strict=True))

    def learned(self, merges: list[tuple[int, int, int]], stop_reason: StopReason) -> LearnedMerges:
        """Return the result, which takes over the row; `merges` are (left, right, new id)."""
        n = self.n_done
        counts: list[int] = self._log.counts[:n].tolist()
        # In place, because touching new memory for the first time took ten times as long as the
        # kernel.
        ids = self._row.ids
        rows = [self._row._replace(ids=ids[part.begin : part.end]) for part in self._parts]
        together([partial(merging.list_ranks, row, self._tokens, NEVER) for row in rows])
        return LearnedMerges(merges, counts, self._log.saved[:n], ids, stop_reason)

    def first_layout(self) -> Layout:
        """Return the row as it was before the first merge."""
        spelled = [[id] for id in range(self.first_new_id)]
        for left, right in zip(*self.merged(), strict=True):
            spelled.append(spelled[left] + spelled[right])
        ids = self._row.ids.copy()
        for slot in np.flatnonzero(ids >= 0).tolist():
            of_token = spelled[int(ids[slot])]
            ids[slot : slot + len(of_token)] = of_token
        return Layout(ids, self._counts)

    def _call_kernel(self, until: int) -> int:
        return merging.run_merges(
            self._row,
            self._tokens,
            self._index,
            self._rule,
            self._spelled,
            self._log,
            self._scratch,
            until,
        )

    def _continue_after(self, status: int) -> StopReason | None:
        if status == merging.SMALL_INDEX:
            self._index = self._with_room_for_best()
        elif status == merging.MAYBE_FORBIDDEN:
            self._judge_best()
        elif self._index.threshold > self._floor:
            self._index = self._new_index()
        else:
            return self._exhausted_because()
        return None

    def _with_room_for_best(self) -> PairIndex:
        """Return the index with room for the pairs that merging the best pair may make."""
        best = self._index.heap[0]
        max_slots = 2 * int(self._index.ends[best] - self._index.begins[best])
        max_pairs = 2 * (self.first_new_id + self.n_done + 1)
        return with_room(self._index, min(max_slots, max_pairs), max_slots)

    def _judge_best(self) -> None:
        """Compare the bytes of the best pairs: allow each, or take it out of the index.

        The best of all is the heap's first, and the next ones are among the first few.
        """
        best = self._index.heap[: min(_JUDGED, int(self._index.used[ENTRIES]))]
        keys = self._index.keys[best]
        forbidden = self._are_forbidden(keys)
        self._index.counts[best[forbidden]] = 0  # below any threshold
        # A pair that was indexed again stands there twice.
        self._spelled = self._spelled._replace(allowed=build_table(np.unique(keys[~forbidden])))

    def _are_forbidden(self, keys: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if self._forbidden is None:
            return np.zeros(keys.size, np.bool_)
        self.name_new_tokens()
        weights = self._forbidden.weights()
        self._spelled.weights[: len(weights)] = weights  # those of new tokens may be less
        left, right = (keys >> np.uint64(32)), keys & np.uint64((1 << 32) - 1)
        return self._forbidden.mask(left.astype(np.int64), right.astype(np.int64))

    def _exhausted_because(self) -> StopReason:
        found = self._count_pairs()
        left = found.counts[~self._are_forbidden(found.keys)]
        return "min-frequency" if left.any() else "no-pairs"

    def _count_pairs(self, sketch: NDArray[np.uint32] = NO_SKETCH, least: int = 0) -> CountedPairs:
        of_row = self._row, self._tokens, self._rule.max_token_bytes, self._parts
        return count_pairs(*of_row, sketch, least)

    def _threshold(self, counts: NDArray[np.int64] | NDArray[np.uint32]) -> int:
        share = int(counts.max(initial=0)) // _THRESHOLD_SHARE
        return max(self._floor, share if self.n_done else min(share, self._first_threshold()))

    def _first_threshold(self) -> int:
        """Return a count that the best pair falls to only late in training, so one index is enough.

        It is about the count of the word at rank `wanted / 2` by frequency, among the words with
        anything to merge. With a quarter instead of half, or with the share alone, the row was
        indexed twice: 0.15 s more of 0.75 s for 100 MB.
        """
        step = 1 + self._counts.size // _WORDS_SAMPLED
        counts = counts_of_words(self._row, self._parts, step)
        place = max(0, counts.size - 1 - self._wanted // (2 * step))
        return int(np.partition(counts, place)[place]) if counts.size else 0

    def _new_index(self) -> PairIndex:
        """Recount the row and index the pairs that are frequent enough."""
        sketch, least = NO_SKETCH, 0
        if min((self.first_new_id + self.n_done) ** 2, self._row.ids.size) >= _MANY_PAIRS:
            sketch = sketch_pairs(self._row, self._tokens, self._parts)
            least = self._threshold(sketch)
        found = self._count_pairs(sketch, least)
        threshold = max(least, self._threshold(found.counts))
        # Only frequent pairs are checked, unless none of them may merge, or the sketch's largest
        # count is that of many pairs.
        kept = found.counts >= threshold
        kept[kept] = ~self._are_forbidden(found.keys[kept])
        if not kept.any():
            found = self._count_pairs() if least else found
            may_merge = ~self._are_forbidden(found.keys)
            threshold = self._threshold(found.counts[may_merge])
            kept = may_merge & (found.counts >= threshold)
        index = build_index(self._row, self._tokens, self._parts, found.where(kept), threshold)
        first_slots = index.places[2 * index.begins].astype(np.uint64)
        ties = first_slots if self._rule.first_seen else index.keys
        order = order_pairs(index.counts, ties).astype(np.int32)  # sorted, so it is a heap
        index = index._replace(heap=order, heap_counts=index.counts[order], heap_ties=ties[order])
        return with_room(index, SPARE, SPARE)


def pack_weights(counts: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the weights that stand for these counts in a row, and the counts that are too large.

    >>> [array.tolist() for array in pack_weights(np.array([5, 2**40]))]
    [[5, -1], [1099511627776]]
    """
    is_large = counts > _NO_LIMIT
    large = counts[is_large]
    weights = counts.astype(np.int32)
    weights[is_large] = -1 - np.arange(large.size, dtype=np.int32)
    return weights, large


def _spelled(forbidden: ForbiddenPairs | None, n_ids: int) -> Spelled:
    """Return the hashes of all tokens, with room for those of new ones."""
    if forbidden is None:
        none = np.empty(0, np.uint64)
        weights = np.empty(0, np.int32)
        return Spelled(none, none, none, allowed=none, weights=weights, heaviest=_NO_LIMIT)
    hashes, factors = forbidden.hashes()
    return Spelled(
        known=build_table(forbidden.spelled_hashes),
        hashes=longer(hashes, n_ids + 1),  # a copy, with room for those of new tokens
        factors=longer(factors, n_ids + 1),
        allowed=build_table(np.empty(0, np.uint64)),
        weights=longer(forbidden.weights(), n_ids + 1),
        heaviest=forbidden.rule.heaviest,
    )


def compile_all() -> None:
    """Compile every kernel of this module by using it."""
    from bpe_core.corpus import Layout

    config = TrainingConfig(258, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    # More pairs than a new table holds, so that enlarging it is compiled too.
    every_pair = bytes(byte for pair in product(range(64), repeat=2) for byte in pair)
    layout = Layout.of_words([vocabulary.start(every_pair)], [1])
    row, letters = Row(layout.ids, *pack_weights(layout.counts)), np.ones(256, np.int32)
    sketch_pairs(row, Tokens(letters, letters, letters), cut_row(row))
    learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
