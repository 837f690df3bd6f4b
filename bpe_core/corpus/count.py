"""Count the words of a corpus as training needs them: `count_words`, and what it is made of.

A corpus in memory is counted document by document, files of any size piece by piece, and words
that are counted already stay as they are. `count_pretokens` counts in plain Python, or with the
kernels of `compiled`.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np

from bpe_core.corpus.composition import CharacterSet
from bpe_core.corpus.corpus import Corpus, to_corpus
from bpe_core.corpus.counts_file import find_characters
from bpe_core.corpus.filed_texts import FileTexts
from bpe_core.corpus.word_counts import CountsSummary, WordCounts
from bpe_core.corpus.word_row import normalize_words, write_words
from bpe_core.errors import ConfigError, EmptyCorpusError
from bpe_core.kernels import use_kernels
from bpe_core.pretokenizers import Normalizer, Pretokenizer, get_pretokenizer
from bpe_core.types import Base, PretokenCounts
from bpe_core.unicode import AFTER_WORD

Text = TypeVar("Text", str, bytes)
_Item = TypeVar("_Item")

_BLOCK_CHARACTERS = 1 << 18
_SAFE_CUT = re.compile(r"[a-z](?=[ \n])")


class ReadShare:
    """A `should_stop` that also reports the share of a text that was read by then.

    >>> share = ReadShare(7, None, print)
    >>> list(share.noting(["hug", "hugs"])), share()
    1.0
    (['hug', 'hugs'], False)
    """

    def __init__(
        self,
        size: int,
        should_stop: Callable[[], bool] | None,
        on_progress: Callable[[float], None] | None,
    ) -> None:
        self._size = size
        self._n_read = 0
        self._should_stop = should_stop
        self._on_progress = on_progress

    def __call__(self) -> bool:
        """Report the share; return True if the caller should stop."""
        if self._on_progress is not None:
            self._on_progress(self._n_read / max(1, self._size))
        return self._should_stop is not None and self._should_stop()

    def noting(self, texts: Iterable[Text]) -> Iterator[Text]:
        """Yield each text, and note its length once the next is asked for."""
        for text in texts:
            yield text
            self._n_read += len(text)


def count_pretokens(
    corpus: Corpus,
    pretokenizer: Pretokenizer,
    *,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of a corpus, each document on its own; words with counts stay as given.

    With "metaspace", a space is put in front of each document and each such word.

    If `should_stop()` returns True, the counts so far are returned. `on_progress` is called by the
    same thread, with the share of the documents that was read. Raises what the pre-tokenizer
    raises.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> corpus = Corpus.from_documents(["hug hugs", "hug"])
    >>> found = count_pretokens(corpus, get_pretokenizer("whitespace"))
    >>> found.words, found.counts.tolist()
    ((b'hug', b'hugs'), [2, 1])
    """
    if corpus.word_counts is not None:
        given = normalize_words(_pretoken_counts(corpus.word_counts), pretokenizer)
        return write_words(given, pretokenizer)
    share = ReadShare(corpus.n_characters, should_stop, on_progress)
    documents: Iterable[str] = share.noting(corpus.documents)
    if pretokenizer.normalizer is not None:
        documents = map(pretokenizer.normalizer, documents)
    if use_kernels(corpus.n_bytes):
        # Imported when needed, because it loads the kernels.
        from bpe_core.corpus.count_compiled import count_documents

        found = count_documents(documents, pretokenizer, share)
    else:
        pieces = ((document,) for document in documents)
        found = count_pieces(pieces, pretokenizer, should_stop=share)
    return write_words(found, pretokenizer)


