"""Documents that are on disk, each read when it is asked for."""

from __future__ import annotations

import codecs
import os
import weakref
from abc import abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import overload

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.composition import Span
from bpe_core.corpus.encoding_guess import JUDGED_BYTES
from bpe_core.corpus.file_kinds import is_plain_text
from bpe_core.corpus.text_decoding import decoded, read_pieces
from bpe_core.corpus.urls import Location
from bpe_core.errors import CorpusError, EmptyCorpusError, UnsupportedFileError, explain
from bpe_core.files import open_regular


class _Texts(Sequence[str]):
    """Texts of which at most one is in memory."""

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[str, ...]: ...
    def __getitem__(self, place: int | slice) -> str | tuple[str, ...]:
        """Return a text, or several as a tuple."""
        places = range(len(self))[place]
        return self._read(places) if isinstance(places, int) else tuple(map(self._read, places))

    @abstractmethod
    def _read(self, place: int) -> str: ...


class FiledTexts(_Texts):
    """Texts in a file, one after another in UTF-8.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = Path(file.name).write_text("hughugs")
    ...     FiledTexts(Path(file.name), np.array([3, 4]))[:]
    ('hug', 'hugs')
    """

    def __init__(self, path: Path, lengths: NDArray[np.int64]) -> None:
        ends = lengths.cumsum()
        size = int(ends[-1]) if len(ends) else 0
        if lengths.min(initial=0) < 0 or path.stat().st_size != size:
            raise ValueError(f"Expected a text of {size:,} bytes.")
        self._file = open_regular(path)
        self._reading = Lock()
        """Between a seek and its read, another thread would move the file's position."""
        weakref.finalize(self, self._file.close)
        self._ends = ends
        self._lengths = lengths

    def __len__(self) -> int:
        return len(self._ends)

    def _read(self, place: int) -> str:
        n_bytes = int(self._lengths[place])
        with self._reading:
            self._file.seek(int(self._ends[place]) - n_bytes)
            found = self._file.read(n_bytes)
        return found.decode()


class TextsWriter:
    """Writes texts to a new file, one after another, so that none stays in memory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     writer = TextsWriter(Path(folder, "texts"))
    ...     writer.write(["hug", "hugs"])
    ...     writer.written()[:]
    ('hug', 'hugs')
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = path.open("xb")
        self._lengths: list[int] = []

    def write(self, texts: Iterable[str]) -> None:
        """Add texts without lone surrogates. Raises CorpusError if there is no room for them."""
        with self._errors_named():
            self._lengths += [self._file.write(text.encode()) for text in texts]

    def written(self) -> FiledTexts:
        """Close the file, and return its texts. Raises CorpusError as `write` does."""
        with self._errors_named():
            self._file.close()
        return FiledTexts(self._path, np.array(self._lengths, np.int64))

    @contextmanager
    def _errors_named(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise CorpusError(
                f"{self._path} cannot be written: {explain(error, '')} Set TMPDIR to another "
                "folder."
            ) from None


class FileTexts(_Texts):
    """Files of plain UTF-8 text, each one text, read only when they are needed.

    A byte order mark is left out. Raises CorpusError for a path that cannot be opened,
    EmptyCorpusError, and UnsupportedFileError for tables, compressed files and other encodings.

    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".txt") as file:
    ...     _ = Path(file.name).write_text("hug hugs")
    ...     texts = FileTexts([file.name])
    ...     texts.n_bytes, texts[:]
    (8, ('hug hugs',))
    """

    def __init__(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        self.paths = tuple(map(Path, paths))
        self._begins: list[int] = []
        """The byte at which each file's text starts."""
        self.sizes: list[int] = []
        for path in self.paths:
            with Location(os.fspath(path)).reading() as file:
                head = file.read(JUDGED_BYTES)
                size = os.fstat(file.fileno()).st_size
            if not is_plain_text(head, path.name):
                raise UnsupportedFileError(
                    f"{path.name} is not plain UTF-8 text, and only that can be streamed. Unpack "
                    "or convert it, or pass fewer or smaller files."
                )
            begin = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
            self._begins.append(begin)
            self.sizes.append(size - begin)
        self.n_bytes = sum(self.sizes)
        if not self.n_bytes:
            raise EmptyCorpusError("The corpus is empty: give at least one character.")

    def __len__(self) -> int:
        return len(self.paths)

    def pieces(self, place: int) -> Iterator[tuple[bytes, str]]:
        """Yield a text in pieces that end between characters, each as UTF-8 and as a str.

        Raises TextDecodingError with the first byte that is not UTF-8, and CorpusError for a file
        that shrinks meanwhile; what is appended to one is not read.
        """
        path, begin = self.paths[place], self._begins[place]
        end = begin + self.sizes[place]
        with Location(os.fspath(path)).reading() as file:
            file.seek(begin)
            for at, piece in read_pieces(file, path.name, end, begin, end):
                yield piece, decoded(piece, path.name, at)

    def _read(self, place: int) -> str:
        return "".join(text for _, text in self.pieces(place))


class CutTexts(_Texts):
    """A sequence of spans of texts, each read as a text.

    >>> CutTexts(["hug", "hugging"], [[], [Span(0, 3), Span(4, 7)]])[:]
    ('hug', 'ing')
    """

    def __init__(self, texts: Sequence[str], spans: Sequence[Sequence[Span]]) -> None:
        self._texts = texts
        self._cuts = [(i, span) for i, found in enumerate(spans) for span in found]

    def __len__(self) -> int:
        return len(self._cuts)

    def _read(self, place: int) -> str:
        i, (start, end) = self._cuts[place]
        return self._texts[i][start:end]
