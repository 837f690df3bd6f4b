"""Count the words of files larger than memory, reading them once, piece by piece."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bpe_core.corpus import JUDGED_BYTES, decoded, is_plain_text, read_pieces, reading
from bpe_core.counting.metaspace_words import write_words
from bpe_core.counting.words import CountedCorpus, ReadShare, count_in_runs
from bpe_core.errors import EmptyCorpusError, UnsupportedFileError
from bpe_core.pretokenizers import Pretokenizer
from bpe_core.types import Base, PretokenCounts


@dataclass(frozen=True, slots=True)
class StreamedCorpus:
    """UTF-8 text files, each one document, read only when counted; made by `stream_corpus`."""

    paths: tuple[Path, ...]
    names: tuple[str, ...] = field(repr=False)
    n_bytes: int
    """The size of all files without byte order marks."""
    sizes: tuple[int, ...] = field(repr=False)
    begins: tuple[int, ...] = field(repr=False)
    """The byte at which each file's text starts, after a byte order mark."""


def stream_corpus(paths: Iterable[str | os.PathLike[str]]) -> StreamedCorpus:
    """Make a corpus of text files, each one document, without reading them yet.

    They must be UTF-8; a byte order mark is left out. Raises CorpusError for a path that cannot be
    opened, EmptyCorpusError, and UnsupportedFileError for tables, compressed files and other
    encodings, which `read_corpus` can read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "hug.txt")
    ...     _ = path.write_text("hug hugs")
    ...     stream_corpus([path]).n_bytes
    8
    """
    files = [Path(path) for path in paths]
    sizes: list[int] = []
    begins: list[int] = []
    for path in files:
        with reading(os.fspath(path)) as file:
            head = file.read(JUDGED_BYTES)
            size = os.fstat(file.fileno()).st_size
        if not is_plain_text(head, path.name):
            raise UnsupportedFileError(
                f"{path.name} is not plain UTF-8 text, and only that can be streamed. Unpack or "
                "convert it, or pass fewer or smaller files."
            )
        begins.append(len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0)
        sizes.append(size - begins[-1])
    if not sum(sizes):
        raise EmptyCorpusError("The corpus is empty: give at least one character.")
    names = tuple(path.name for path in files)
    return StreamedCorpus(tuple(files), names, sum(sizes), tuple(sizes), tuple(begins))


def count_stream(
    corpus: StreamedCorpus,
    pretokenizer: Pretokenizer,
    *,
    symbols_of: Base | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> CountedCorpus:
    """Count the pre-tokens of a streamed corpus as `count_pretokens` does, and hash its text.

    About 30 MB of a file are in memory at a time, but a custom pattern and "none" need each file
    whole. Raises TextDecodingError with the first byte that is not UTF-8, CorpusError for a file
    that shrinks meanwhile, and whatever the pre-tokenizer raises.

    >>> import tempfile
    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "hug.txt")
    ...     _ = path.write_text("hug hugs")
    ...     count_stream(stream_corpus([path]), get_pretokenizer("gpt2")).pretokens.words
    (b'hug', b' hugs')
    """
    share = ReadShare(corpus.n_bytes, should_stop, on_progress)
    reading = _Reading(corpus, symbols_of, share)
    runs = count_in_runs(reading.documents(), corpus.n_bytes, pretokenizer, should_stop=share)
    # There is one run; what is left after a stop must not begin another.
    pretokens = next(runs, PretokenCounts((), np.zeros(0, np.int64)))
    pretokens = write_words(pretokens, pretokenizer)
    return CountedCorpus(pretokens, corpus.n_bytes, reading.sha256, reading.symbols())


class _Reading:
    """One pass over the files, which also collects their hash and the symbols that occur."""

    def __init__(self, corpus: StreamedCorpus, symbols_of: Base | None, share: ReadShare) -> None:
        self._corpus = corpus
        self._share = share
        self._symbols_of = symbols_of
        self._digest = hashlib.sha256(b"documents")
        self._bytes_seen = np.zeros(256, np.bool_)
        self._characters_seen: set[str] = set()
        self._all_read = False

    def documents(self) -> Iterator[Iterator[bytes]]:
        """Yield each file as pieces that end between characters."""
        corpus = self._corpus
        for path, size, begin in zip(corpus.paths, corpus.sizes, corpus.begins, strict=True):
            yield self._share.noting(self._pieces(path, size, begin))
        self._all_read = True

    def sha256(self) -> str:
        """Return the hash of all texts, or '' if only a part was read."""
        return self._digest.hexdigest() if self._all_read else ""

    def symbols(self) -> frozenset[bytes]:
        if self._symbols_of == "characters":
            return frozenset(character.encode() for character in self._characters_seen)
        return frozenset(bytes([byte]) for byte in np.flatnonzero(self._bytes_seen).tolist())

    def _pieces(self, path: Path, size: int, begin: int) -> Iterator[bytes]:
        self._digest.update(b"1 %d:" % size)
        end = begin + size  # as many bytes as the file had when the corpus was made
        with reading(os.fspath(path)) as file:
            file.seek(begin)
            for at, piece in read_pieces(file, path.name, end, begin, end):
                self._look_at(piece, path.name, at)
                yield piece

    def _look_at(self, piece: bytes, name: str, at: int) -> None:
        text = decoded(piece, name, at)
        self._digest.update(piece)
        if self._symbols_of == "characters":
            self._characters_seen.update(text)
        elif self._symbols_of == "bytes":
            self._bytes_seen |= np.bincount(np.frombuffer(piece, np.uint8), minlength=256) > 0
