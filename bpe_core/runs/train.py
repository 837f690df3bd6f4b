"""Training: check what is asked for, count the pre-tokens, learn the merges, hand back the run."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import cast, get_args

import numpy as np

from bpe_core.checks import is_a, said
from bpe_core.compiling.when import use_kernels, wait_for_kernels, worth_waiting_for
from bpe_core.corpus.corpus import Corpus, no_corpus
from bpe_core.counting.streamed import StreamedCorpus, count_stream
from bpe_core.counting.word_row import lay_out_pretokens
from bpe_core.counting.words import CountedCorpus, count_pretokens, seen_symbols
from bpe_core.errors import ConfigError, EmptyCorpusError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.run import TrainingRun
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.incremental import Learned, learn_merges
from bpe_core.types import (
    Alphabet,
    Base,
    PretokenCounts,
    TieBreak,
    TrainingConfig,
    TrainingProgress,
)

_MERGES_BETWEEN_LOOKS = 64
_SECONDS_BETWEEN_LOOKS = 0.05
_BYTES_A_SLOT = 12  # 1 MB of Python source has 79,000 slots, 10 MB of it 540,000
_LARGEST_ID = int(np.iinfo(np.int32).max)
_LARGEST_COUNT = int(np.iinfo(np.int64).max)

_CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"base": get_args(Base), "alphabet": get_args(Alphabet), "tie_break": get_args(TieBreak)}
)


def train(
    corpus: Corpus | StreamedCorpus | CountedCorpus,
    config: TrainingConfig,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Learn a tokenizer from a corpus, from files of any size, or from words counted elsewhere.

    With `tie_break="smallest-pair"` it learns what Hugging Face's `BpeTrainer` learns from the same
    pre-tokens, merges and vocabulary, in order; with "first-seen" what Python's `max` over a dict
    of pairs in order of appearance chooses. Special tokens in the text are ordinary text here, and
    a merge that spells one gets an id of its own; Hugging Face's trainer gives it the special
    token's, so that ordinary text becomes one. Of characters only those that occur are taken,
    whatever `alphabet` says.

    `on_progress` and `should_stop` are called about every 64 merges or 50 ms, the latter while
    pre-tokens are counted too; once it returns True, the run ends with the merges so far and the
    stop reason "cancelled"; where that is while counting, it has none and knows only a part of the
    corpus. Where a large corpus is the first for which kernels must be compiled, training waits for
    them, some 10 s, and `seconds_compiling` says so about five times a second.

    Raises `ConfigError` and its kinds for a configuration that can't work, and `EmptyCorpusError`
    where the pre-tokenizer leaves nothing to learn from.

    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3})
    >>> run = train(corpus, TrainingConfig(7, base="characters", special_tokens=()))
    >>> [run.tokenizer.vocab[merge.id] for merge in run.merges]
    [b'ug', b'hug']
    """
    started = time.perf_counter()
    if not is_a(corpus, Corpus, StreamedCorpus, CountedCorpus):
        raise no_corpus(corpus)
    check_config(config)
    get_pretokenizer(config.pretokenizer)
    # What can't work with any corpus is said before one is read.
    least = len(GrowingVocabulary(config, ()))
    watch = _Watch(config.vocab_size - least, started, on_progress, should_stop)
    counted = corpus if isinstance(corpus, CountedCorpus) else _count(corpus, config, watch)
    pretokens = counted.pretokens
    if not pretokens.words and not watch.stopped:
        raise EmptyCorpusError(
            f"The pre-tokenizer {config.pretokenizer} finds no pre-token in this corpus of "
            f"{counted.n_bytes:,} bytes: take another corpus or another pre-tokenizer."
        )
    vocabulary = GrowingVocabulary(config, counted.symbols)
    watch.merges_wanted = config.vocab_size - len(vocabulary)
    counted_all = not watch.stopped
    layout = lay_out_pretokens(
        pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
    )
    n_symbols = int(layout.weights.sum())
    watch.report(0, n_symbols, 0)
    _wait_for_kernels(layout.ids.size * _BYTES_A_SLOT, watch)
    learned = _trainer(layout.ids.size * _BYTES_A_SLOT)(layout, vocabulary, config, watch)
    del layout  # a third of the memory that training takes
    tokenizer = Tokenizer(
        vocab=dict(enumerate(vocabulary.tokens)),
        merges=learned.merges,
        pretokenizer=config.pretokenizer,
        base=config.base,
        special_tokens=vocabulary.special_tokens,
        end_of_word=config.end_of_word,
        end_of_word_id=vocabulary.end_of_word_id,
        counts=learned.counts,
    )
    run = TrainingRun(
        tokenizer=tokenizer,
        config=config,
        corpus_sha256=counted.sha256,
        corpus_bytes=counted.n_bytes,
        pretokens=pretokens,
        joined_at=learned.joined_at,
        stop_reason=learned.stop_reason if counted_all else "cancelled",
        elapsed_seconds=time.perf_counter() - started,
        tokens_after=n_symbols - np.cumsum([0, *learned.tokens_saved]),
    )
    if learned.counts:
        watch.report(len(learned.counts), int(run.tokens_after[-1]), learned.counts[-1])
    return run


