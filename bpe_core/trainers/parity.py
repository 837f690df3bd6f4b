"""Parity-aware merges: at each step, the language whose text is the longest picks the pair.

Source: "Parity-Aware Byte-Pair Encoding" (arXiv 2508.04796). Where pairs tie, the one with the
largest text merges, as in the authors' code and in the `ParityBpeTrainer` of `tokenizers`.
`learn_parity_reference` is plain Python; `learn_parity` learns the same merges with a kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting import NEVER, Layout, join_layouts
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
from bpe_core.trainers.continued import AllowedPairs
from bpe_core.trainers.incremental import LearnedMerges, MergeState
from bpe_core.trainers.indexing import SPARE, build_index, count_pairs, cut_row, with_room
from bpe_core.trainers.pair_tables import unpack_pair
from bpe_core.types import StopReason, TrainingConfig
from bpe_core.unicode import BYTE_TO_CHARACTER, to_printable

TOGETHER = -1
"""In `LearnedParity.picked`: all languages chose the merge together."""


@dataclass(frozen=True, slots=True)
class ParityRule:
    """How the languages take turns.

    >>> ParityRule(window=100, alpha=2.0).most_recent(8)
    25
    """

    hybrid_merges: int = 0
    """How many merges all languages choose together first."""
    window: int | None = None
    """A language waits that picked more than its share of this many merges; None: none waits."""
    alpha: float = 2.0
    """That share is alpha / n_languages."""

    def most_recent(self, n_languages: int) -> int:
        """Return how many of the last `window` merges a language may have picked to pick again."""
        return int(min(self.alpha / n_languages * (self.window or 0), self.window or 0))


@dataclass(frozen=True, slots=True)
class LearnedParity:
    """The merges, and what they did to each language."""

    merges: LearnedMerges
    """Their counts are those in all training texts, in which `joined_at` has their places."""
    picked: NDArray[np.int32]
    """int32[n_merges]: the number of the language that picked, or TOGETHER."""
    lengths: NDArray[np.int64]
    """int64[n_languages, n_merges + 1]: the tokens of each measured text after so many merges."""


def learn_parity_reference(
    training: Sequence[Layout],
    measured: Sequence[Layout] | None,
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    rule: ParityRule,
    should_stop: Callable[[int, int, int], bool],
) -> LearnedParity:
    """Learn merges from the words of each language, so that none needs far more tokens than others.

    `measured` are the words that a language's tokens are counted in, by default those that it is
    trained on. `should_stop` is called as by `incremental.learn_merges`.

    >>> from bpe_core.counting import lay_out
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [lay_out([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
    >>> found = learn_parity_reference(
    ...     words, None, vocabulary, config, ParityRule(), lambda done, saved, count: False
    ... )
    >>> found.merges.merges, found.picked.tolist(), found.lengths.tolist()
    ([(64, 65, 256), (84, 70, 257)], [1, 0], [[3, 3, 2], [4, 2, 2]])
    """
    states = [_Pairs(each, vocabulary, config) for each in training]
    counted = all_states = states
    if measured is not None:
        counted = [_Pairs(each, vocabulary, config) for each in measured]
        all_states = [*states, *counted]
    together = None
    if rule.hybrid_merges:
        together = _Pairs(join_layouts(training), vocabulary, config)
        all_states = [*all_states, together]
    merges: list[tuple[int, int, int]] = []
    counts: list[int] = []
    saved: list[int] = []
    picked: list[int] = []
    recent: list[int] = []
    is_open = [True] * len(states)
    lengths = [[each.n_tokens for each in counted]]
    stop_reason: StopReason = "vocab-size"
    while len(vocabulary) < config.vocab_size:
        if should_stop(len(merges), saved[-1] if saved else 0, counts[-1] if counts else 0):
            stop_reason = "cancelled"
            break
        picker = TOGETHER
        if len(merges) < rule.hybrid_merges and together is not None:
            best = together.best()
        else:
            if not any(is_open):
                best = None
            else:
                picker = _next(lengths[-1], is_open, recent, rule)
                recent.append(picker)
                best = states[picker].best()
                if best is None:
                    is_open[picker] = False
                    continue
        if best is None:
            has_pairs = any(each.state.counts for each in states)
            stop_reason = "min-frequency" if has_pairs else "no-pairs"
            break
        left, right = unpack_pair(best)
        new_id = vocabulary.join(left, right)
        merges.append((left, right, new_id))
        counts.append(sum(each.state.counts.get(best, 0) for each in states))
        picked.append(picker)
        for each in all_states:
            each.merge(left, right, new_id)
        saved.append(sum(each.state.joined_weight for each in states))
        lengths.append([each.n_tokens for each in counted])
    joined_at = [each.state.joined_at()[1:] for each in states]
    joined_at = np.concatenate([states[0].state.joined_at()[:1], *joined_at])
    learned = LearnedMerges(merges, counts, np.array(saved, np.int64), joined_at, stop_reason)
    return LearnedParity(learned, np.array(picked, np.int32), np.array(lengths, np.int64).T.copy())


class _Pairs:
    """The pairs of one language, and the number of its tokens."""

    def __init__(
        self, layout: Layout, vocabulary: GrowingVocabulary, config: TrainingConfig
    ) -> None:
        self.state = MergeState(layout, AllowedPairs(vocabulary.tokens, config.max_token_bytes))
        self.n_tokens = layout.n_symbols
        self._tokens = vocabulary.tokens
        self._least = max(1, config.min_frequency)

    def best(self) -> int | None:
        """Return the most frequent pair, of equal ones that with the largest text; or None."""
        counts = self.state.counts
        most = max(counts.values(), default=0)
        if most < self._least:
            return None
        return max((key for key, count in counts.items() if count == most), key=self._text)

    def merge(self, left: int, right: int, new_id: int) -> None:
        """Join a pair wherever it occurs."""
        self.state.merge(left, right, new_id)
        self.n_tokens -= self.state.joined_weight

    def _text(self, key: int) -> tuple[str, str]:
        left, right = unpack_pair(key)
        return to_printable(self._tokens[left]), to_printable(self._tokens[right])


def _next(lengths: list[int], is_open: list[bool], recent: list[int], rule: ParityRule) -> int:
    """Return the language whose text is the longest now, the first of equal ones.

    If all that have pairs wait, it is the first language, even if it has none: its turns move the
    window on, as in `tokenizers`.
    """
    left = [number for number, each in enumerate(is_open) if each]
    if rule.window is not None:
        last = recent[-rule.window :]
        most = rule.most_recent(len(lengths))
        left = [number for number in left if last.count(number) <= most]
    return max(left, key=lengths.__getitem__, default=0)


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

    >>> from bpe_core.counting import lay_out
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [lay_out([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
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
            texts = [join_layouts(each) for each in (training, measured) if each]
            self._languages = self._apart._replace(
                n=1,
                first_measured=len(texts) - 1,
                n_texts=len(texts),
                together=self._ends[self._apart.first_measured :][:n],
            )
        layout = join_layouts(texts, self._languages.width)
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
    from bpe_core.counting import lay_out

    config = TrainingConfig(258, special_tokens=())
    vocabulary = GrowingVocabulary(config, ())
    words: list[Layout] = [lay_out([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
    rule = ParityRule(hybrid_merges=1, window=2)
    learn_parity(words, words, vocabulary, config, rule, lambda done, saved, count: False)
