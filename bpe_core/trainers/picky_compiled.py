"""The compiled trainer of PickyBPE: `incremental.learn_merges` with a `PickyState`, by a kernel.

Apart from it, because what learns in plain Python loads no kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.kernels import (
    PickyLog,
    PickyRow,
    PickyScratch,
    PickyTokens,
    Row,
    Tokens,
    longer,
    picky_merging,
    without_garbage_collection,
)
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.compiled import MergeWork, pack_weights
from bpe_core.trainers.continued import ContinuedVocabulary, hash_tokens
from bpe_core.trainers.incremental import FREED, LearnedMerges
from bpe_core.trainers.indexing import (
    SPARE,
    build_index,
    build_table,
    count_pairs,
    cut_row,
    with_room,
)
from bpe_core.trainers.pair_tables import goes_by_slot, order_pairs
from bpe_core.types import StopReason, TrainingConfig

_NO_LIMIT = int(np.iinfo(np.int32).max)
_STOPS: dict[int, StopReason] = {
    picky_merging.FULL: "vocab-size",
    picky_merging.NO_PAIRS: "no-pairs",
    picky_merging.RARE: "min-frequency",
}


def learn_merges(
    layout: Layout,
    vocabulary: GrowingVocabulary | ContinuedVocabulary,
    config: TrainingConfig,
    should_stop: Callable[[int, int, int], bool],
    done: list[tuple[int, int, int]] | None = None,
) -> LearnedMerges:
    """Learn the same merges and removals as in plain Python, from the same arguments.

    `should_stop` is called about every 20 ms, as by `compiled.learn_merges`.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(6, base="characters", special_tokens=(), picky=0.9)
    >>> vocabulary = GrowingVocabulary(config, [b"a", b"b", b"c", b"d"])
    >>> layout = Layout.of_words([[0, 1, 2], [0, 1], [3, 2]], [20, 1, 3])
    >>> found = learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
    >>> found.merges, found.removals
    ([(0, 1, 4), (4, 2, 5), (3, 2, 6)], [(2, 4)])
    """
    work = _PickyWork(layout, vocabulary, config)
    stop_reason = work.run(should_stop, done)
    with without_garbage_collection():
        return work.learned(stop_reason)


class _PickyWork(MergeWork[Any]):
    """The work of one text; its arrays are enlarged when the kernel runs out of room."""

    def __init__(
        self,
        layout: Layout,
        vocabulary: GrowingVocabulary | ContinuedVocabulary,
        config: TrainingConfig,
    ) -> None:
        self._vocabulary, self._config = vocabulary, config
        self._wanted = _NO_LIMIT  # each removal makes room for one more
        self._longest = config.max_token_bytes or _NO_LIMIT
        self._n_named = 0
        ids, n_slots, n_ids = layout.ids, layout.ids.size, vocabulary.next_id
        around = np.arange(-1, n_slots + 1, dtype=np.int32)
        weights = layout.weights().astype(np.int64)
        since = np.full(n_slots, -1, np.int32)
        self._row = PickyRow(ids, around[:-2].copy(), around[2:].copy(), weights, since)
        n_bytes = np.fromiter(map(len, vocabulary.tokens), np.int32, n_ids)
        none, uses = np.full(n_ids, -1, np.int32), np.zeros(n_ids, np.int64)
        np.add.at(uses, ids[ids >= 0], weights[ids >= 0])
        hashes, factors = hash_tokens(vocabulary.tokens)
        self._tokens = PickyTokens(
            n_bytes=n_bytes,
            lefts=none,
            rights=none,
            ranks=none,
            uses=uses,
            is_removed=np.zeros(n_ids, np.uint8),
            firsts=none.astype(np.int64),
            lasts=none.astype(np.int64),
            hashes=hashes,
            factors=factors,
            known=build_table(hashes),
        )
        # All pairs are counted and indexed, as by the plain trainer; then their slots are linked.
        row, lengths = Row(ids, *pack_weights(layout.counts)), np.ones(n_ids, np.int32)
        tokens, parts = Tokens(lengths, n_bytes, lengths), cut_row(row)
        found = count_pairs(row, tokens, self._longest, parts)
        index = build_index(row, tokens, parts, found, 1)
        n_nodes = int(index.ends[-1]) if index.ends.size else 0
        index.places[1 : 2 * n_nodes : 2] = np.arange(1, n_nodes + 1)
        index.ends[:] -= 1
        index.places[2 * index.ends + 1] = -1
        first_slots = index.places[2 * index.begins].astype(np.uint64)
        ties = first_slots if goes_by_slot(config.tie_break) else index.keys
        order = order_pairs(index.counts, ties).astype(np.int32)  # sorted, so it is a heap
        self._index = index._replace(
            heap=order, heap_counts=index.counts[order], heap_ties=ties[order]
        )
        n_pairs = index.keys.size
        self._scratch = PickyScratch(
            slots=np.empty(n_slots, np.int32),
            form=np.empty(n_slots, np.int32),
            stack=np.empty(2 * n_slots + 2, np.int32),
            touched=np.empty(n_pairs, np.int32),
            marks=np.zeros(n_pairs, np.uint8),
            n_touched=np.zeros(1, np.int64),
        )
        empty, share = np.empty(0, np.int32), np.array([config.picky], np.float64)
        used = np.array([0, 0, 0, n_ids, 0, -1, SPARE, SPARE, SPARE])
        counts = np.empty(0, np.int64)
        self._log = PickyLog(empty, counts, counts, empty, empty, used, share)
        self._enlarge()

    @property
    def n_done(self) -> int:
        """The number of merges so far."""
        return int(self._log.used[picky_merging.N_MERGES])

    def new_merges(self, first: int = 0) -> list[tuple[int, int, int]]:
        """Return the merges so far, from rank `first` on, as (left, right, new id)."""
        rows = self._log.merges[3 * first : 3 * self.n_done].reshape(-1, 3)
        return [(left, right, new) for left, right, new in rows.tolist()]

    def learned(self, stop_reason: StopReason) -> LearnedMerges:
        """Return the result."""
        self._name_new_tokens()
        log, n, symbols = self._log, self.n_done, self._row.symbols
        removals = log.removals[: 2 * log.used[picky_merging.N_REMOVALS]].reshape(-1, 2)
        return LearnedMerges(
            self.new_merges(),
            log.counts[:n].tolist(),
            log.saved[:n],
            np.where(symbols <= FREED, FREED - symbols, NEVER).astype(np.int32),
            stop_reason,
            [(done, id) for done, id in removals.tolist()],
            self._undone(),
        )

    def _undone(self) -> NDArray[np.int32]:
        undone = self._log.undone[: 4 * self._log.used[picky_merging.N_UNDONE]].reshape(-1, 4)
        slots = np.flatnonzero(self._row.since >= 0)
        ranks, since = FREED - self._row.symbols[slots], self._row.since[slots]
        last = np.stack([slots, ranks, since, np.full(slots.size, NEVER)], axis=1)
        found = np.concatenate([undone, last.astype(np.int32)])
        return found[np.lexsort(found.T[::-1])]

    def _call_kernel(self, until: int) -> int:
        return picky_merging.run_picky(
            *(self._row, self._tokens, self._index, self._log, self._scratch),
            *(goes_by_slot(self._config.tie_break), self._longest, self._config.min_frequency),
            *(self._config.vocab_size, until),
        )

    def _continue_after(self, status: int) -> StopReason | None:
        if status == picky_merging.SMALL:
            self._enlarge()
        elif status == picky_merging.SPELLED:
            self._name_new_tokens()
            left, right = divmod(int(self._index.keys[self._index.heap[0]]), 1 << 32)
            self._log.used[picky_merging.GIVEN] = self._vocabulary.join(left, right)
        return _STOPS.get(status)

    def _name_new_tokens(self) -> None:
        """Add the tokens of all merges so far to the vocabulary."""
        for left, right, _ in self.new_merges(self._n_named):
            self._vocabulary.join(left, right)
        self._n_named = self.n_done

    def _enlarge(self) -> None:
        """Make room for the next merge, and for twice as many as there were."""
        used = self._log.used
        self._index = with_room(
            self._index, int(used[picky_merging.NEW_PAIRS]), int(used[picky_merging.NEW_SLOTS])
        )
        n_pairs, n_ids = self._index.keys.size, 2 * int(used[picky_merging.N_IDS]) + 2
        grown: dict[str, Any] = {
            name: longer(each, n_ids) for name, each in self._tokens._asdict().items()
        }
        grown["known"] = build_table(self._tokens.hashes[: used[picky_merging.N_IDS]])
        self._tokens = PickyTokens(**grown)
        scratch, log, n = self._scratch, self._log, 2 * self.n_done + SPARE
        self._scratch = scratch._replace(
            touched=longer(scratch.touched, n_pairs), marks=longer(scratch.marks, n_pairs)
        )
        self._log = log._replace(
            merges=longer(log.merges, 3 * n),
            counts=longer(log.counts, n),
            saved=longer(log.saved, n),
            removals=longer(log.removals, 2 * (n + 2)),
            undone=longer(
                log.undone, 4 * int(used[picky_merging.N_UNDONE] + used[picky_merging.NEW_UNDONE])
            ),
        )


def compile_all() -> None:
    """Compile every kernel of this module by using it."""
    config = TrainingConfig(6, base="characters", special_tokens=(), picky=0.9)
    vocabulary = GrowingVocabulary(config, [b"a", b"b", b"c", b"d"])
    layout = Layout.of_words([[0, 1, 2], [0, 1], [3, 2]], [20, 1, 3])
    learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
