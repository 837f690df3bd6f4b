"""Parity-aware training: at each step, the language whose text is the longest picks the merge.

Source: "Parity-Aware Byte-Pair Encoding" (arXiv 2508.04796). `parity` learns the merges;
here the texts of the languages are counted, and the run is built.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, describe, is_a
from bpe_core.corpus import Corpus, CountsSummary, Layout, WordCounts, corpus_or_counts
from bpe_core.errors import ArgumentTypeError, ConfigError, EmptyCorpusError
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.fastest import learn_parity
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.parity import ParityRule
from bpe_core.trainers.run import RunOrigin, TrainingRun, count_with_missing
from bpe_core.trainers.special_runs import ParityHistory
from bpe_core.trainers.training import Watch, check_config, check_parity, count, train, version
from bpe_core.types import PretokenCounts, TrainingConfig, TrainingProgress
from bpe_core.unicode import AFTER_WORD

_MOST_LANGUAGES = 400
"""A run keeps the tokens of each language after each merge."""


def train_parity(
    corpora: Mapping[str, Corpus | WordCounts | Iterable[str]],
    config: TrainingConfig,
    development: Mapping[str, Corpus | WordCounts | Iterable[str]] | None = None,
    *,
    hybrid_merges: int = 0,
    window: int | None = None,
    alpha: float = 2.0,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Train one tokenizer for several languages, so that none needs far more tokens than others.

    `corpora` and `development` have a text for each language, or its counted words. The development
    text should say the same in each; without it, the training text is measured. The first
    `hybrid_merges` are chosen by all languages together. With a `window`, a language waits that
    picked more than `alpha / n_languages` of the last `window` merges.

    `run.picked_by` names the language that picked each merge, and `run.lengths` has the tokens of
    each language's measured text after each number of merges.

    Merges are equal to those of `tokenizers`' `ParityBpeTrainer` on the same pre-tokens. With a
    window, that trainer does not always end if a language runs out of pairs; this one does.
    Raises `ConfigError` for a base of characters, "first-seen" ties, an `alpha` below 1, or
    languages that do not match, and `EmptyCorpusError` for a language without text.

    >>> texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
    >>> run = train_parity(texts, TrainingConfig(259, special_tokens=()))
    >>> run.picked_by.tolist(), [run.tokenizer.vocab[merge.id] for merge in run.merges]
    (['xx', 'en', 'xx'], [b'ab', b'ug', b'abab'])
    """
    started = time.perf_counter()
    config = replace(config, parity=True)
    _check(corpora, config, development)
    rule = _rule(hybrid_merges, window, alpha)
    vocabulary = GrowingVocabulary(config, ())
    watch = Watch(config.vocab_size - len(vocabulary), started, on_progress, should_stop)
    texts, words = _counted(corpora, corpora, config.pretokenizer, watch)
    measured = words
    if development is not None:
        _, measured = _counted(development, corpora, config.pretokenizer, watch)
    base_ids = vocabulary.base_ids
    rows = [Layout.of_symbols(each.pretokens, config.base, base_ids) for each in words]
    measured_rows = None
    if development is not None:
        counts = (each.pretokens for each in measured)
        measured_rows = [Layout.of_symbols(each, config.base, base_ids) for each in counts]
    n_symbols = sum(row.n_symbols for row in rows)
    watch.report(0, n_symbols, 0)
    learned = learn_parity(rows, measured_rows, vocabulary, config, rule, watch.look)
    counted_all = not watch.stopped or learned.merges.merges
    pooled, joined_at = _pool([each.pretokens for each in words], learned.merges)
    counts_after = n_symbols - np.append(0, np.cumsum(learned.merges.tokens_saved))
    run = TrainingRun(
        tokenizer=Tokenizer(
            vocab=dict(enumerate(vocabulary.tokens)),
            merges=learned.merges.merges,
            pretokenizer=config.pretokenizer,
            special_tokens=vocabulary.special_tokens,
            counts=learned.merges.counts,
        ),
        config=config,
        corpus_sha256=_sha256(texts, words),
        corpus_bytes=sum(each.n_bytes for each in words),
        pretokens=pooled,
        joined_at=joined_at,
        stop_reason=learned.merges.stop_reason if counted_all else "cancelled",
        elapsed_seconds=watch.elapsed_seconds,
        origin=RunOrigin(version()),
        tokens_after=counts_after,
        parity=ParityHistory(
            tuple(corpora),
            learned.picked,
            learned.lengths,
            hybrid_merges,
            window,
            float(alpha),
            has_development=development is not None,
        ),
    )
    if learned.merges.counts:
        watch.report(len(run.merges), int(counts_after[-1]), learned.merges.counts[-1])
    return run


