"""Call the kernel of PickyBPE, with the arrays that all calls of a training share.

`learning` does the same for trainings that remove no tokens.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import picky_merging
from bpe_core.kernels.for_callers import longer
from bpe_core.kernels.indexing import (
    SPARE,
    build_index,
    build_table,
    count_pairs,
    cut_row,
    with_heap,
    with_room,
)
from bpe_core.kernels.learning import NEVER, GrowingTokens, Outcome, Words, pack_weights
from bpe_core.kernels.picky_merging import PickyLog, PickyRow, PickyScratch, PickyTokens
from bpe_core.kernels.row import Row, Tokens

FREED: Final = -3
"""FREED - rank, in a row of PickyBPE, marks a slot that the merge of that rank joined."""
_NO_LIMIT: Final = int(np.iinfo(np.int32).max)
_OUTCOMES: Final[dict[int, Outcome]] = {
    picky_merging.ENOUGH: "learned",
    picky_merging.FULL: "vocab-size",
    picky_merging.NO_PAIRS: "no-pairs",
    picky_merging.RARE: "min-frequency",
}


class PickyLearning:
    """The work of one text; its arrays are enlarged when the kernel runs out of room."""

    def __init__(
        self,
        words: Words,
        weights: NDArray[np.int64],
        vocabulary: GrowingTokens,
        hashes: NDArray[np.uint64],
        factors: NDArray[np.uint64],
        *,
        vocab_size: int,
        most: float,
    ) -> None:
        """Begin with the weight of each slot, and the hash and factor of each token.

        A token is removed of which at least `most` of the uses go into a merge.
        """
        self._vocabulary, self._words, self._vocab_size = vocabulary, words, vocab_size
        self._longest = words.max_token_bytes or _NO_LIMIT
        self._n_named = 0
        ids, n_slots, n_ids = words.ids, words.ids.size, vocabulary.next_id
        around = np.arange(-1, n_slots + 1, dtype=np.int32)
        since = np.full(n_slots, -1, np.int32)
        self._row = PickyRow(ids, around[:-2].copy(), around[2:].copy(), weights, since)
        n_bytes = np.fromiter(map(len, vocabulary.tokens), np.int32, n_ids)
        none, uses = np.full(n_ids, -1, np.int32), np.zeros(n_ids, np.int64)
        np.add.at(uses, ids[ids >= 0], weights[ids >= 0])
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
        row, lengths = Row(ids, *pack_weights(words.counts)), np.ones(n_ids, np.int32)
        tokens, parts = Tokens(lengths, n_bytes, lengths), cut_row(row)
        found = count_pairs(row, tokens, self._longest, parts)
        index = build_index(row, tokens, parts, found, 1)
        n_nodes = int(index.ends[-1]) if index.ends.size else 0
        index.places[1 : 2 * n_nodes : 2] = np.arange(1, n_nodes + 1)
        index.ends[:] -= 1
        index.places[2 * index.ends + 1] = -1
        self._index = with_heap(index, first_seen=words.first_seen)
        n_pairs = index.keys.size
        self._scratch = PickyScratch(
            slots=np.empty(n_slots, np.int32),
            form=np.empty(n_slots, np.int32),
            stack=np.empty(2 * n_slots + 2, np.int32),
            touched=np.empty(n_pairs, np.int32),
            marks=np.zeros(n_pairs, np.uint8),
            n_touched=np.zeros(1, np.int64),
        )
        empty, share = np.empty(0, np.int32), np.array([most], np.float64)
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

    @property
    def n_wanted(self) -> int:
        """No limit: each removal makes room for one more merge."""
        return _NO_LIMIT

    @property
    def counts(self) -> NDArray[np.int64]:
        """How often each pair occurred when it was merged."""
        return self._log.counts[: self.n_done]

    @property
    def saved(self) -> NDArray[np.int64]:
        """By how many tokens each merge shortened the words."""
        return self._log.saved[: self.n_done]

    @property
    def removals(self) -> list[tuple[int, int]]:
        """The number of merges done, and the id, of each token that was removed again."""
        removals = self._log.removals[: 2 * self._log.used[picky_merging.N_REMOVALS]]
        return [(done, id) for done, id in removals.reshape(-1, 2).tolist()]

    def ranks(self) -> NDArray[np.int32]:
        """Return the rank of the merge that joined each slot to the one before."""
        symbols = self._row.symbols
        return np.where(symbols <= FREED, FREED - symbols, NEVER).astype(np.int32)

    def undone(self) -> NDArray[np.int32]:
        """Return the joints that removals undid or made, and since when until when."""
        undone = self._log.undone[: 4 * self._log.used[picky_merging.N_UNDONE]].reshape(-1, 4)
        slots = np.flatnonzero(self._row.since >= 0)
        ranks, since = FREED - self._row.symbols[slots], self._row.since[slots]
        last = np.stack([slots, ranks, since, np.full(slots.size, NEVER)], axis=1)
        found = np.concatenate([undone, last.astype(np.int32)])
        return found[np.lexsort(found.T[::-1])]

    def learn(self, until: int) -> Outcome:
        """Learn until there are `until` merges, in as many calls as that needs."""
        status = picky_merging.run_picky(
            *(self._row, self._tokens, self._index, self._log, self._scratch),
            *(self._words.first_seen, self._longest, self._words.min_frequency),
            *(self._vocab_size, until),
        )
        if status == picky_merging.SMALL:
            self._enlarge()
        elif status == picky_merging.SPELLED:
            self.name_new_tokens()
            left, right = divmod(int(self._index.keys[self._index.heap[0]]), 1 << 32)
            self._log.used[picky_merging.GIVEN] = self._vocabulary.join(left, right)
        else:
            return _OUTCOMES[status]
        return "interrupted"

    def name_new_tokens(self) -> None:
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
