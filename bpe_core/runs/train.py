"""Train a tokenizer: check the arguments, count pre-tokens, learn merges, build the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from bpe_core.checks import is_a
from bpe_core.compiling.background import wait_for_kernels
from bpe_core.compiling.when import use_kernels, worth_waiting_for
from bpe_core.corpus.corpus import Corpus, no_corpus
from bpe_core.counting.streamed import StreamedCorpus, count_stream
from bpe_core.counting.word_row import Layout, lay_out_pretokens
from bpe_core.counting.words import CountedCorpus, count_pretokens, seen_symbols
from bpe_core.errors import EmptyCorpusError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.check_config import check_config
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.watch import Watch
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.base_vocabulary import GrowingVocabulary
from bpe_core.trainers.incremental import Learned, learn_merges
from bpe_core.types import PretokenCounts, TrainingConfig, TrainingProgress

_BYTES_A_SLOT: Final = 12  # 1 MB of Python source has 79,000 slots, 10 MB of it 540,000


def train(
    corpus: Corpus | StreamedCorpus | CountedCorpus,
    config: TrainingConfig,
    on_progress: Callable[[TrainingProgress], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TrainingRun:
    """Train a tokenizer on a corpus, on files of any size, or on words counted elsewhere.

    With `tie_break="smallest-pair"`, the merges and the vocabulary are those that Hugging Face's
    `BpeTrainer` learns from the same pre-tokens, in the same order. With "first-seen", ties go to
    the pair that occurs first, as with Python's `max` over a dict of pair counts. Special tokens in
    the text are treated as ordinary text, and a merge that spells one gets a new id; Hugging Face's
    trainer reuses the special token's id, so ordinary text can become a special token. A character
    alphabet holds only the characters that occur, whatever `alphabet` is.

    `on_progress` and `should_stop` are called about every 64 merges or 50 ms; `should_stop` also
    while pre-tokens are counted. Once it returns True, the run ends with the merges so far and the
    stop reason "cancelled". A run cancelled during counting has no merges and covers only part of
    the corpus. If the kernels have not been compiled yet, training on a large corpus waits for them
    for about 10 s, and reports `seconds_compiling` about five times a second.

    Raises `ConfigError` or a subclass for an invalid configuration, and `EmptyCorpusError` if the
    pre-tokenizer finds nothing to learn from.

    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5, "ggi": 3, "gin": 3, "ing": 3})
    >>> run = train(corpus, TrainingConfig(7, base="characters", special_tokens=()))
    >>> [run.tokenizer.vocab[merge.id] for merge in run.merges]
    [b'ug', b'hug']
    """
    started = time.perf_counter()
    _check(corpus, config)
    # Fail before the corpus is read if even the smallest alphabet does not fit.
    vocabulary = GrowingVocabulary(config, ())
    watch = Watch(config.vocab_size - len(vocabulary), started, on_progress, should_stop)
    counted = _count(corpus, config, watch)
    counted_all = not watch.stopped
    vocabulary = GrowingVocabulary(config, counted.symbols)
    watch.merges_wanted = config.vocab_size - len(vocabulary)
    layout = lay_out_pretokens(
        counted.pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
    )
    n_symbols = int(layout.weights.sum())
    watch.report(0, n_symbols, 0)
    learned = _learn(layout, vocabulary, config, watch)
    del layout  # a third of the memory that training takes
    run = TrainingRun(
        tokenizer=_tokenizer_of(vocabulary, learned, config),
        config=config,
        corpus_sha256=counted.sha256,
        corpus_bytes=counted.n_bytes,
        pretokens=counted.pretokens,
        joined_at=learned.joined_at,
        stop_reason=learned.stop_reason if counted_all else "cancelled",
        elapsed_seconds=time.perf_counter() - started,
        tokens_after=n_symbols - np.cumsum([0, *learned.tokens_saved]),
    )
    if learned.counts:
        watch.report(len(learned.counts), int(run.tokens_after[-1]), learned.counts[-1])
    return run


def _check(corpus: object, config: TrainingConfig) -> None:
    """Raise for invalid arguments before the corpus is read."""
    if not is_a(corpus, Corpus, StreamedCorpus, CountedCorpus):
        raise no_corpus(corpus)
    check_config(config)
    get_pretokenizer(config.pretokenizer)  # raises for an unknown name or an invalid pattern


def _count(
    corpus: Corpus | StreamedCorpus | CountedCorpus, config: TrainingConfig, watch: Watch
) -> CountedCorpus:
    """Count the pre-tokens of a corpus of any kind, and collect its base symbols."""
    if isinstance(corpus, CountedCorpus):
        counted = corpus
    elif isinstance(corpus, StreamedCorpus):
        counted = _count_stream(corpus, config, watch)
    else:
        counted = _count_documents(corpus, config, watch)
    if not counted.pretokens.words and not watch.stopped:
        raise EmptyCorpusError(
            f"The pre-tokenizer {config.pretokenizer} finds no pre-token in this corpus of "
            f"{counted.n_bytes:,} bytes. Use another corpus or another pre-tokenizer."
        )
    return counted


def _count_stream(corpus: StreamedCorpus, config: TrainingConfig, watch: Watch) -> CountedCorpus:
    _wait_for_kernels(corpus.n_bytes, watch)
    return count_stream(
        corpus,
        get_pretokenizer(config.pretokenizer),
        symbols_of=None if _has_all_bytes(config) else config.base,
        should_stop=watch.asked_to_stop,
    )


def _count_documents(corpus: Corpus, config: TrainingConfig, watch: Watch) -> CountedCorpus:
    symbols = frozenset[bytes]()
    if not _has_all_bytes(config):
        symbols = frozenset(seen_symbols(corpus, config.base))
    GrowingVocabulary(config, symbols)  # fail before counting if the alphabet does not fit
    if corpus.word_counts is None:
        _wait_for_kernels(corpus.n_bytes, watch)
    pretokens = PretokenCounts((), np.zeros(0, np.int64))
    if not watch.stopped:
        pretokenizer = get_pretokenizer(config.pretokenizer)
        pretokens = count_pretokens(corpus, pretokenizer, should_stop=watch.asked_to_stop)
    return CountedCorpus(pretokens, corpus.n_bytes, corpus.sha256, symbols)


def _has_all_bytes(config: TrainingConfig) -> bool:
    """Return True if the alphabet is always all 256 bytes, independent of the corpus."""
    return config.base == "bytes" and config.alphabet == "full"


def _learn(
    layout: Layout, vocabulary: GrowingVocabulary, config: TrainingConfig, watch: Watch
) -> Learned:
    """Learn merges with kernels or in plain Python, whichever is faster; the merges are equal."""
    n_bytes = layout.ids.size * _BYTES_A_SLOT
    _wait_for_kernels(n_bytes, watch)
    if not use_kernels(n_bytes):
        return learn_merges(layout, vocabulary, config, watch.look)
    from bpe_core.trainers import compiled

    return compiled.learn_merges(layout, vocabulary, config, watch.look)


def _wait_for_kernels(n_bytes: int, watch: Watch) -> None:
    if worth_waiting_for(n_bytes):
        wait_for_kernels(watch.report_compiling, watch.asked_to_stop)


def _tokenizer_of(
    vocabulary: GrowingVocabulary, learned: Learned, config: TrainingConfig
) -> Tokenizer:
    return Tokenizer(
        vocab=dict(enumerate(vocabulary.tokens)),
        merges=learned.merges,
        pretokenizer=config.pretokenizer,
        base=config.base,
        special_tokens=vocabulary.special_tokens,
        end_of_word=config.end_of_word,
        end_of_word_id=vocabulary.end_of_word_id,
        counts=learned.counts,
    )