def train_by_language(
    corpus: Corpus | WordCounts,
    config: TrainingConfig,
    on_progress: Callable[[TrainingProgress], None] | None,
    should_stop: Callable[[], bool] | None,
) -> TrainingRun:
    """Train as `train_parity` on a corpus with a folder, or a file, for each language.

    The run also knows each language's tokens under plain BPE of the same size. Raises `ConfigError`
    if the corpus has fewer than two languages, or is counted.

    >>> corpus = Corpus.from_documents(["hug hug hugs", "abab abab"], ["en/a.txt", "xx/b.txt"])
    >>> run = train_by_language(corpus, TrainingConfig(258, parity=True), None, None)
    >>> run.parity.languages, run.corpus_sha256 == corpus.sha256
    (('en', 'xx'), True)
    """
    if isinstance(corpus, WordCounts) or corpus.word_counts is not None:
        raise ConfigError(
            "Parity-aware training needs the text of each language, and counted words do not say "
            "which language they are of. Train on the text, or set parity=False."
        )
    languages = corpus.by_language()
    if len(languages) < 2:
        only = next(iter(languages), "no text")
        raise ConfigError(
            "Parity-aware training needs a folder, or a file, for each language, and this text has "
            f"only {only!r}. Add a file for each other language, or choose another trainer."
        )
    run = train_parity(languages, config, on_progress=on_progress, should_stop=should_stop)
    if run.stop_reason != "cancelled":
        run = beside_plain(run, languages, None, should_stop)
    return replace(run, corpus_sha256=corpus.sha256, origin=RunOrigin(version(), corpus.divided))


