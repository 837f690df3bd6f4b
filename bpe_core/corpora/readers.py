"""What kind of file a source is, how it unpacks, and the documents in it."""

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

from bpe_core.corpora.damage import ARCHIVE_DAMAGE
from bpe_core.corpora.tables import TABLE_KINDS, read_table, text_columns_of
from bpe_core.corpora.text_decoding import decode_text
from bpe_core.errors import CorpusError, EmptyCorpusError, UnsupportedFileError

MOST_UNPACKED_BYTES = 512 * 2**20
_MOST_MEMBERS = 10_000
_CHUNK = 1 << 20

# Zip archives by another name: their text is in XML parts, which are no documents.
_OFFICE = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".jar", ".whl", ".npz")


class Upload(Protocol):
    """An uploaded file: a name, and its bytes by `read()` (or `getvalue()`, which is preferred)."""

    @property
    def name(self) -> str: ...

    def read(self) -> bytes: ...


Source = str | os.PathLike[str] | Upload


class Document(NamedTuple):
    """One document of a file, what to call it, and the encoding it was in."""

    text: str
    name: str
    encoding: str


@dataclass(slots=True)
class Budget:
    """How many bytes may still be unpacked: an archive of a kilobyte can hold terabytes."""

    left: int = field(default_factory=lambda: MOST_UNPACKED_BYTES)

    def read(self, stream: IO[bytes] | gzip.GzipFile, name: str, packed: int) -> bytes:
        """Read a stream to its end; raises UnsupportedFileError where it is longer than is left."""
        chunks: list[bytes] = []
        while chunk := stream.read(min(_CHUNK, self.left + 1)):
            self.left -= len(chunk)
            if self.left < 0:
                raise too_large(name, packed)
            chunks.append(chunk)
        return b"".join(chunks)


def too_large(name: str, packed: int) -> UnsupportedFileError:
    """Say that an archive holds more than is safe to unpack, with both sizes."""
    return UnsupportedFileError(
        f"{name} has {packed:,} bytes but unpacks to more than the {MOST_UNPACKED_BYTES:,} that "
        "may be unpacked at a time. Give fewer or smaller files."
    )


Found = tuple[list[Document], list[str]]


def read_source(source: Source, text_column: str | None, budget: Budget) -> Found:
    """Read one source's documents, and the notes on what was skipped or guessed in it.

    Raises CorpusError or a subclass where nothing can be had from it.
    """
    data, name = _bytes_of(source)
    return _read_bytes(data, name, text_column, budget, nested=False)


def table_columns(source: Source) -> list[str]:
    """Name the text columns of a csv, tsv, jsonl, json or parquet file, gzipped or not."""
    data, name = _bytes_of(source)
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, name, Budget())
        name = name.removesuffix(".gz")
    kind = _suffix(name)
    if kind not in TABLE_KINDS:
        return []
    return text_columns_of(data, kind, name, most_bytes=MOST_UNPACKED_BYTES)


def _bytes_of(source: Source) -> tuple[bytes, str]:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        try:
            return path.read_bytes(), path.name
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CorpusError(
                f"{os.fspath(source)!r} cannot be opened: {reason}. Check the path."
            ) from None
        except ValueError:
            raise CorpusError(f"{os.fspath(source)!r} is no path: it holds a NUL.") from None
    get_value: Callable[[], bytes] | None = getattr(source, "getvalue", None)
    return (get_value() if get_value else source.read()), source.name


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def _read_bytes(
    data: bytes, name: str, text_column: str | None, budget: Budget, *, nested: bool
) -> Found:
    if not data:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    if data.startswith(b"\x1f\x8b"):
        data = _gunzip(data, name, budget)
        name = name[:-3] if name.lower().endswith(".gz") else name
        if not data:
            raise EmptyCorpusError(f"{name} is empty once unpacked. Give a file with text in it.")
    kind = _suffix(name)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        if nested or kind in _OFFICE:
            what = "an archive inside an archive" if nested else f"a {kind[1:]} file"
            raise UnsupportedFileError(
                f"{name} is {what}, not text. Unpack it, or export its text first."
            )
        return _read_zip(data, name, text_column, budget)
    if kind in TABLE_KINDS or data.startswith(b"PAR1"):
        table = read_table(
            data, ".parquet" if data.startswith(b"PAR1") else kind, name, text_column,
            most_bytes=MOST_UNPACKED_BYTES,
        )  # fmt: skip
        return [
            Document(text, f"{name} {place}", table.encoding)
            for text, place in zip(table.texts, table.places, strict=True)
        ], table.notes
    decoded = decode_text(data, name)
    if not decoded.text:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    return [Document(decoded.text, name, decoded.encoding)], notes


def _gunzip(data: bytes, name: str, budget: Budget) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return budget.read(stream, name, len(data))
    except (OSError, EOFError, zlib.error) as error:
        raise UnsupportedFileError(
            f"{name} is not a whole gzip file ({error}). Pack it again."
        ) from None


def _read_zip(data: bytes, name: str, text_column: str | None, budget: Budget) -> Found:
    documents: list[Document] = []
    notes: list[str] = []
    failures: list[CorpusError] = []
    for member, packed in _members(data, name, budget):
        try:
            if isinstance(packed, CorpusError):
                raise packed
            found, said = _read_bytes(packed, member, text_column, budget, nested=True)
        except CorpusError as error:
            failures.append(error)
            notes.append(f"Skipped. {error}")
        else:
            documents.extend(found)
            notes.extend(said)
    if not documents:
        reasons = " ".join(map(str, failures)) or "It has no files."
        kind = UnsupportedFileError
        if all(isinstance(failure, EmptyCorpusError) for failure in failures):
            kind = EmptyCorpusError
        raise kind(f"{name} has no file that can be read. {reasons}")
    return documents, notes


def _members(data: bytes, name: str, budget: Budget) -> Iterator[tuple[str, bytes | CorpusError]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        infos = [
            info
            for info in archive.infolist()
            # What macOS adds beside each file is no file of the person's.
            if info.filename and not info.is_dir() and not info.filename.startswith("__MACOSX/")
        ]
    except ARCHIVE_DAMAGE as error:
        raise UnsupportedFileError(
            f"{name} is no whole zip file ({error}). Pack it again."
        ) from None
    if len(infos) > _MOST_MEMBERS:
        raise UnsupportedFileError(
            f"{name} holds {len(infos):,} files: at most {_MOST_MEMBERS:,} are read. "
            "Join them, or give fewer."
        )
    with archive:
        for info in infos:
            member = f"{name}/{info.filename}"
            try:
                with archive.open(info) as stream:
                    unpacked = budget.read(stream, name, len(data))
            except ARCHIVE_DAMAGE as error:
                yield (
                    member,
                    UnsupportedFileError(
                        f"{member} cannot be unpacked ({error}). Pack it again, without a password."
                    ),
                )
            else:
                yield member, unpacked
