"""Find the files of a corpus by paths, URLs, folders and patterns, and describe each."""

from __future__ import annotations

import codecs
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from typing import BinaryIO, Final, Literal, NamedTuple

from bpe_core.corpus import (
    JSON_LINES,
    JUDGED_BYTES,
    ROWS_DESCRIBED,
    TABLE_KINDS,
    DecodingErrors,
    FoundFile,
    Note,
    Packing,
    TableColumns,
    are_json_lines,
    describe_row_columns,
    detect_packing,
    file_suffix,
    files_at,
    is_plain_text,
    no_text_column,
    open_packed,
    open_parquet_file,
    reading,
    refuse_controls,
    refuse_other_kinds,
    row_in,
    shown,
    shown_encoding,
    skipped,
    unpacked_name,
    values_on,
    whole_characters,
)
from bpe_core.errors import (
    BpeError,
    CorpusError,
    EmptyCorpusError,
    UnsupportedFileError,
)
from bpe_core.files import ARCHIVE_DAMAGE
from bpe_core.unicode import are_whole_characters

Kind = Literal["text", "jsonl", "parquet", "whole"]
"""How a file is read: piece by piece, line by line, by row groups, or whole by one worker."""

_KINDS: Final[dict[str, Kind]] = {
    **dict.fromkeys(TABLE_KINDS, "whole"),
    **dict.fromkeys(JSON_LINES, "jsonl"),
    ".parquet": "parquet",
}
_MAX_WHOLE_BYTES: Final = 1 << 30


class Source(NamedTuple):
    """A file that holds text."""

    url: str
    """A URL, or an absolute path."""
    kind: Kind
    packing: Packing | None
    size: int
    version: str
    """A value that changes if the file does: its time and size, or a tag from its server."""
    is_named: bool = True
    """False for one of a folder or a pattern, which is skipped if it cannot be read."""
    name: str = ""
    """What documents, notes and figures call it: no path of this machine."""


class DescribedFile(NamedTuple):
    """What must be known about a file to divide it."""

    source: Source
    column: str
    """The column of the text; empty for plain text."""
    groups: tuple[int, ...] = ()
    """The size in bytes of each row group of a Parquet file."""
    names: tuple[str, ...] = ()
    """The columns of Parquet, or of the first rows of JSON lines, if they were asked for."""


def find_sources(names: Iterable[str]) -> list[Source]:
    """Find the files that paths, URLs, folders and patterns such as *.parquet name, in order.

    Of a folder all files are taken, sorted by path, but for hidden ones. Raises CorpusError for a
    name without files.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "b.jsonl.gz").write_bytes(b"")
    ...     _ = Path(folder, "a.txt").write_text("hug")
    ...     [(source.kind, source.packing, source.size) for source in find_sources([folder])]
    [('text', None, 3), ('jsonl', 'gzip', 0)]
    """
    found: list[Source] = []
    for name in names:
        files, is_named = files_at(name)
        found += [_source(file, is_named=is_named) for file in files]
    if not found:
        raise EmptyCorpusError("No file given: name at least one.")
    return _named_apart(found)


def _source(file: FoundFile, *, is_named: bool) -> Source:
    name, packing = unpacked_name(file.name)
    kind = _KINDS.get(file_suffix(name), "text")
    if packing and kind == "parquet":
        kind = "whole"
    return Source(file.url, kind, packing, file.size, file.version, is_named, file.name)


def _named_apart(sources: list[Source]) -> list[Source]:
    """Name files of one name by their paths from the folder that all files are in."""
    urls: dict[str, set[str]] = {}
    for source in sources:
        urls.setdefault(source.name, set()).add(source.url)
    alike = {name for name, found in urls.items() if len(found) > 1}
    parts = [shown(source.url).split("/") for source in sources]
    n_shared = sum(1 for _ in takewhile(lambda level: len(set(level)) == 1, zip(*parts)))  # noqa: B905
    return [
        source._replace(name="/".join(path[n_shared:])) if source.name in alike else source
        for source, path in zip(sources, parts, strict=True)
    ]


def describe_or_skip(
    source: Source,
    text_column: str | None,
    errors: DecodingErrors = "strict",
    *,
    lists_columns: bool = False,
) -> DescribedFile | Note:
    """Describe a file, or return why one of a folder or a pattern is skipped.

    >>> source = Source("/no/a.txt", "text", None, 3, "", is_named=False, name="a.txt")
    >>> describe_or_skip(source, None).kind
    'unreadable'
    """
    try:
        return describe_source(source, text_column, errors, lists_columns=lists_columns)
    except CorpusError as error:
        if source.is_named:
            raise
        return note_skipped(source, error)