def beside_plain(
    run: TrainingRun,
    measured: Mapping[str, Corpus | WordCounts | Iterable[str]],
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Return a parity-aware run with each language's tokens under plain BPE of the same size.

    `measured` are the texts that the run measured its languages by. The plain tokenizer is trained
    on all training words together. If it is cancelled, the run is returned as it is.

    >>> texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
    >>> run = train_parity(texts, TrainingConfig(259, special_tokens=()))
    >>> beside_plain(run, texts).parity.plain
    (9, 7)
    """
    assert run.parity is not None
    summary = CountsSummary(run.config.pretokenizer, run.corpus_bytes, run.corpus_sha256, "")
    config = replace(run.config, vocab_size=run.tokenizer.vocab_size, parity=False)
    plain = train(WordCounts(run.pretokens, summary), config, on_progress, should_stop)
    if plain.stop_reason == "cancelled":
        return run
    texts = (corpus_or_counts(measured[name]) for name in run.parity.languages)
    words = (count(text, config.pretokenizer) for text in texts)  # as often as they weigh
    n_tokens = tuple(count_with_missing(plain.tokenizer, each) for each in words)
    return replace(run, parity=replace(run.parity, plain=n_tokens))


def _counted(
    given: Mapping[str, Corpus | WordCounts | Iterable[str]],
    languages: Iterable[str],
    pretokenizer: str,
    watch: Watch,
) -> tuple[list[Corpus | WordCounts], list[WordCounts]]:
    """Return the text and the words of each language, in the order of `languages`."""
    texts: list[Corpus | WordCounts] = []
    words: list[WordCounts] = []
    for name in languages:
        try:
            texts.append(corpus_or_counts(given[name]))
            words.append(count(texts[-1], pretokenizer, watch))
        except EmptyCorpusError as error:
            raise EmptyCorpusError(
                f"The language {name!r:.60} has no text to learn from. Leave it out, or give it "
                f"text. {error}"
            ) from error
    return texts, words


def _rule(hybrid_merges: int, window: int | None, alpha: float) -> ParityRule:
    check_whole("hybrid_merges", hybrid_merges, 0)
    if window is not None:
        check_whole("window", window, 1)
    if not is_a(alpha, Real) or not 1 <= alpha <= sys.float_info.max:
        raise ConfigError(
            f"Expected alpha as a number from 1, got {describe(alpha)}. With 1, a language waits "
            "that picked more than its share; the usual is 2."
        )
    return ParityRule(int(hybrid_merges), window, float(alpha))


def _sha256(texts: Sequence[Corpus | WordCounts], words: Sequence[WordCounts]) -> str:
    """Return the hash of the texts of all languages as one corpus, or of their counts' hashes."""
    every = [text.read() for text in texts if isinstance(text, Corpus) and text.word_counts is None]
    if len(every) < len(texts):
        return hashlib.sha256(" ".join(each.summary.sha256 for each in words).encode()).hexdigest()
    whole = Corpus.from_documents(tuple(each for text in every for each in text.documents))
    if not any(text.weights for text in every):
        return whole.sha256
    weights = (text.weights or (1,) * len(text.documents) for text in every)
    return replace(whole, weights=tuple(itertools.chain.from_iterable(weights))).sha256


def _pool(
    words: Sequence[PretokenCounts], learned: LearnedMerges
) -> tuple[PretokenCounts, NDArray[np.int32]]:
    """Return the distinct words of all languages, and `learned.joined_at` in their slots.

    A word that several languages have is merged alike in each.
    """
    every = [word for each in words for word in each.words]
    counts = np.concatenate([each.counts for each in words])
    place_of = defaultdict[bytes, int](itertools.count().__next__)  # a new word gets the next place
    places = np.fromiter(map(place_of.__getitem__, every), np.int64, len(every))
    if len(place_of) == len(every):
        return PretokenCounts(every, counts), learned.joined_at
    total = np.zeros(len(place_of), np.int64)
    np.add.at(total, places, counts)
    is_first = np.zeros(len(every), np.bool_)
    is_first[np.unique(places, return_index=True)[1]] = True
    ends = [np.flatnonzero(each.letters == AFTER_WORD) for each in words]
    widths = np.concatenate([np.diff(each, prepend=-1) for each in ends])
    kept = np.append(True, np.repeat(is_first, widths))
    return PretokenCounts(place_of, total), learned.joined_at[kept]


def _check(
    corpora: Mapping[str, object],
    config: TrainingConfig,
    development: Mapping[str, object] | None,
) -> None:
    check_config(config)
    every = {"corpora": corpora}
    if development is not None:
        every["development"] = development
    for what, given in every.items():
        if not is_a(given, Mapping):
            raise ArgumentTypeError(
                f"Expected {what} as a dict from languages to texts, such as "
                f"{{'en': corpus, 'hi': corpus}}, got {describe(given)}."
            )
        for name in given:
            if not is_a(name, str):
                raise ArgumentTypeError(
                    f"Expected a str as the name of each language of {what}, got {describe(name)}."
                )
    if len(corpora) < 2:
        raise ConfigError(
            f"Parity-aware training balances languages, got {len(corpora)}. Give two or more, "
            "such as {'en': corpus, 'hi': corpus}."
        )
    if len(corpora) > _MOST_LANGUAGES:
        raise ConfigError(
            f"Parity-aware training balances at most {_MOST_LANGUAGES} languages, got "
            f"{len(corpora):,}. Put the files of each language into a folder."
        )
    if development is not None and development.keys() != corpora.keys():
        other = min(development.keys() ^ corpora.keys())
        raise ConfigError(
            f"{other!r} is in only one of corpora and development. Give both for each language."
        )
    check_parity(config)
