"""Count the words of a corpus, and check which pre-tokenizer cut the words."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from bpe_core.corpus import Corpus, CountsCorpus, counts_to_corpus, to_corpus
from bpe_core.counting.counts_file import CountsSummary, WordCounts, find_characters
from bpe_core.counting.metaspace_words import normalize_words, write_words
from bpe_core.counting.streamed import StreamedCorpus, count_stream
from bpe_core.counting.words import CountedCorpus, count_pretokens, no_pretokens, seen_symbols
from bpe_core.errors import ConfigError
from bpe_core.kernels import use_kernels
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.types import Base, PretokenCounts

_MAX_SHOWN_LENGTH = 60


def count_words(
    corpus: Corpus | StreamedCorpus | Iterable[str],
    pretokenizer: str = "gpt2",
    on_progress: Callable[[float], None] | None = None,
) -> WordCounts:
    """Count the words of a corpus, to be trained on now or written to a file for later.

    Words of a corpus made from word counts stay as given. `on_progress` is called with the share
    of the text that was read. Raises ConfigError for an unknown
    pre-tokenizer, EmptyCorpusError if it finds no word, and CorpusError for another argument.

    >>> counts = count_words(Corpus.from_text("hug hugs hug"))
    >>> counts.pretokens.words, counts.pretokens.counts.tolist()
    ((b'hug', b' hugs', b' hug'), [1, 1, 1])
    """
    if not isinstance(corpus, StreamedCorpus):
        corpus = to_corpus(corpus)
    cut = get_pretokenizer(pretokenizer)
    if isinstance(corpus, StreamedCorpus):
        counted = count_stream(corpus, cut, symbols_of="characters", on_progress=on_progress)
        pretokens, symbols = counted.pretokens, counted.symbols
        sha256 = counted.sha256
    else:
        pretokens = count_pretokens(corpus, cut, on_progress=on_progress)
        symbols = seen_symbols(corpus, "characters")
        sha256 = corpus.sha256
    if not pretokens.n_words:
        raise no_pretokens(pretokenizer, corpus.n_bytes)
    characters = b"".join(sorted(symbols)).decode()
    if cut.normalizer is not None:  # characters of the text that no word has any more
        characters = find_characters(pretokens.words)
    ready_made = isinstance(corpus, Corpus) and corpus.word_counts is not None
    name = None if ready_made else cut.name
    return WordCounts(pretokens, CountsSummary(name, corpus.n_bytes, sha256, characters))


def as_corpus(counts: WordCounts, sample: Corpus | None = None) -> CountsCorpus:
    """Return word counts as a corpus, with a sample of the text if there is one.

    >>> as_corpus(count_words(["hug hugs"])).word_counts["hug"]
    1
    """
    pretokens = counts.pretokens
    words = map(bytes.decode, pretokens.words)
    word_counts = dict(zip(words, pretokens.counts.tolist(), strict=True))
    return counts_to_corpus(word_counts, counts.summary, sample)


def of_corpus(corpus: CountsCorpus) -> WordCounts:
    """Return the word counts of such a corpus.

    >>> of_corpus(as_corpus(count_words(["hug hugs"]))).pretokens.words
    (b'hug', b' hugs')
    """
    word_counts = corpus.word_counts or {}
    counts = np.array(list(word_counts.values()), np.int64)
    pretokens = PretokenCounts(tuple(word.encode() for word in word_counts), counts)
    return WordCounts(pretokens, corpus.summary)


def as_counted(
    counts: WordCounts, pretokenizer: str, symbols_of: Base | None = None
) -> CountedCorpus:
    """Return word counts as training needs them, with their base symbols unless that is None.

    Raises ConfigError if the words were cut by another pre-tokenizer, or, if that is unknown, if
    this one would split one of them.

    >>> as_counted(count_words(["hug hugs"]), "gpt2").n_bytes
    8
    >>> as_counted(count_words(Corpus.from_word_counts({"hug me": 10})), "gpt2")
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: The pre-tokenizer gpt2 splits the word 'hug me'. Count words as \
it cuts them, or train with the pre-tokenizer that cut these, or with 'none', which cuts nothing.
    """
    cut, pretokens = counts.summary.pretokenizer, counts.pretokens
    if cut is None:
        _check_words(counts, pretokenizer)
        pretokens = normalize_words(pretokens, get_pretokenizer(pretokenizer))
    elif cut != pretokenizer:
        raise ConfigError(
            f"The words were cut by the pre-tokenizer {cut}, not by {pretokenizer}. Train with "
            f"{cut}, or count the text again."
        )
    symbols = frozenset[bytes]() if symbols_of is None else counts.symbols(symbols_of)
    summary = counts.summary
    pretokens = write_words(pretokens, get_pretokenizer(pretokenizer))
    return CountedCorpus(pretokens, summary.n_bytes, lambda: summary.sha256, symbols)


def _check_words(counts: WordCounts, name: str) -> None:
    pretokenizer = get_pretokenizer(name)
    words = counts.pretokens.words
    if use_kernels(sum(map(len, words))):
        from bpe_core.counting.compiled import count_documents

        # Much faster than word by word; the distinct words stay the same if none is split.
        found = count_documents(map(bytes.decode, words), pretokenizer)
        if found.words == words and found.total == len(words):
            return
    for word in map(bytes.decode, words):
        if pretokenizer.split(word) != [word]:
            shown = word if len(word) <= _MAX_SHOWN_LENGTH else word[:_MAX_SHOWN_LENGTH] + "..."
            raise ConfigError(
                f"The pre-tokenizer {name} splits the word {shown!r}. Count words as it cuts them, "
                "or train with the pre-tokenizer that cut these, or with 'none', which cuts "
                "nothing."
            )
