"""Recognise the kind of a source, unpack it, and read its documents."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, Protocol

from bpe_core.checks import describe
from bpe_core.corpus.damage import ARCHIVE_DAMAGE
from bpe_core.corpus.tables import TABLE_KINDS, Report, read_table, text_columns_of
from bpe_core.corpus.text_decoding import decode_text
from bpe_core.errors import CorpusError, EmptyCorpusError, UnsupportedFileError

MOST_UNPACKED_BYTES = 512 * 2**20
# Text compresses to a tenth, logs and tables to a fiftieth. Below a hundredth it is one line
# repeated, which is harmless only while it is small.
MOST_TIMES_PACKED = 100
FREELY_UNPACKED_BYTES = 16 * 2**20
_MOST_MEMBERS = 10_000
_CHUNK = 1 << 20

# Zip archives under another name: their text is inside XML, so their members are not documents.
_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".jar", ".whl", ".npz")


class Upload(Protocol):
    """An uploaded file: a name, and `read()` or, preferably, `getvalue()` for its bytes."""

    @property
    def name(self) -> str: ...

    def read(self) -> bytes: ...


Source = str | os.PathLike[str] | Upload


class Document(NamedTuple):
    """One document of a file, with its name and its encoding."""

    text: str
    name: str
    encoding: str


@dataclass(slots=True)
class Budget:
    """How many bytes may still be unpacked: an archive of a kilobyte can hold terabytes.

    All sources together may unpack to `MOST_UNPACKED_BYTES`, and each to `MOST_TIMES_PACKED` times
    its own size or to `FREELY_UNPACKED_BYTES`, whichever is more.
    """

    left: int = field(default_factory=lambda: MOST_UNPACKED_BYTES)
    left_of_source: int = 0

    def begin(self, n_bytes: int) -> None:
        """Start a new source of `n_bytes`."""
        self.left_of_source = max(FREELY_UNPACKED_BYTES, MOST_TIMES_PACKED * n_bytes)

    def read(self, stream: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
        """Read a stream to its end; raises UnsupportedFileError if it exceeds the budget."""
        chunks: list[bytes] = []
        while chunk := stream.read(min(_CHUNK, self.left + 1, self.left_of_source + 1)):
            self.left -= len(chunk)
            self.left_of_source -= len(chunk)
            if self.left < 0:
                raise UnsupportedFileError(
                    f"{name} exceeds the {MOST_UNPACKED_BYTES:,} bytes that may be unpacked at "
                    "a time. Give fewer or smaller files."
                )
            if self.left_of_source < 0:
                raise UnsupportedFileError(
                    f"{name} unpacks to more than {MOST_TIMES_PACKED} times its size, as only "
                    "very repetitive text does. Unpack it first if you want to train on it."
                )
            chunks.append(chunk)
        return b"".join(chunks)


Found = tuple[list[Document], list[str]]


def size_of(source: Source) -> int:
    """Return the size of a source in bytes without reading it; 0 if unknown."""
    if isinstance(source, (str, os.PathLike)):
        try:
            return Path(source).stat().st_size
        except (OSError, ValueError):
            return 0
    size = getattr(source, "size", 0)
    return size if isinstance(size, int) else 0


def read_source(source: Source, text_column: str | None, budget: Budget, report: Report) -> Found:
    """Read one source's documents, with notes on what was skipped or guessed.

    Raises CorpusError or a subclass if it has no text that can be read.
    """
    data, name = _bytes_of(source)
    budget.begin(len(data))
    return _read_bytes(data, name, text_column, budget, report, nested=False)


def table_columns(source: Source) -> list[str]:
    """Return the names of the text columns of a table, gzipped or not."""
    data, name = _bytes_of(source)
    if data.startswith(b"\x1f\x8b"):
        budget = Budget()
        budget.begin(len(data))
        data = _gunzip(data, name, budget)
        name = name.removesuffix(".gz")
    kind = _suffix(name)
    if kind not in TABLE_KINDS:
        return []
    return text_columns_of(data, kind, name, most_bytes=MOST_UNPACKED_BYTES)


def _bytes_of(source: Source) -> tuple[bytes, str]:
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise CorpusError("The path is empty: name a file.")
        path = Path(source)
        try:
            return path.read_bytes(), path.name
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CorpusError(
                f"{os.fspath(source)!r} cannot be opened: {reason}. Check the path."
            ) from None
        except ValueError:
            raise CorpusError(
                f"{os.fspath(source)!r} is not a valid path: it contains a NUL or a lone "
                "surrogate. Correct it."
            ) from None
    get_value: Callable[[], bytes] | None = getattr(source, "getvalue", None)
    if not hasattr(source, "name") or not (get_value or hasattr(source, "read")):
        raise CorpusError(
            f"Expected a path, or an object with a name and read(), got {describe(source)}. For "
            "text in memory, use Corpus.from_text."
        )
    return (get_value() if get_value else source.read()), source.name


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def _read_bytes(
    data: bytes, name: str, text_column: str | None, budget: Budget, report: Report, *, nested: bool
) -> Found:
    if not data:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, name, budget)
        name = name[:-3] if name.lower().endswith(".gz") else name
        if not data:
            raise EmptyCorpusError(f"{name} unpacks to an empty file. Give a file with text in it.")
    kind = _suffix(name)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if nested or kind in _OFFICE:
            what = "an archive inside an archive" if nested else f"a {kind[1:]} file"
            raise UnsupportedFileError(
                f"{name} is {what}, not text. Unpack it, or export its text first."
            )
        return _read_zip(data, name, text_column, budget, report)
    if kind in TABLE_KINDS or data.startswith(b"PAR1"):
        table = read_table(
            data, ".parquet" if data.startswith(b"PAR1") else kind, name, text_column,
            most_bytes=MOST_UNPACKED_BYTES, report=report,
        )  # fmt: skip
        return [
            Document(text, f"{name} {place}", table.encoding)
            for text, place in zip(table.texts, table.places, strict=True)
        ], table.notes
    decoded = decode_text(data, name)
    if not decoded.text:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    if text_column is not None:
        notes.append(f"{name} is not a table: read all of it, not a column {text_column!r:.60}.")
    return [Document(decoded.text, name, decoded.encoding)], notes


def _gunzip(data: bytes, name: str, budget: Budget) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return budget.read(stream, name)
    except (OSError, EOFError, zlib.error) as error:
        raise UnsupportedFileError(
            f"{name} is a damaged or incomplete gzip file ({error}). Compress it again."
        ) from None


def _read_zip(
    data: bytes, name: str, text_column: str | None, budget: Budget, report: Report
) -> Found:
    documents: list[Document] = []
    notes: list[str] = []
    failures: list[CorpusError] = []
    for member in _members(data, name, budget):
        try:
            if isinstance(member.data, CorpusError):
                raise member.data
            found, new_notes = _read_bytes(
                member.data, member.name, text_column, budget,
                lambda part, member=member: report(member.begin + part * member.share), nested=True,
            )  # fmt: skip
        except CorpusError as error:
            failures.append(error)
            notes.append(f"Skipped. {error}")
        else:
            documents.extend(found)
            notes.extend(new_notes)
    if not documents:
        reasons = " ".join(map(str, failures)) or "It has no files."
        kind = UnsupportedFileError
        if all(isinstance(failure, EmptyCorpusError) for failure in failures):
            kind = EmptyCorpusError
        raise kind(f"{name} has no file that can be read. {reasons}")
    return documents, notes


class _Member(NamedTuple):
    name: str
    begin: float
    """The fraction of the archive's unpacked size that precedes this member."""
    share: float
    """The fraction that is this member."""
    data: bytes | CorpusError


def _members(data: bytes, name: str, budget: Budget) -> Iterator[_Member]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [
            info
            for info in archive.infolist()
            # macOS adds a hidden file of metadata beside each file.
            if info.filename and not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
    except ARCHIVE_DAMAGE as error:
        raise UnsupportedFileError(
            f"{name} is a damaged or incomplete zip file ({error}). Compress it again."
        ) from None
    if len(infos) > _MOST_MEMBERS:
        raise UnsupportedFileError(
            f"{name} has {len(infos):,} files, more than the {_MOST_MEMBERS:,} allowed. "
            "Join some, or give fewer."
        )
    total = sum(info.file_size for info in infos) or 1
    begin = 0.0
    with archive:
        for info in infos:
            member = f"{name}/{info.filename}"
            unpacked: bytes | CorpusError
            try:
                with archive.open(info) as stream:
                    unpacked = budget.read(stream, name)
            except ARCHIVE_DAMAGE as error:
                unpacked = UnsupportedFileError(
                    f"{member} cannot be unpacked ({error}). Compress it again, without a password."
                )
            share = info.file_size / total
            yield _Member(member, begin, share, unpacked)
            begin += share
