"""Parity-aware merges: at each step, the language whose text is the longest picks the pair.

Source: "Parity-Aware Byte-Pair Encoding" (arXiv 2508.04796). Where pairs tie, the one with the
largest text merges, as in the authors' code and in the `ParityBpeTrainer` of `tokenizers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import Layout
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.continued import AllowedPairs
from bpe_core.trainers.incremental import LearnedMerges, MergeState
from bpe_core.trainers.pair_tables import unpack_pair
from bpe_core.types import StopReason, TrainingConfig
from bpe_core.unicode import to_printable

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

    >>> from bpe_core.corpus import Layout
    >>> config = TrainingConfig(258, special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, ())
    >>> words = [Layout.of_words([vocabulary.start(each)], [1]) for each in (b"hug", b"abab")]
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
        together = _Pairs(Layout.joined(training), vocabulary, config)
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
