"""Parity-aware training: at each step, the language whose text is the longest picks the merge.

Source: "Parity-Aware Byte-Pair Encoding" (arXiv 2508.04796). Where pairs tie, the one with the
largest text merges, as in the authors' code and in the `ParityBpeTrainer` of `tokenizers`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np

from bpe_core.checks import check_whole, is_a
from bpe_core.corpus import Corpus, to_corpus
from bpe_core.counting import Layout, count_pretokens, lay_out_pretokens
from bpe_core.errors import ConfigError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.runs import Watch, check_config
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import AllowedPairs, GrowingVocabulary, MergeState, unpack_pair
from bpe_core.types import PretokenCounts, TrainingConfig, TrainingProgress
from bpe_core.unicode import to_printable

_ALL = ""
"""In `ParityRun.picked_by`: all languages chose the merge together."""


@dataclass(frozen=True, slots=True)
class ParityRun:
    """The result of parity-aware training."""

    tokenizer: Tokenizer
    picked_by: tuple[str, ...]
    """The language that picked each merge; "" for those that all chose together."""
    lengths: Mapping[str, tuple[int, ...]]
    """For each language, the tokens of its development text before each merge and at the end."""


def train_parity(
    corpora: Mapping[str, Corpus | Iterable[str]],
    config: TrainingConfig,
    development: Mapping[str, Corpus | Iterable[str]] | None = None,
    *,
    hybrid_merges: int = 0,
    window: int | None = None,
    alpha: float = 2.0,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> ParityRun:
    """Train one tokenizer for several languages, so that none needs far more tokens than others.

    `corpora` and `development` have a text for each language. The development text should say the
    same in each; without it, the training text is measured. The first `hybrid_merges` are chosen
    by all languages together. With a `window`, a language waits that picked more than
    `alpha / n_languages` of the last `window` merges.

    Merges are equal to those of `tokenizers`' `ParityBpeTrainer` on the same pre-tokens. With a
    window, that trainer does not always end if a language runs out of pairs; this one does.
    Raises `ConfigError` for a base of characters, "first-seen" ties, an `alpha` below 1, or
    languages that do not match.

    >>> texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
    >>> run = train_parity(texts, TrainingConfig(259, special_tokens=()))
    >>> run.picked_by, [run.tokenizer.vocab[merge.id] for merge in run.tokenizer.merges]
    (('xx', 'en', 'xx'), [b'ab', b'ug', b'abab'])
    """
    _check(corpora, config, development)
    check_whole("hybrid_merges", hybrid_merges, 0)
    if window is not None:
        check_whole("window", window, 1)
        if not is_a(alpha, Real) or not alpha >= 1:
            raise ConfigError(
                f"Expected alpha as a number from 1, got {alpha!r}. With 1, a language waits that "
                "picked more than its share; the usual is 2."
            )
    started = time.perf_counter()
    vocabulary = GrowingVocabulary(config, ())
    watch = Watch(config.vocab_size - len(vocabulary), started, on_progress, should_stop)
    cut = get_pretokenizer(config.pretokenizer)

    def lay_out(words: Iterable[PretokenCounts]) -> Layout:
        """Lay out the words of several texts in one row."""
        rows = [lay_out_pretokens(each, config.base, vocabulary.base_ids) for each in words]
        ids = np.concatenate([rows[0].ids, *(row.ids[1:] for row in rows[1:])])
        return Layout(ids, np.concatenate([row.counts for row in rows]))

    words = [count_pretokens(to_corpus(text), cut) for text in corpora.values()]
    training = [_Pairs(lay_out([each]), vocabulary, config) for each in words]
    measured = training
    if development is not None:
        texts = (count_pretokens(to_corpus(development[name]), cut) for name in corpora)
        measured = [_Pairs(lay_out([each]), vocabulary, config) for each in texts]
    together = _Pairs(lay_out(words), vocabulary, config) if hybrid_merges else None
    states = [*training, *(measured if development is not None else ())]
    states += [together] if together is not None else []
    names = [*corpora]
    merges: list[tuple[int, int, int]] = []
    counts: list[int] = []
    picked: list[str] = []
    recent: list[int] = []
    is_open = [True] * len(names)
    lengths = [[each.n_tokens] for each in measured]
    while len(vocabulary) < config.vocab_size:
        if watch.look(len(merges), 0, counts[-1] if counts else 0):
            break
        picker = None
        if len(merges) < hybrid_merges and together is not None:
            best = together.best()
        else:
            if not any(is_open):
                break
            picker = _next(lengths, is_open, recent, window, alpha)
            recent.append(picker)
            best = training[picker].best()
            if best is None:
                is_open[picker] = False
                continue
        if best is None:
            break
        left, right = unpack_pair(best)
        new_id = vocabulary.join(left, right)
        merges.append((left, right, new_id))
        counts.append(sum(each.state.counts.get(best, 0) for each in training))
        picked.append(_ALL if picker is None else names[picker])
        for each in states:
            each.merge(left, right, new_id)
        for so_far, each in zip(lengths, measured, strict=True):
            so_far.append(each.n_tokens)
    tokenizer = Tokenizer(
        vocab=dict(enumerate(vocabulary.tokens)),
        merges=merges,
        pretokenizer=config.pretokenizer,
        special_tokens=vocabulary.special_tokens,
        counts=counts,
    )
    by_name = zip(names, map(tuple, lengths), strict=True)
    return ParityRun(tokenizer, tuple(picked), dict(by_name))


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


def _next(
    lengths: list[list[int]],
    is_open: list[bool],
    recent: list[int],
    window: int | None,
    alpha: float,
) -> int:
    """Return the language whose text is the longest now, the first of equal ones.

    If all that have pairs wait, it is the first language, even if it has none: its turns move the
    window on, as in `tokenizers`.
    """
    left = [number for number, each in enumerate(is_open) if each]
    if window is not None:
        last = recent[-window:]
        most = alpha / len(lengths) * window
        left = [number for number in left if last.count(number) <= most]
    return max(left, key=lambda number: lengths[number][-1], default=0)


def _check(
    corpora: Mapping[str, object],
    config: TrainingConfig,
    development: Mapping[str, object] | None,
) -> None:
    check_config(config)
    if len(corpora) < 2:
        raise ConfigError(
            f"Parity-aware training balances languages, got {len(corpora)}. Give two or more, "
            "such as {'en': corpus, 'hi': corpus}."
        )
    if development is not None and development.keys() != corpora.keys():
        other = min(development.keys() ^ corpora.keys())
        raise ConfigError(
            f"{other!r} is in only one of corpora and development. Give both for each language."
        )
    if config.base != "bytes" or config.alphabet != "full" or config.end_of_word is not None:
        raise ConfigError(
            "Parity-aware training needs base='bytes', alphabet='full' and end_of_word=None."
        )
    if config.tie_break != "smallest-pair":
        raise ConfigError("Parity-aware training has its own tie rule. Leave tie_break as it is.")
    others = (config.superwords_from, config.seeds, config.vetoes, config.whole_characters)
    if any(others):
        raise ConfigError(
            "Parity-aware training takes no superwords, seeds, vetoes or whole_characters."
        )
