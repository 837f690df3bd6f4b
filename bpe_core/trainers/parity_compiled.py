"""The compiled trainer of parity-aware merges: `parity.learn_parity_reference`, by a kernel.

Apart from it, because what learns in plain Python loads no kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bpe_core.corpus import NEVER, Layout
from bpe_core.kernels import (
    ENTRIES,
    PAIRS,
    Heaps,
    Languages,
    PairIndex,
    ParityLog,
    Texts,
    Turns,
    longer,
    merging,
    parity_merging,
    without_garbage_collection,
)
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.compiled import MergeWork
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.indexing import SPARE, build_index, count_pairs, cut_row, with_room
from bpe_core.trainers.parity import LearnedParity, ParityRule
from bpe_core.types import StopReason, TrainingConfig
from bpe_core.unicode import BYTE_TO_CHARACTER

_SPARE_LETTERS = 16  # of each token; more are made when they are needed
_IN_ORDER = np.argsort(np.argsort([ord(each) for each in BYTE_TO_CHARACTER])).astype(np.uint8)
"""uint8[256]: each byte as a number that sorts like its printable character."""


def learn_parity(
    training: Sequence[Layout],
    measured: Sequence[Layout] | None,
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    rule: ParityRule,
    should_stop: Callable[[int, int, int], bool],
) -> LearnedParity:
    """Learn the same merges as `learn_parity_reference`, from the same arguments.

    `should_stop` is called about every 20 ms, as by `compiled.learn_merges`.

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
    >>> never = lambda done, saved, count: False
    >>> learn_parity(words, None, vocabulary, config, ParityRule(), never).picked.tolist()
    [1, 0]
    """
    work = _ParityWork(training, measured, vocabulary, config, rule)
    stop_reason = work.run(should_stop)
    with without_garbage_collection():
        vocabulary.join_new(zip(*work.merged(), strict=True))
        return work.learned(stop_reason)


class _ParityWork(MergeWork[ParityLog]):
    """The work of several languages."""

    def __init__(
        self,
        training: Sequence[Layout],
        measured: Sequence[Layout] | None,
        vocabulary: GrowingVocabulary,
        config: TrainingConfig,
        rule: ParityRule,
    ) -> None:
        n, first_id = len(training), vocabulary.next_id
        texts = [*training, *(measured or ())]
        counted = measured or training
        self._ends = 1 + np.cumsum([each.ids.size - 1 for each in texts])
        self._n_slots = int(self._ends[n - 1])
        # Each merge uses up at least one slot.
        n_merges = min(config.vocab_size - len(vocabulary), self._n_slots)
        self._languages = Languages(
            width=first_id + n_merges,
            n=n,
            first_measured=0 if measured is None else n,
            n_texts=len(texts),
            together=np.empty(0, np.int64),
        )
        log = ParityLog(
            pairs=np.zeros((n_merges, 2), np.int32),
            counts=np.zeros(n_merges, np.int64),
            saved=np.zeros(n_merges, np.int64),
            picked=np.zeros(n_merges, np.int32),
            lengths=np.zeros((n_merges, n), np.int64),
            n_done=np.zeros(1, np.int64),
            needed=np.zeros(2, np.int64),
            first_id=first_id,
        )
        self._apart, self._n_together = self._languages, rule.hybrid_merges
        if rule.hybrid_merges:
            texts = [Layout.joined(each) for each in (training, measured) if each]
            self._languages = self._apart._replace(
                n=1,
                first_measured=len(texts) - 1,
                n_texts=len(texts),
                together=self._ends[self._apart.first_measured :][:n],
            )
        layout = Layout.joined(texts, self._languages.width)
        super().__init__(layout, self._apart.width * self._apart.n_texts, n_merges, log, config)
        self._texts = _texts(vocabulary.tokens, self._languages.width)
        self._start = np.array([each.n_symbols for each in counted], np.int64)
        self._turns = Turns(
            lengths=self._start.copy(),
            is_open=np.ones(n, np.uint8),
            recent=np.zeros(rule.window or 0, np.int32),
            n_recent=np.zeros(n, np.int64),
            n_turns=np.zeros(1, np.int64),
            most_recent=rule.most_recent(n),
        )
        self._index, self._heaps = self._indexed()

    def _indexed(self) -> tuple[PairIndex, Heaps]:
        """Return an index of the row's pairs, and the heaps of the texts that pick."""
        parts = cut_row(self._row)
        found = count_pairs(self._row, self._tokens, self._rule.max_token_bytes, parts)
        # All pairs: one that is rare in a language may be picked by another.
        index = build_index(self._row, self._tokens, parts, found, threshold=1)
        index.used[ENTRIES] = 0  # the heaps have them
        index = with_room(index, SPARE, SPARE)
        n_pairs = index.keys.size
        heaps = Heaps(
            roots=np.full(self._languages.n_texts, -1, np.int32),
            children=np.empty(n_pairs, np.int32),
            siblings=np.empty(n_pairs, np.int32),
            counts=np.empty(n_pairs, np.int64),
        )
        parity_merging.fill_heaps(heaps, index, self._texts, self._languages)
        return index, heaps

    def _set_apart(self) -> None:
        """Give each text the ids that are its own, once all languages have chosen together."""
        width, n, n_texts = self._apart.width, self._apart.n, self._apart.n_texts
        more = np.arange(n_texts, dtype=np.int32) * np.int32(width)
        more[n:] -= width  # the texts that are only measured have had ids apart from the others
        parity_merging.set_apart(self._row, self._ends, more)
        for lengths in self._tokens:
            lengths.reshape(n_texts, width)[1:] = lengths[:width]
        self._languages = self._apart
        self._index, self._heaps = self._indexed()

    def learned(self, stop_reason: StopReason) -> LearnedParity:
        """Return the result, which takes over the row."""
        n, log = self.n_done, self._log
        row = self._row._replace(ids=self._row.ids[: self._n_slots])
        merging.list_ranks(row, self._tokens, NEVER)
        counts: list[int] = log.counts[:n].tolist()
        found = LearnedMerges(self.new_merges(), counts, log.saved[:n], row.ids.copy(), stop_reason)
        lengths = np.vstack([self._start[None], log.lengths[:n]]).T.copy()
        return LearnedParity(found, log.picked[:n].copy(), lengths)

    def _exhausted_because(self) -> StopReason:
        n_pairs = self._index.used[PAIRS]
        left = self._index.keys[:n_pairs] >> np.uint64(32)
        in_training = left < np.uint64(self._languages.width * self._languages.n)
        has_pairs = self._index.counts[:n_pairs][in_training].any()
        return "min-frequency" if has_pairs else "no-pairs"

    def _call_kernel(self, until: int) -> int:
        if self._languages.together.size:
            if self.n_done < self._n_together:
                until = min(until, self._n_together)
            else:
                self._set_apart()
        return parity_merging.run_parity(
            self._row,
            self._tokens,
            self._index,
            self._rule,
            self._heaps,
            self._texts,
            self._languages,
            self._turns,
            self._log,
            self._scratch,
            self._floor,
            until,
        )

    def _continue_after(self, status: int) -> StopReason | None:
        if status == parity_merging.SMALL_INDEX:
            self._make_room()
        elif status == parity_merging.SMALL_TEXTS:
            letters = longer(self._texts.letters, 2 * self._texts.letters.size)
            self._texts = self._texts._replace(letters=letters)
        else:
            return self._exhausted_because()
        return None

    def _make_room(self) -> None:
        """Enlarge the index and the heaps for the next merge."""
        n_pairs, n_slots = self._log.needed.tolist()
        self._index = with_room(self._index, n_pairs, n_slots)
        n_pairs = self._index.keys.size
        heaps = self._heaps
        self._heaps = heaps._replace(
            children=longer(heaps.children, n_pairs),
            siblings=longer(heaps.siblings, n_pairs),
            counts=longer(heaps.counts, n_pairs),
        )


def _texts(tokens: Sequence[bytes], width: int) -> Texts:
    """Return the texts of the tokens before the first merge, with room for more."""
    spelled = np.frombuffer(b"".join(tokens), np.uint8)
    letters = np.zeros(spelled.size + _SPARE_LETTERS * width, np.uint8)
    letters[: spelled.size] = _IN_ORDER[spelled]
    ends = np.zeros(width + 1, np.int64)
    ends[1 : len(tokens) + 1] = np.cumsum([len(token) for token in tokens])
    return Texts(letters, ends)


def compile_all() -> None:
    """Compile every kernel of this module by using it."""
    from bpe_core.corpus import Layout

    config = TrainingConfig(258, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    words: list[Layout] = [
        Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")
    ]
    rule = ParityRule(hybrid_merges=1, window=2)
    learn_parity(words, words, vocabulary, config, rule, lambda done, saved, count: False)
