"""Count the words of a corpus as training needs them: `count_words`, and what it is made of.

A corpus in memory is counted document by document, files of any size piece by piece, and words
that are counted already stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from bpe_core.corpus import (
    CharacterSet,
    Corpus,
    CountsSummary,
    FileTexts,
    WordCounts,
    to_corpus,
)
from bpe_core.counting.counts_file import find_characters
from bpe_core.counting.metaspace_words import normalize_words, write_words
from bpe_core.counting.words import ReadShare, count_in_runs, count_pretokens, no_pretokens
from bpe_core.errors import ConfigError
from bpe_core.kernels import use_kernels
from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer
from bpe_core.types import PretokenCounts

_MAX_SHOWN_LENGTH = 60


def count_words(
    corpus: Corpus | Iterable[str],
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
    corpus = to_corpus(corpus)
    cut = get_pretokenizer(pretokenizer)
    found = count_corpus(corpus, cut, lists_characters=True, on_progress=on_progress)
    if not found.pretokens.n_words:
        raise no_pretokens(pretokenizer, corpus.n_bytes)
    # What cut ready-made words is not known, whatever they are counted for.
    known = found.summary._replace(
        pretokenizer=None if corpus.word_counts is not None else cut.name
    )
    if cut.normalizer is not None:  # characters of the text that no word has any more
        known = known._replace(characters=find_characters(found.pretokens.words))
    return WordCounts(found.pretokens, known)


def count_corpus(
    corpus: Corpus,
    cut: Pretokenizer,
    *,
    lists_characters: bool = False,
    check: Callable[[str], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> WordCounts:
    """Count the words of a corpus; the summary lists its characters only if asked to.

    `check` may refuse the characters before the words of a corpus in memory are counted.
    Files that stay on disk are read once, about 30 MB at a time, but a custom pattern and "none"
    need each file whole. If `should_stop()` returns True, the counts so far are returned. Raises
    what `count_pretokens` and the files raise, and ConfigError for words that were counted
    elsewhere, if they were cut by another pre-tokenizer.

    >>> found = count_corpus(Corpus.from_text("hug hugs"), get_pretokenizer("gpt2"))
    >>> found.pretokens.words, found.summary.n_bytes, found.summary.characters
    ((b'hug', b' hugs'), 8, '')
    """
    if corpus.summary is not None:
        words = tuple(word.encode() for word in corpus.word_counts or {})
        counts = np.array(list((corpus.word_counts or {}).values()), np.int64)
        known = corpus.summary._replace(n_bytes=corpus.n_bytes, sha256=corpus.sha256)
        return check_cut(WordCounts(PretokenCounts(words, counts), known), cut.name)
    if isinstance(corpus.documents, FileTexts):
        share = ReadShare(corpus.n_bytes, should_stop, on_progress)
        files = _Files(corpus.documents, share, lists_characters=lists_characters)
        runs = count_in_runs(files.documents(), corpus.n_bytes, cut, should_stop=share)
        # There is one run; what is left after a stop must not begin another.
        found = next(runs, PretokenCounts((), np.zeros(0, np.int64)))
        known = CountsSummary(cut.name, corpus.n_bytes, files.sha256(), files.characters)
        return WordCounts(write_words(found, cut), known)
    characters = corpus.characters() if lists_characters else ""
    if check is not None:
        check(characters)
    found = count_pretokens(corpus, cut, should_stop=should_stop, on_progress=on_progress)
    # Counting uses all cores, learning merges only one.
    pool = ThreadPoolExecutor(1, thread_name_prefix="hashing")
    hashed = pool.submit(lambda: corpus.sha256)
    pool.shutdown(wait=False)
    return WordCounts(
        found,
        partial(_summary, cut.name, corpus.n_bytes, hashed.result, characters),
        corpus.divided,
    )


def _summary(
    name: str, n_bytes: int, wait_for_sha256: Callable[[], str], characters: str
) -> CountsSummary:
    return CountsSummary(name, n_bytes, wait_for_sha256(), characters)


class _Files:
    """One pass over files, which also collects their hash and the characters that occur."""

    def __init__(self, texts: FileTexts, share: ReadShare, *, lists_characters: bool) -> None:
        self._texts = texts
        self._share = share
        self._digest = hashlib.sha256(b"documents")
        self._seen = CharacterSet() if lists_characters else None
        self._all_read = False

    def documents(self) -> Iterator[Iterator[bytes]]:
        """Yield each file as pieces that end between characters."""
        for place in range(len(self._texts)):
            yield self._share.noting(self._pieces(place))
        self._all_read = True

    def sha256(self) -> str:
        """Return the hash of all texts, or '' if only a part was read."""
        return self._digest.hexdigest() if self._all_read else ""

    @property
    def characters(self) -> str:
        return "" if self._seen is None else self._seen.listed()

    def _pieces(self, place: int) -> Iterator[bytes]:
        self._digest.update(b"1 %d:" % self._texts.sizes[place])
        for piece, text in self._texts.pieces(place):
            self._digest.update(piece)
            if self._seen is not None:
                self._seen.add(text)
            yield piece


def check_cut(counts: WordCounts, pretokenizer: str) -> WordCounts:
    """Return word counts as training needs them.

    Raises ConfigError if the words were cut by another pre-tokenizer, or, if that is unknown, if
    this one would split one of them.

    >>> check_cut(count_words(["hug hugs"]), "gpt2").summary.n_bytes
    8
    >>> check_cut(count_words(Corpus.from_word_counts({"hug me": 10})), "gpt2")
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
    return counts.with_pretokens(write_words(pretokens, get_pretokenizer(pretokenizer)))


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