def note_skipped(source: Source, error: CorpusError) -> Note:
    """Return the note on a file that is skipped, which names no path of this machine."""
    return skipped(source.name, type(error)(str(error).replace(shown(source.url), source.name)))


def describe_source(
    source: Source,
    text_column: str | None,
    errors: DecodingErrors = "strict",
    *,
    lists_columns: bool = False,
) -> DescribedFile:
    """Look at a file's beginning, or at the metadata at its end, to know how to divide it.

    With `lists_columns`, the columns of rows are listed too. Raises UnsupportedFileError for a file
    that is not of the kind its name says, and CorpusError for a missing column.
    """
    name = shown(source.url)
    if source.kind == "parquet":
        with reading(source.url) as file:
            parquet = open_parquet_file(file, name, errors)
            column = text_column
            if column not in parquet.strings:
                _, column = parquet.choose(column)
            names = parquet.columns if lists_columns else ()
            return DescribedFile(source, column, parquet.group_sizes(column), names)
    source = _by_content(source, name)
    if source.kind == "jsonl":
        if text_column is not None and not lists_columns:
            return DescribedFile(source, text_column)
        found, has_texts = _json_columns(source)
        column = text_column
        if column is None:
            if found.chosen is None and not has_texts:
                raise no_text_column(name, found)
            column = found.chosen.name if found.chosen else ""
        return DescribedFile(source, column, names=found.names if lists_columns else ())
    if source.kind == "whole" and source.size > _MAX_WHOLE_BYTES:
        raise UnsupportedFileError(
            f"{name} has {source.size:,} bytes, and a file of its kind is read whole, up to "
            f"{_MAX_WHOLE_BYTES:,}. Convert it to text, JSON lines or Parquet, or split it."
        )
    return DescribedFile(source, text_column or "" if source.kind == "whole" else "")


def _by_content(source: Source, name: str) -> Source:
    """Return a source of the kind that its beginning shows; raises UnsupportedFileError."""
    with reading(source.url) as file:
        head = file.read(JUDGED_BYTES)
    if (packing := detect_packing(head)) != source.packing:
        source = source._replace(packing=packing)
    if packing is not None:
        name = unpacked_name(name)[0]
        with opened(source) as file:
            head = file.read(JUDGED_BYTES)
    refuse_other_kinds(head, name)
    is_cut = len(head) == JUDGED_BYTES
    is_shown = shown_encoding(head) is not None
    # A large file is read in pieces even if it is not UTF-8, which raises an error or replaces.
    is_utf8 = are_whole_characters(whole_characters(head)[0] if is_cut else head)
    in_pieces = not is_shown and (is_utf8 or source.size > _MAX_WHOLE_BYTES)
    kind = file_suffix(name)
    if kind in (".json", *JSON_LINES):
        text = head.decode(errors="replace").removeprefix("\ufeff")
        is_lines = in_pieces and are_json_lines(text, kind, is_cut=is_cut)
        return source._replace(kind="jsonl" if is_lines else "whole")
    if source.kind == "whole" or not is_plain_text(head, name):
        return source._replace(kind="whole")
    refuse_controls(head, name)
    return source if in_pieces else source._replace(kind="whole")


def _json_columns(source: Source) -> tuple[TableColumns, bool]:
    """Describe the columns of JSON lines by the first rows; True if some are texts without one."""
    rows: list[dict[str, object]] = []
    has_texts = False
    with opened(source) as file:
        for line in islice(file, ROWS_DESCRIBED):
            with suppress(ValueError, RecursionError):
                found = [row_in(value) for value in values_on(line.removeprefix(codecs.BOM_UTF8))]
                rows += [row for row in found if isinstance(row, dict)]
                has_texts = has_texts or any(isinstance(row, str) for row in found)
    names = dict.fromkeys(name for row in rows for name in row)
    return describe_row_columns(names, rows, is_sample=True), has_texts


@contextmanager
def opened(source: Source) -> Generator[BinaryIO]:
    """Open a file, and unpack it if it is packed; errors become CorpusError."""
    name = shown(source.url)
    with reading(source.url) as file:
        if source.packing is None:
            yield file
            return
        try:
            yield open_packed(file, source.packing, name)
        except BpeError:
            raise
        except ARCHIVE_DAMAGE as error:
            reason = " ".join(str(error).split())[:200]
            raise UnsupportedFileError(
                f"{name} is damaged or incomplete ({reason}). Make or download it again."
            ) from None


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
