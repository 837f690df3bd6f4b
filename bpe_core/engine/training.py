"""The compiled trainer: what `incremental.learn_merges` does, with the kernels of `merging`."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bpe_core.alphabet import GrowingVocabulary
from bpe_core.engine.arrays import longer
from bpe_core.incremental import Learned
from bpe_core.incremental import learn_merges as learn_merges_incrementally
from bpe_core.kernels import merging, pairs
from bpe_core.kernels.merging import Scratch
from bpe_core.kernels.pairs import ENTRY, PairIndex
from bpe_core.layout import NEVER, Layout
from bpe_core.types import StopReason, TrainingConfig

# Pairs rarer than this part of the best are not followed until the best falls so low: on 100 MB 64
# took 1.6 s, 512 and 2048 1.1 s, since the row is counted anew less often.
_THRESHOLD_SHARE = 512
_NO_LIMIT = int(np.iinfo(np.int32).max)
# A call into the kernel takes 30 microseconds before it does anything: 0.15 % of this.
SECONDS_A_CALL = 0.02
_FEWEST_A_CALL, _MOST_A_CALL = 16, 4096
_FREE = np.iinfo(np.uint64).max
_SPARE = 1024
_FEWEST_ENTRIES = 1 << 12


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
) -> Learned:
    """Learn what `incremental.learn_merges` learns, from the same arguments.

    The layout is used up: its ids become those at the end, which saves a third of the memory.
    `should_stop` is asked about every 20 ms, with the number of merges done, the tokens saved since
    it was last asked, and the last pair's count.

    >>> from bpe_core.layout import lay_out
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> layout = lay_out([vocabulary.start(b"abab")], [1])
    >>> learn_merges(layout, vocabulary, config, lambda done, saved, count: False).merges
    [(64, 65, 256), (256, 256, 257)]
    """
    before = vocabulary.copy()
    work = _Work(layout, vocabulary, config)
    stop_reason = work.run(should_stop)
    n = work.n_done
    lefts, rights = (column.tolist() for column in work.merges[:n].T)
    if vocabulary.join_new(zip(lefts, rights, strict=True)) < n:
        # A token spelled like an older one takes its id, which changes every count after it.
        # See GrowingVocabulary.join: from single symbols no training gets here.
        vocabulary.take_over(before)
        start = Layout(work.first_ids(), layout.weights)
        return learn_merges_incrementally(start, vocabulary, config, should_stop)
    new_ids = range(work.first_new_id, work.first_new_id + n)
    merges: list[tuple[int, int, int]] = list(zip(lefts, rights, new_ids, strict=True))
    return Learned(merges, work.counts[:n].tolist(), work.saved[:n], work.joined_at, stop_reason)


class _Work:
    """The arrays that the kernels work on, and the calls that keep them large enough."""

    def __init__(
        self, layout: Layout, vocabulary: GrowingVocabulary, config: TrainingConfig
    ) -> None:
        self._row = layout.ids
        self._weights = layout.weights
        self._first_seen = config.tie_break == "first-seen"
        self._max_bytes = config.max_token_bytes or _NO_LIMIT
        self._floor = max(1, config.min_frequency)
        self.first_new_id = len(vocabulary)
        n_slots = self._row.size
        # Each merge takes at least one of the slots, of which some are between words.
        self._wanted = min(config.vocab_size - self.first_new_id, n_slots)
        n_ids = self.first_new_id + self._wanted
        self._lengths = np.ones(n_ids, np.int32)
        self._token_bytes = np.ones(n_ids, np.int32)
        self._token_bytes[: self.first_new_id] = [len(token) for token in vocabulary.tokens]
        self.joined_at = np.full(n_slots, NEVER, np.int32)
        self.merges = np.zeros((self._wanted, 2), np.int32)
        self.counts = np.zeros(self._wanted, np.int64)
        self.saved = np.zeros(self._wanted, np.int64)
        self._done = np.zeros(1, np.int64)
        self._scratch = Scratch(
            merged=np.empty(n_slots // 2 + 1, np.int32),
            befores=np.empty(n_slots // 2 + 1, np.int32),
            afters=np.empty(n_slots // 2 + 1, np.int32),
            count_before=np.zeros(n_ids, np.int64),
            count_after=np.zeros(n_ids, np.int64),
            n_before=np.zeros(n_ids, np.int32),
            n_after=np.zeros(n_ids, np.int32),
            neighbours=np.empty(n_ids, np.int32),
        )
        self._index, self._threshold = self._new_index()

    @property
    def n_done(self) -> int:
        return int(self._done[0])

    def run(self, should_stop: Callable[[int, int, int], bool]) -> StopReason:
        """Learn until there is nothing more to learn, or nobody wants it."""
        told = 0
        a_call = _FEWEST_A_CALL
        while True:
            done = self.n_done
            if done == self._wanted:
                return "vocab-size"
            last_count = int(self.counts[done - 1]) if done else 0
            if should_stop(done, int(self.saved[told:done].sum()), last_count):
                return "cancelled"
            told = done
            started = time.perf_counter()
            status = self._run_merges(min(self._wanted, done + a_call))
            if status == merging.ENOUGH:
                quick = time.perf_counter() - started < SECONDS_A_CALL
                a_call = a_call * 2 if quick else a_call // 2
                a_call = max(_FEWEST_A_CALL, min(_MOST_A_CALL, a_call))
            elif status == merging.SMALL_INDEX:
                best = self._index.heap[0]
                occurrences = int(self._index.ends[best] - self._index.begins[best])
                self._index = _with_room(self._index, 2 * occurrences)
            elif self._threshold > self._floor:
                self._index, self._threshold = self._new_index()
            else:
                return self._why_no_more()

    def first_ids(self) -> NDArray[np.int32]:
        """Give the ids that the row had before the first merge."""
        spelled = [[id] for id in range(self.first_new_id)]
        merged: list[list[int]] = self.merges[: self.n_done].tolist()
        for left, right in merged:
            spelled.append(spelled[left] + spelled[right])
        ids = np.full(self._row.size, pairs.BETWEEN, np.int32)
        slots = np.flatnonzero(self._row >= 0)
        standing: list[int] = self._row[slots].tolist()
        for slot, id in zip(slots.tolist(), standing, strict=True):
            ids[slot : slot + len(spelled[id])] = spelled[id]
        return ids

    def _run_merges(self, until: int) -> int:
        return merging.run_merges(
            self._row,
            self._lengths,
            self._token_bytes,
            self._weights,
            self.joined_at,
            self._index,
            self._scratch,
            self._threshold,
            self._first_seen,
            self._max_bytes,
            self.merges,
            self.counts,
            self.saved,
            self.first_new_id,
            self._done,
            until,
        )

    def _why_no_more(self) -> StopReason:
        return "min-frequency" if self._count_pairs()[1].any() else "no-pairs"

    def _count_pairs(self) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int64]]:
        """Count the row: the pairs' keys, their counts, and how many slots each has."""
        table = np.zeros(_FEWEST_ENTRIES * ENTRY, np.uint64)
        reached = np.zeros(2, np.int64)
        while not pairs.count_row(
            self._row,
            self._lengths,
            self._token_bytes,
            self._weights,
            self._max_bytes,
            table,
            reached,
        ):
            larger = np.zeros(4 * table.size, np.uint64)
            pairs.move_counts(table, larger)
            table = larger
        keys, counts, n_slots, _ = table.reshape(-1, ENTRY)[table[2::ENTRY] > 0].T.copy()
        return keys, counts.view(np.int64), n_slots.view(np.int64)

    def _new_index(self) -> tuple[PairIndex, int]:
        """Count the row anew, and follow the pairs that are not too rare."""
        keys, counts, n_slots = self._count_pairs()
        threshold = max(self._floor, int(counts.max(initial=0)) // _THRESHOLD_SHARE)
        kept = counts >= threshold
        keys, counts, n_slots = keys[kept], counts[kept], n_slots[kept]
        n = keys.size
        table = _table_of(keys, n)
        n_windows = int(n_slots.sum())
        begins = np.cumsum(n_slots) - n_slots
        ends = begins.copy()
        slots = np.empty(n_windows + n_windows // 2 + _SPARE, np.int32)
        pairs.gather_slots(self._row, self._lengths, *table, ends, slots)
        ties = slots[begins].astype(np.uint64) if self._first_seen else keys
        order = np.lexsort((ties, -counts)).astype(np.int32)  # sorted, so it is a heap
        index = PairIndex(
            *table,
            keys=keys,
            counts=counts,
            begins=begins,
            ends=ends,
            slots=slots,
            heap=order,
            heap_counts=counts[order],
            heap_ties=ties[order],
            used=np.array([n, n_windows, n, n]),
        )
        return _with_room(index, _SPARE), threshold


def _table_of(
    keys: NDArray[np.uint64], n_places: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    size = 1 << max(12, (4 * n_places).bit_length())
    table_keys = np.full(size, _FREE, np.uint64)
    table_pairs = np.zeros(size, np.int32)
    pairs.enter_pairs(keys, table_keys, table_pairs)
    return table_keys, table_pairs


def _with_room(index: PairIndex, more: int) -> PairIndex:
    """Give an index in which so many more of each fit."""
    n_pairs, n_slots, n_entries, n_places = index.used.tolist()
    table = index.table_keys, index.table_pairs
    if 2 * (n_places + more) > index.table_keys.size:
        table = _table_of(index.keys[:n_pairs], n_places + more)
    return PairIndex(
        *table,
        keys=longer(index.keys, n_pairs + more),
        counts=longer(index.counts, n_pairs + more),
        begins=longer(index.begins, n_pairs + more),
        ends=longer(index.ends, n_pairs + more),
        slots=longer(index.slots, n_slots + more),
        heap=longer(index.heap, n_entries + more),
        heap_counts=longer(index.heap_counts, n_entries + more),
        heap_ties=longer(index.heap_ties, n_entries + more),
        used=index.used,
    )


def compile_all() -> None:
    """Compile every kernel of this module, by using it."""
    from bpe_core.layout import lay_out

    config = TrainingConfig(258, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    # More pairs than a table of counts has room for at first, so that it is made larger too.
    every_pair = bytes(byte for pair in product(range(64), repeat=2) for byte in pair)
    layout = lay_out([vocabulary.start(every_pair)], [1])
    learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
