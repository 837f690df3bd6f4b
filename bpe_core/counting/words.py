"""Count the distinct pre-tokens of a corpus."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeVar

import numpy as np

from bpe_core.corpus import Corpus
from bpe_core.counting.metaspace_words import normalize_words, write_words
from bpe_core.errors import EmptyCorpusError
from bpe_core.kernels import use_kernels
from bpe_core.pretokenizers import SCANNERS, Normalizer, Pretokenizer
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
        from bpe_core.counting.compiled import count_documents

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
    from bpe_core.counting.compiled import count_documents, count_sections
    from bpe_core.pretokenizers import sections

    if pretokenizer.cut in SCANNERS:
        text = sections(documents, pretokenizer)
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