def _count(corpus: Corpus | StreamedCorpus, config: TrainingConfig, watch: _Watch) -> CountedCorpus:
    pretokenizer = get_pretokenizer(config.pretokenizer)
    all_bytes = config.base == "bytes" and config.alphabet == "full"
    if isinstance(corpus, StreamedCorpus):
        _wait_for_kernels(corpus.n_bytes, watch)
        return count_stream(
            corpus,
            pretokenizer,
            symbols_of=None if all_bytes else config.base,
            should_stop=watch.asked_to_stop,
        )
    symbols = frozenset[bytes]() if all_bytes else frozenset(seen_symbols(corpus, config.base))
    GrowingVocabulary(config, symbols)  # raises before the counting where it has no room for them
    if corpus.word_counts is None:
        _wait_for_kernels(corpus.n_bytes, watch)
    pretokens = PretokenCounts((), np.zeros(0, np.int64))
    if not watch.stopped:
        pretokens = count_pretokens(corpus, pretokenizer, should_stop=watch.asked_to_stop)
    return CountedCorpus(pretokens, corpus.n_bytes, corpus.sha256, symbols)


def _wait_for_kernels(n_bytes: int, watch: _Watch) -> None:
    if worth_waiting_for(n_bytes):
        wait_for_kernels(watch.report_compiling, watch.asked_to_stop)


def _trainer(n_bytes: int) -> Callable[..., Learned]:
    """The seam: both trainers take the same arrays and learn the same."""
    if not use_kernels(n_bytes):
        return learn_merges
    from bpe_core.trainers import compiled as compiled_training

    return compiled_training.learn_merges


class _Watch:
    """Looks up from the work now and then: reports, asks whether to stop, lets others run."""

    def __init__(
        self,
        merges_wanted: int,
        started: float,
        on_progress: Callable[[TrainingProgress], None] | None,
        should_stop: Callable[[], bool] | None,
    ) -> None:
        self.merges_wanted = merges_wanted
        self._started = started
        self._on_progress = on_progress
        self._should_stop = should_stop
        self._next_look = _MERGES_BETWEEN_LOOKS
        self._last_look = started
        self._corpus_tokens = 0
        self.stopped = False

    def asked_to_stop(self) -> bool:
        """Ask, and remember a yes."""
        if not self.stopped and self._should_stop is not None:
            self.stopped = self._should_stop()
        return self.stopped

    def __call__(self, merges_done: int, tokens_saved: int, last_count: int) -> bool:
        self._corpus_tokens -= tokens_saved
        now = time.perf_counter()
        if (
            not self.stopped
            and merges_done < self._next_look
            and now - self._last_look < _SECONDS_BETWEEN_LOOKS
        ):
            return False
        self._next_look = merges_done + _MERGES_BETWEEN_LOOKS
        self._last_look = now
        self.report(merges_done, self._corpus_tokens, last_count)
        time.sleep(0)
        return self.asked_to_stop()

    def report_compiling(self, seconds: float) -> None:
        """Tell that training waits for the compiler, and how long it has."""
        self.report(0, 0, 0, seconds)

    def report(
        self,
        merges_done: int,
        corpus_tokens: int,
        last_count: int,
        seconds_compiling: float | None = None,
    ) -> None:
        """Tell how far training has come."""
        self._corpus_tokens = corpus_tokens
        if self._on_progress is not None:
            self._on_progress(
                TrainingProgress(
                    merges_done=merges_done,
                    merges_wanted=self.merges_wanted,
                    elapsed_seconds=time.perf_counter() - self._started,
                    corpus_tokens=corpus_tokens,
                    last_count=last_count,
                    seconds_compiling=seconds_compiling,
                )
            )


def check_config(config: TrainingConfig) -> None:
    """Raise `ConfigError` for a field that can't work with any corpus.

    >>> check_config(TrainingConfig(special_tokens=("[CLS]", "[CLS]")))
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: The special token '[CLS]' is given twice: give each once.
    """
    if not is_a(config, TrainingConfig):
        raise ConfigError(f"The configuration is {said(config)}: give a TrainingConfig.")
    for name, choices in _CHOICES.items():
        value: object = getattr(config, name)
        if value not in choices:
            raise ConfigError(f"{name} is {value!r}: use {' or '.join(map(repr, choices))}.")
    _check_number("vocab_size", config.vocab_size, 1)
    # Weighted words can count more than there are ids.
    _check_number("min_frequency", config.min_frequency, 0, _LARGEST_COUNT)
    if config.max_token_bytes is not None:
        _check_number("max_token_bytes", config.max_token_bytes, 1)
    _check_special_tokens(config)


def _check_number(name: str, value: object, least: int, most: int = _LARGEST_ID) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ConfigError(f"{name} is {value!r}: use a whole number from {least} to {most:,}.")


def _check_special_tokens(config: TrainingConfig) -> None:
    wrong = is_a(config.special_tokens, str) or not is_a(config.special_tokens, Iterable)
    names = [] if wrong else list(config.special_tokens)
    if wrong or not all(isinstance(token, str) for token in cast("list[object]", names)):
        raise ConfigError(
            f"special_tokens is {config.special_tokens!r}: use a tuple of texts, as ('[CLS]',)."
        )
    times_given = Counter(names)
    for token in names:
        if not token:
            raise ConfigError("A special token is empty: give it a text, or leave it out.")
        if times_given[token] > 1:
            raise ConfigError(f"The special token {token!r} is given twice: give each once.")
    if config.end_of_word is not None:
        if not is_a(config.end_of_word, str):
            raise ConfigError(
                f"The end-of-word marker is {said(config.end_of_word)}: give a text, as </w>."
            )
        if not config.end_of_word:
            raise ConfigError("The end-of-word marker is empty: give it a text such as </w>.")
        if config.end_of_word in names:
            raise ConfigError(
                f"{config.end_of_word!r} is both a special token and the end-of-word marker: "
                "rename one of them."
            )
        names.append(config.end_of_word)
    for token in names:
        try:
            token.encode()
        except UnicodeEncodeError as error:
            raise ConfigError(
                f"{token!r} holds a lone surrogate at character {error.start}, for which no UTF-8 "
                "exists: take it out."
            ) from None
