"""Find the files of a corpus by paths, URLs, folders and patterns, and describe each."""

from __future__ import annotations

import codecs
import gzip
import json
from collections.abc import Iterable, Iterator
from importlib import import_module
from io import BufferedReader
from itertools import islice
from typing import Any, BinaryIO, Final, Literal, NamedTuple, cast

from bpe_core.corpus.columns import (
    ROWS_DESCRIBED,
    Tally,
    columns_of_tallies,
    no_column,
    no_text_column,
)
from bpe_core.corpus.parquet import open_parquet_file
from bpe_core.corpus.urls import FoundFile, files_at, reading, shown
from bpe_core.errors import CorpusError, EmptyCorpusError, UnsupportedFileError
from bpe_core.extras import needs_extra

Kind = Literal["text", "jsonl", "parquet"]
Packing = Literal["", "gzip", "zstd"]

_KINDS: Final[dict[str, Kind]] = {
    ".txt": "text",
    ".text": "text",
    ".md": "text",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_IN_FOLDERS: Final = (".txt", ".jsonl", ".ndjson", ".parquet")
_PACKINGS: Final[dict[str, Packing]] = {".gz": "gzip", ".zst": "zstd"}
_REFUSED: Final = (
    *(".csv", ".tsv", ".json", ".zip", ".bz2", ".xz", ".7z", ".tar", ".tgz", ".pdf", ".arrow"),
)
_OTHER_MARKS: Final = (
    *(codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PK\x03\x04"),
    *(b"PAR1", b"%PDF"),
)


class Source(NamedTuple):
    """A file that holds text."""

    url: str
    """A URL, or an absolute path."""
    kind: Kind
    packing: Packing
    size: int
    version: str
    """A value that changes if the file does: its time and size, or a tag from its server."""


class Described(NamedTuple):
    """What must be known about a file to divide it."""

    source: Source
    column: str
    """The column of the text; empty for plain text."""
    groups: tuple[int, ...] = ()
    """The size in bytes of each row group of a Parquet file."""


def find_sources(names: Iterable[str]) -> list[Source]:
    """Find the files that paths, URLs, folders and patterns such as *.parquet name, in order.

    Of a folder, files of text, JSON lines and Parquet in it are taken, sorted by path. Raises
    CorpusError for a name that finds no file, and UnsupportedFileError.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "b.jsonl.gz").write_bytes(b"")
    ...     _ = Path(folder, "a.txt").write_text("hug")
    ...     [(source.kind, source.packing, source.size) for source in find_sources([folder])]
    [('text', '', 3), ('jsonl', 'gzip', 0)]
    """
    found: list[Source] = []
    for name in names:
        files, is_folder = files_at(name)
        if is_folder:
            files = [file for file in files if _suffixes(file.url)[0] in _IN_FOLDERS]
        if not files:
            raise CorpusError(
                f"{shown(name)!r} finds no file"
                + (" of text, JSON lines or Parquet" if is_folder else "")
                + ". Check it."
            )
        found += map(_source, files)
    if not found:
        raise EmptyCorpusError("No file given: name at least one.")
    return found


def _suffixes(url: str) -> tuple[str, str]:
    """Return the suffix of the contents, and that of the packing.

    >>> _suffixes("s3://b/a.jsonl.gz"), _suffixes("a.b/notes")
    (('.jsonl', '.gz'), ('', ''))
    """
    name = shown(url).rpartition("/")[2].lower()
    stem, dot, last = name.rpartition(".")
    packing = dot + last if dot + last in _PACKINGS else ""
    if packing:
        stem, dot, last = stem.rpartition(".")
    return (dot + last if stem else "", packing)


def _source(file: FoundFile) -> Source:
    suffix, packing = _suffixes(file.url)
    if suffix in _REFUSED or (packing and suffix == ".parquet"):
        raise UnsupportedFileError(
            f"{shown(file.url)} is not text, JSON lines or Parquet, plain or packed as .gz or "
            ".zst, and only those are counted piece by piece. Convert it first."
        )
    return Source(
        file.url, _KINDS.get(suffix, "text"), _PACKINGS.get(packing, ""), file.size, file.version
    )


def describe(source: Source, text_column: str | None) -> Described:
    """Look at a file's beginning, or at the metadata at its end, to know how to divide it.

    Raises UnsupportedFileError for a file that is not of the kind its name says, and CorpusError
    for a missing column.
    """
    name = shown(source.url)
    if source.kind == "parquet":
        with reading(source.url) as file:
            parquet = open_parquet_file(file, name)
            column = text_column
            if column not in parquet.strings:
                found = parquet.describe()
                if column is not None:
                    raise no_column(name, column, found)
                if found.chosen is None:
                    raise no_text_column(name, found)
                column = found.chosen.name
            return Described(source, column, parquet.group_sizes(column))
    if source.kind == "jsonl":
        return Described(source, _json_column(source, text_column))
    with opened(source) as file:
        if file.read(4).startswith(_OTHER_MARKS):
            raise UnsupportedFileError(
                f"{name} is not plain UTF-8 text. Convert it, or give it the ending that fits, "
                "such as .txt.gz, .txt.zst or .parquet."
            )
    return Described(source, "")


def _json_column(source: Source, text_column: str | None) -> str:
    if text_column is not None:
        return text_column
    characters: dict[str, int] = {}
    first: dict[str, list[object]] = {}
    with opened(source) as file:
        for line in islice(file, ROWS_DESCRIBED):
            try:
                row: object = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if not isinstance(row, dict):
                continue
            for key, value in cast("dict[str, object]", row).items():
                if isinstance(value, str):
                    characters[key] = characters.get(key, 0) + len(value)
                    first.setdefault(key, []).append(value)
    tallies = [Tally(key, characters[key], first[key][:200]) for key in characters]
    found = columns_of_tallies(tuple(characters), tallies, is_sample=True)
    if found.chosen is None and source.size:
        raise no_text_column(shown(source.url), found)
    return found.chosen.name if found.chosen else ""


class opened:  # noqa: N801 - used as a statement: `with opened(source) as file:`
    """Open a file, and unpack it if it is packed; errors become CorpusError."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._packed: Any = None
        self._outer = reading(source.url)

    def __enter__(self) -> BinaryIO:
        file = self._outer.__enter__()
        if self._source.packing == "gzip":
            self._packed = gzip.GzipFile(fileobj=file)
        elif self._source.packing == "zstd":
            with needs_extra("tables", f"Reading {shown(self._source.url)}"):
                arrow: Any = import_module("pyarrow")
            stream = arrow.CompressedInputStream(arrow.PythonFile(file, "r"), "zstd")
            self._packed = BufferedReader(stream, 1 << 20)
        return cast("BinaryIO", self._packed or file)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        try:
            if isinstance(error, (EOFError, OSError, ValueError)) and self._packed is not None:
                reason = " ".join(str(error).split())[:200]
                raise UnsupportedFileError(
                    f"{shown(self._source.url)} is damaged or incomplete ({reason}). Make or "
                    "download it again."
                ) from None
        finally:
            self._outer.__exit__(None, None, None)


def lines_from(file: BinaryIO, begin: int, end: int | None) -> Iterator[tuple[int, bytes]]:
    r"""Yield the lines that start between two places of a file, each with its place.

    >>> from io import BytesIO
    >>> list(lines_from(BytesIO(b"a\nb\nc"), 1, 3))
    [(2, b'b\n')]
    """
    at = begin
    if begin:
        file.seek(begin - 1)
        at += len(file.readline()) - 1
    while end is None or at < end:
        line = file.readline()
        if not line:
            return
        yield at, line
        at += len(line)