def count_pieces(
    documents: Iterable[Iterable[str]],
    pretokenizer: Pretokenizer,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of documents that arrive in pieces, in plain Python.

    Named pre-tokenizers hold a few pieces in memory, a custom pattern and "none" a whole document.
    Returns and raises what `count_pretokens` does.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> count_pieces([["hug hu", "gs"], ["hug"]], get_pretokenizer("gpt2")).words
    (b'hug', b' hugs')
    """
    counts: Counter[str] = Counter()
    for document in documents:
        for block in _blocks(document, pretokenizer):
            if should_stop is not None and should_stop():
                return _pretoken_counts(counts)
            counts.update(pretokenizer.split(block))
            time.sleep(0)  # lets other threads run
    return _pretoken_counts(counts)


def count_in_runs(
    documents: Iterable[Iterator[bytes]],
    n_bytes: int,
    pretokenizer: Pretokenizer,
    *,
    run_bytes: int | None = None,
    n_threads: int | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Iterator[PretokenCounts]:
    """Yield the counts of documents of about `n_bytes` in all, run by run.

    A run has about `run_bytes` of text, by default and in plain Python all of it; if there is no
    text, there may be no run. Pieces end between characters; custom patterns and "none" need each
    document whole. If `should_stop()` returns True, the run ends with the counts so far. Raises
    what the pre-tokenizer and the documents raise.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> (found,) = count_in_runs([iter([b"hug hu", b"gs"])], 8, get_pretokenizer("gpt2"))
    >>> found.words
    (b'hug', b' hugs')
    """
    if pretokenizer.normalizer is not None:
        documents = map(partial(_normalize, pretokenizer.normalizer), documents)
    if not use_kernels(n_bytes):
        texts = (map(bytes.decode, pieces) for pieces in documents)
        yield count_pieces(texts, pretokenizer, should_stop=should_stop)
        return
    # Imported when needed, because they load the kernels.
    from bpe_core.corpus.count_compiled import count_documents, count_sections

    if pretokenizer.has_scanner:
        text = pretokenizer.sections(documents)
        for run in split_runs(text, lambda section: sum(map(len, section)), run_bytes):
            yield count_sections(run, pretokenizer, should_stop, n_threads)
    else:
        for whole in split_runs(map(b"".join, documents), len, run_bytes):
            yield count_documents(map(bytes.decode, whole), pretokenizer, should_stop)


def _normalize(normalizer: Normalizer, pieces: Iterator[bytes]) -> Iterator[bytes]:
    return map(str.encode, normalizer.each_piece(map(bytes.decode, pieces)))


def split_runs(
    items: Iterable[_Item], size: Callable[[_Item], int], run_bytes: int | None
) -> Iterator[Iterator[_Item]]:
    """Yield the items in runs, each to be used up before the next is taken.

    >>> [list(run) for run in split_runs(["ab", "c", "d"], len, 3)]
    [['ab', 'c'], ['d']]
    """
    waiting = iter(items)

    def run(first: _Item) -> Iterator[_Item]:
        n_bytes = 0
        for item in chain([first], waiting):
            yield item
            n_bytes += size(item)
            if run_bytes is not None and n_bytes >= run_bytes:
                return

    for first in waiting:
        yield run(first)


def no_pretokens(pretokenizer: str, n_bytes: int) -> EmptyCorpusError:
    """Return the error for a corpus in which a pre-tokenizer finds nothing.

    >>> print(no_pretokens("whitespace", 3))
    The pre-tokenizer whitespace finds no pre-token in this corpus of 3 bytes. Use another corpus \
or another pre-tokenizer.
    """
    return EmptyCorpusError(
        f"The pre-tokenizer {pretokenizer} finds no pre-token in this corpus of {n_bytes:,} bytes. "
        "Use another corpus or another pre-tokenizer."
    )


def _pretoken_counts(counts: Mapping[str, int]) -> PretokenCounts:
    words = tuple(word.encode() for word in counts)
    return PretokenCounts(words, np.array(list(counts.values()), dtype=np.int64))


def word_symbols(pretokens: PretokenCounts, base: Base) -> frozenset[bytes]:
    """Return the base symbols of counted words.

    >>> sorted(word_symbols(PretokenCounts((b"hug", b"hu"), np.array([1, 1])), "bytes"))
    [b'g', b'h', b'u']
    """
    text = pretokens.letters[pretokens.letters != AFTER_WORD].tobytes()
    if base == "characters":
        return frozenset(character.encode() for character in set(text.decode()))
    return frozenset(bytes([byte]) for byte in set(text))


def seen_symbols(corpus: Corpus, base: Base) -> set[bytes]:
    """Return the base symbols that occur in a corpus, white space included.

    >>> sorted(seen_symbols(Corpus.from_text("é é"), "characters"))
    [b' ', b'\\xc3\\xa9']
    """
    texts = corpus.documents if corpus.word_counts is None else corpus.word_counts
    if base == "characters":
        characters = set[str]()
        for text in texts:
            characters.update(text)
        return {character.encode() for character in characters}
    seen = set[int]()
    for text in texts:
        seen.update(text.encode())
    return {bytes([byte]) for byte in seen}


def _blocks(pieces: Iterable[str], pretokenizer: Pretokenizer) -> Iterator[str]:
    """Cut a long document between a letter and white space, which no named pre-tokenizer joins.

    Blocks save memory and let a cancelled training end soon. A custom pattern may match across any
    cut, so it gets documents whole.
    """
    if not pretokenizer.ends_before_space:
        yield "".join(pieces)
        return
    rest = ""
    searched = 0
    for piece in pieces:
        rest += piece
        start = 0
        while cut := _SAFE_CUT.search(rest, max(start + _BLOCK_CHARACTERS, searched)):
            yield rest[start : cut.end()]
            start, searched = cut.end(), 0
        rest = rest[start:]
        searched = max(0, len(rest) - 1)  # the last letter may turn out to precede a space
    yield rest


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
    if corpus.weights:
        return _count_weighted(
            corpus,
            cut,
            lists_characters=lists_characters,
            check=check,
            should_stop=should_stop,
            on_progress=on_progress,
        )
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


def _count_weighted(
    corpus: Corpus,
    cut: Pretokenizer,
    *,
    lists_characters: bool,
    check: Callable[[str], object] | None,
    should_stop: Callable[[], bool] | None,
    on_progress: Callable[[float], None] | None,
) -> WordCounts:
    """Count each document as often as its weight says.

    The words of all documents are counted first, which also puts them in order; then those of
    documents with other weights than the most frequent one.
    """
    weights = np.array(corpus.weights, np.int64)
    usual = Counter(corpus.weights).most_common(1)[0][0]
    plain = replace(corpus, weights=())
    found = count_corpus(
        plain,
        cut,
        lists_characters=lists_characters,
        check=check,
        should_stop=should_stop,
        on_progress=on_progress,
    )
    words, counts = found.pretokens.words, found.pretokens.counts * usual
    n_bytes = usual * corpus.n_bytes
    place = {word: at for at, word in enumerate(words)}
    for weight in set(corpus.weights) - {usual}:
        chosen = np.flatnonzero(weights == weight).tolist()
        texts = tuple(corpus.documents[at] for at in chosen)
        part = Corpus(texts, tuple(corpus.names[at] for at in chosen))
        more = count_pretokens(part, cut, should_stop=should_stop)
        # A stop may leave words that the first pass had not come to.
        known = [at for at, word in enumerate(more.words) if word in place]
        counts[[place[more.words[at]] for at in known]] += (weight - usual) * more.counts[known]
        n_bytes += (weight - usual) * part.n_bytes
    characters = found.summary.characters
    summary = CountsSummary(cut.name, n_bytes, corpus.sha256, characters)
    return WordCounts(PretokenCounts(words, counts), summary, corpus.divided)


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
    elif cut not in (pretokenizer, get_pretokenizer(pretokenizer).name):
        raise ConfigError(
            f"The words were cut by the pre-tokenizer {cut}, not by {pretokenizer}. Train with "
            f"{cut}, or count the text again."
        )
    return counts.with_pretokens(write_words(pretokens, get_pretokenizer(pretokenizer)))


def _check_words(counts: WordCounts, name: str) -> None:
    pretokenizer = get_pretokenizer(name)
    words = counts.pretokens.words
    if use_kernels(sum(map(len, words))):
        from bpe_core.corpus.count_compiled import count_documents

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
