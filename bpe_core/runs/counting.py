"""Count the pre-tokens of a corpus of any kind for training."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from bpe_core.corpus import Corpus, CountsCorpus
from bpe_core.counting import (
    CountedCorpus,
    StreamedCorpus,
    WordCounts,
    as_counted,
    count_pretokens,
    count_stream,
    no_pretokens,
    of_corpus,
    seen_symbols,
    word_symbols,
)
from bpe_core.kernels import wait_for_kernels, worth_waiting_for
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.runs.progress import Watch
from bpe_core.types import Base, PretokenCounts


def count(
    corpus: Corpus | StreamedCorpus | CountedCorpus | WordCounts,
    pretokenizer: str,
    symbols_of: Base | None,
    watch: Watch,
    check: Callable[[frozenset[bytes]], object] | None = None,
) -> CountedCorpus:
    """Count the pre-tokens of a corpus, and its base symbols unless `symbols_of` is None.

    `check` may refuse the symbols before the words of a corpus in memory are counted. Raises
    `EmptyCorpusError` if the pre-tokenizer finds nothing.

    >>> watch = Watch(1, 0.0, None, None)
    >>> count(Corpus.from_text("hug hugs"), "gpt2", None, watch).pretokens.words
    (b'hug', b' hugs')
    """
    if isinstance(corpus, CountedCorpus):
        counted = corpus
    elif isinstance(corpus, WordCounts):
        counted = as_counted(corpus, pretokenizer, symbols_of)
    elif isinstance(corpus, CountsCorpus):
        counted = replace(
            as_counted(of_corpus(corpus), pretokenizer, symbols_of),
            n_bytes=corpus.n_bytes,
            wait_for_sha256=lambda: corpus.sha256,
        )
    elif isinstance(corpus, StreamedCorpus):
        wait_if_worth_it(corpus.n_bytes, watch)
        counted = count_stream(
            corpus,
            get_pretokenizer(pretokenizer),
            symbols_of=symbols_of,
            should_stop=watch.asked_to_stop,
            on_progress=watch.on_counting,
        )
    else:
        symbols = frozenset[bytes]()
        if symbols_of is not None:
            symbols = frozenset(seen_symbols(corpus, symbols_of))
        if check is not None:
            check(symbols)
        counted = _count_documents(corpus, pretokenizer, symbols, watch)
    if symbols_of is not None and get_pretokenizer(pretokenizer).normalizer is not None:
        # Characters of the text that no word has any more are not in the alphabet.
        counted = replace(counted, symbols=word_symbols(counted.pretokens, symbols_of))
    if not counted.pretokens.n_words and not watch.stopped:
        raise no_pretokens(pretokenizer, counted.n_bytes)
    return counted


def _count_documents(
    corpus: Corpus, pretokenizer: str, symbols: frozenset[bytes], watch: Watch
) -> CountedCorpus:
    if corpus.word_counts is None:
        wait_if_worth_it(corpus.n_bytes, watch)
    pretokens = PretokenCounts((), np.zeros(0, np.int64))
    if not watch.stopped:
        cut = get_pretokenizer(pretokenizer)
        pretokens = count_pretokens(
            corpus, cut, should_stop=watch.asked_to_stop, on_progress=watch.on_counting
        )
    # Counting uses all cores, learning merges only one.
    pool = ThreadPoolExecutor(1, thread_name_prefix="hashing")
    hashed = pool.submit(lambda: corpus.sha256)
    pool.shutdown(wait=False)
    return CountedCorpus(pretokens, corpus.n_bytes, hashed.result, symbols, corpus.divided)


def wait_if_worth_it(n_bytes: int, watch: Watch) -> None:
    """Wait until the kernels are compiled if that is faster for `n_bytes` of text."""
    if worth_waiting_for(n_bytes):
        wait_for_kernels(watch.report_compiling, watch.asked_to_stop)
