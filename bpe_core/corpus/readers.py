"""Recognise the kind of a source, unpack it, and read its documents.

A table has a document in each of its rows: csv, tsv, jsonl, json and Parquet files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple, Protocol

import regex

from bpe_core.checks import check_choice, describe, is_a
from bpe_core.corpus.archives import SECONDS_TO_DESCRIBE, Budget, iterate_members, unpack
from bpe_core.corpus.columns import (
    ROWS_DESCRIBED,
    Column,
    TableColumns,
    describe_row_columns,
    described,
    no_column,
    no_text_column,
    percent,
    quoted,
    text_in,
)
from bpe_core.corpus.file_kinds import (
    HEAD_BYTES,
    JSON_LINES,
    PARQUET_MARK,
    detect_packing,
    file_suffix,
    is_archive,
    is_packed,
    is_table,
    other_kind,
    unpacked_name,
)
from bpe_core.corpus.notes import Note, NoteGroup, NoteKind, listed
from bpe_core.corpus.rows import OnPart, Record, RowReader
from bpe_core.corpus.text_decoding import (
    DecodingErrors,
    check_encoding,
    decode_text,
    refuse_other_kinds,
)
from bpe_core.corpus.urls import Location
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    CorpusError,
    EmptyCorpusError,
    TextDecodingError,
    UnsupportedFileError,
)

_MAX_NAMED = 6
_LONE_SURROGATE = regex.compile("[\ud800-\udfff]")

_Value = tuple[str, object, object]
"""The place of a row, its value in the column that was taken, and in the one that is kept."""


@dataclass(slots=True)
class Table:
    """The texts of one column, their places in the file, and notes on what was left out.

    `values` has the value of each row in the column that is kept, if there is one.
    """

    encoding: str
    texts: list[str] = field(default_factory=list[str])
    places: list[str] = field(default_factory=list[str])
    values: list[str] = field(default_factory=list[str])
    notes: list[Note] = field(default_factory=list[Note])


def read_table(
    data: bytes,
    kind: str,
    name: str,
    text_column: str | None,
    *,
    kept_column: str | None = None,
    encoding: str | None = None,
    errors: DecodingErrors = "strict",
    budget: Budget,
    report: OnPart,
) -> Table:
    """Read the texts of one column, in order, without empty values and lone surrogates.

    The values of `kept_column` are read along with them. Raises CorpusError for a missing column,
    EmptyCorpusError if it has no text, and UnsupportedFileError if the file is not of the kind its
    name suggests or exceeds the budget.
    """
    if kind == ".parquet" or data.startswith(PARQUET_MARK):
        table = _read_parquet(data, name, text_column, errors, budget, report)
        if kept_column is not None:
            kept = _read_parquet(data, name, kept_column, errors, budget, report)
            values = dict(zip(kept.places, kept.texts, strict=True))
            table.values = [values.get(place, "") for place in table.places]
        return table
    asked = text_column, kept_column
    reader, table = _opened(data, name, encoding, errors, budget, report, asked)
    rows = reader.rows(kind)
    head, columns = _describe(rows, reader)
    column = text_column
    if text_column is None and columns.names:
        if columns.chosen is not None:
            column = columns.chosen.name
            table.notes += _choice_note(name, columns, columns.chosen)
        elif all(not isinstance(row.value, str) for row in head):
            raise no_text_column(name, columns)
    _collect(table, name, _values(chain(head, rows), column, kept_column))
    table.notes += reader.notes
    if column in columns.chats:
        table.notes.append(_chats_note(name, column))
    for wanted in (text_column, kept_column):
        if wanted is not None and columns.names and wanted not in reader.columns:
            raise no_column(name, wanted, columns)
    if not table.texts and kind in (".json", *JSON_LINES) and not reader.columns:
        raise UnsupportedFileError(
            f"{name} is JSON without text. Expected a list of strings or objects, an object of "
            "strings or lists, or one string or object per line."
        )
    return _with_text(table, name)


def describe_table(
    data: bytes,
    kind: str,
    name: str,
    *,
    encoding: str | None = None,
    errors: DecodingErrors = "strict",
    budget: Budget,
) -> TableColumns:
    """Describe the columns of a table by its first rows, or a Parquet file's by a sample of it.

    Raises as `read_table`, but for damage further down.
    """
    if kind == ".parquet" or data.startswith(PARQUET_MARK):
        # Most corpora have no such file, and starting processes takes 20 ms to import.
        from bpe_core.corpus.parquet_process import describe_parquet

        return describe_parquet(data, name, budget=budget)
    reader, _ = _opened(data, name, encoding, errors, budget, lambda _: None)
    return _describe(reader.rows(kind), reader)[1]


def _opened(
    data: bytes,
    name: str,
    encoding: str | None,
    errors: DecodingErrors,
    budget: Budget,
    report: OnPart,
    asked: tuple[str | None, ...] = (),
) -> tuple[RowReader, Table]:
    decoded = decode_text(data, name, encoding, errors)
    if not decoded.text.strip():
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    reader = RowReader(decoded.text, name, report, budget, asked)
    return reader, Table(decoded.encoding, notes=notes)


def _describe(rows: Iterator[Record], reader: RowReader) -> tuple[list[Record], TableColumns]:
    """Return the first rows, and the columns that they have."""
    head = list(islice(rows, ROWS_DESCRIBED + 1))
    looked_at = [row.value for row in head[:ROWS_DESCRIBED] if isinstance(row.value, Mapping)]
    is_sample = len(head) > ROWS_DESCRIBED
    return head, describe_row_columns(tuple(reader.columns), looked_at, is_sample=is_sample)


def _values(rows: Iterable[Record], column: str | None, kept: str | None) -> Iterator[_Value]:
    for place, value in rows:
        if not isinstance(value, Mapping):
            yield place, value, None
        else:
            yield place, value.get(column) if column else value, value.get(kept) if kept else None


def _read_parquet(
    data: bytes,
    name: str,
    text_column: str | None,
    errors: DecodingErrors,
    budget: Budget,
    report: OnPart,
) -> Table:
    from bpe_core.corpus.parquet_process import read_parquet

    facts, rows, texts, n_replaced = read_parquet(data, name, text_column, budget, report, errors)
    table = Table("utf-8", texts, [f"row {row}" for row in rows])
    if text_column is None and facts.columns.chosen is not None:
        table.notes += _choice_note(name, facts.columns, facts.columns.chosen)
    if facts.column in facts.columns.chats:
        table.notes.append(_chats_note(name, facts.column))
    if n_replaced:
        n = _counted(n_replaced, "row")
        text = f"{name}: replaced bytes that are not valid utf-8 with U+FFFD in {n}."
        table.notes.append(Note("replaced", name, text))
    _note_left_out(table, name, facts.n_rows - len(texts), 0, "")
    return _with_text(table, name)


def _choice_note(name: str, columns: TableColumns, chosen: Column) -> Iterator[Note]:
    if len(columns.names) == 1:
        return
    others = [
        f"{quoted(column.name)} ({percent(column.share)})"
        for column in sorted(columns.texts, key=lambda column: -column.share)
        if column.name != chosen.name
    ]
    rest = f" Other columns of text: {listed(others, _MAX_NAMED)}." if others else ""
    sampled = " The shares are of a sample of its rows." if columns.is_sample else ""
    text = f"{name}: took the column {described(chosen)}.{rest}{sampled}"
    yield Note("column", name, text, quoted(chosen.name))


def _chats_note(name: str, column: str) -> Note:
    text = (
        f"{name}: {quoted(column)} holds chats. Each is read as a line for each message, with its "
        "role and its content."
    )
    return Note("chats", name, text)


def _collect(table: Table, name: str, values: Iterable[_Value]) -> None:
    """Add the texts among values to a table, and notes on the others."""
    without_text = n_broken = 0
    first_broken = ""
    for place, found, kept in values:
        value = text_in(found)
        if not value:
            without_text += 1
        elif _LONE_SURROGATE.search(value):
            first_broken = first_broken or place
            n_broken += 1
        else:
            table.texts.append(value)
            table.places.append(place)
            table.values.append(text_in(kept) or "")
    _note_left_out(table, name, without_text, n_broken, first_broken)


def _note_left_out(
    table: Table, name: str, without_text: int, n_broken: int, first_broken: str
) -> None:
    if without_text:
        text = f"{name}: left out {_counted(without_text, 'row')} without text."
        table.notes.append(Note("rows", name, text))
    if n_broken:
        text = (
            f"{name}: left out {_counted(n_broken, 'row')} with a lone surrogate, which UTF-8 "
            f"cannot encode{first_broken and f'; the first is {first_broken}'}."
        )
        table.notes.append(Note("surrogate", name, text))


def _with_text(table: Table, name: str) -> Table:
    if not table.texts:
        notes = " ".join(note.text for note in table.notes)
        raise EmptyCorpusError(f"{name} has no text in its rows. {notes}".rstrip())
    return table


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


_MAX_REASONS = 5


class Upload(Protocol):
    """An uploaded file: a name, and `read()` or, preferably, `getvalue()` for its bytes."""

    @property
    def name(self) -> str:
        """Its name, whose ending may say what it holds."""
        ...

    def read(self) -> bytes:
        """Return its contents."""
        ...


Source = str | os.PathLike[str] | Upload


class Document(NamedTuple):
    """One document of a file, with its name and its encoding."""

    text: str
    name: str
    encoding: str
    value: str = ""
    """In the column that is kept."""


class ReadOptions(NamedTuple):
    """The caller's choices about tables and text; None leaves one to the reader."""

    text_column: str | Mapping[str, str] | None = None
    """For all tables, or by the name of a file; a member of an archive is `archive.zip/a.csv`."""
    encoding: str | Mapping[str, str] | None = None
    """For all files, or by the name of a file."""
    errors: DecodingErrors = "strict"
    """What becomes of bytes that do not fit the encoding."""
    max_archive_files: int | None = None
    """The largest number of files in an archive; None for no limit."""
    kept_column: str | None = None
    """A column of all tables whose values are read along with the texts."""

    def check(self) -> None:
        """Raise ConfigError for an unknown encoding or value of `errors`."""
        check_choice("errors", self.errors, DecodingErrors, ConfigError)
        encodings = (
            self.encoding.values() if isinstance(self.encoding, Mapping) else [self.encoding]
        )
        for encoding in encodings:
            if encoding is not None:
                check_encoding(encoding)

    def chosen_column(self, name: str) -> str | None:
        """Return the column chosen for a file."""
        column = self.text_column
        return column.get(name) if isinstance(column, Mapping) else column

    def chosen_decoding(self, name: str) -> tuple[str | None, DecodingErrors]:
        """Return the encoding chosen for a file, and what becomes of bytes that do not fit."""
        own = self.encoding.get(name) if isinstance(self.encoding, Mapping) else self.encoding
        return own, self.errors


class NamedFile(NamedTuple):
    """A file by path or URL that documents and notes call by another name."""

    url: str
    name: str
    size: int = 0
    """In bytes, if it is known."""

    def read(self) -> bytes:
        """Return its contents; raises CorpusError."""
        with Location(self.url).reading() as file:
            return file.read()


Found = tuple[list[Document], list[Note]]


def expand_folder(source: Source) -> list[Source]:
    """Return the files in a folder in the order of their paths, and any other source as it is.

    Hidden files are left out. Raises CorpusError for a folder without files.

    >>> expand_folder("a.txt")
    ['a.txt']
    """
    if not isinstance(source, (str, os.PathLike)) or not os.path.isdir(source):
        return [source]
    files, _ = Location(os.fspath(source)).files()
    return [NamedFile(file.url, file.name, file.size) for file in files]


def source_size(source: Source) -> int:
    """Return the size of a source in bytes without reading it; 0 if unknown."""
    if isinstance(source, (str, os.PathLike)):
        try:
            return Path(source).stat().st_size
        except (OSError, ValueError):
            return 0
    size = getattr(source, "size", 0)
    return size if isinstance(size, int) else 0


def skipped(name: str, error: CorpusError) -> Note:
    """Return the note on a file that was skipped because of an error."""
    if isinstance(error, EmptyCorpusError):
        return Note("empty", name, f"{name} is empty and was skipped.")
    kind: NoteKind = "undecodable" if isinstance(error, TextDecodingError) else "unreadable"
    return Note(kind, name, f"Skipped. {error}")


def reasons(failures: Sequence[tuple[str, CorpusError]]) -> str:
    """Return why files could not be read, grouped if there are many."""
    if len(failures) <= _MAX_REASONS:
        return " ".join(str(error) for _, error in failures)
    groups = NoteGroup.of(skipped(name, error) for name, error in failures)
    return " ".join(group.sentence for group in groups)


def source_name(source: Source) -> str:
    """Return the name of a source, as documents and notes use it."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source).name or os.fspath(source)
    return str(getattr(source, "name", describe(source)))


def read_source(source: Source, choices: ReadOptions, budget: Budget, report: OnPart) -> Found:
    """Read one source's documents, with notes on what was skipped or guessed.

    Raises CorpusError or a subclass if it has no text that can be read.
    """
    data, name = source_bytes(source)
    budget.begin(len(data))
    return _read_bytes(data, name, choices, budget, report, nested=False)


def tables_in(
    sources: Sequence[Source], choices: ReadOptions, most: int
) -> Iterator[tuple[str, TableColumns]]:
    """Describe the first `most` tables among files, those in zip archives too, with their names.

    Tables that cannot be read are left out, because reading the corpus reports them.

    >>> import io
    >>> class File(io.BytesIO):
    ...     name = "words.csv"
    >>> found = tables_in([File(b"id,text\\n1,hug")], ReadOptions(), 9)
    >>> [(name, columns.names) for name, columns in found]
    [('words.csv', ('id', 'text'))]
    """
    return islice(_tables_in(sources, choices), most)


def may_be_tables(data: bytes, name: str) -> bool:
    """Return whether `tables_in` may find a table in a file.

    >>> may_be_tables(b"hug", "a.txt"), may_be_tables(b"text\\nhug", "a.csv")
    (False, True)
    """
    head = data[:HEAD_BYTES]
    return is_packed(head) or is_table(head, file_suffix(name))


def _tables_in(
    sources: Sequence[Source], choices: ReadOptions
) -> Iterator[tuple[str, TableColumns]]:
    budget = Budget(seconds_apart=SECONDS_TO_DESCRIBE)
    for source in sources:
        with suppress(CorpusError):
            data, name = source_bytes(source)
            budget.begin(len(data))
            for member, own in _files_in(data, name, budget, choices):
                with suppress(CorpusError):
                    own_name, columns = _find_table(own, member, choices, budget)
                    if columns is not None:
                        yield own_name, columns


def _files_in(
    data: bytes, name: str, budget: Budget, choices: ReadOptions
) -> Iterator[tuple[str, bytes]]:
    """Yield the files in an archive, or the file itself, unpacked."""
    data, name = _unpacked(data, name, budget)
    if not is_archive(data) or other_kind(data[:HEAD_BYTES], name) is not None:
        yield name, data
        return
    for member in iterate_members(data, name, budget, choices.max_archive_files):
        if not isinstance(member.data, CorpusError):
            yield member.name, member.data


def _find_table(
    data: bytes, name: str, choices: ReadOptions, budget: Budget
) -> tuple[str, TableColumns | None]:
    data, name = _unpacked(data, name, budget)
    kind = file_suffix(name)
    if is_archive(data) or not is_table(data, kind):
        return name, None
    encoding, errors = choices.chosen_decoding(name)
    return name, describe_table(data, kind, name, encoding=encoding, errors=errors, budget=budget)


def _unpacked(data: bytes, name: str, budget: Budget) -> tuple[bytes, str]:
    """Return what a packed file holds and its name, or both as they are."""
    packing = detect_packing(data[:HEAD_BYTES])
    if packing is None:
        return data, name
    return unpack(data, packing, name, budget), unpacked_name(name)[0]


def source_bytes(source: Source) -> tuple[bytes, str]:
    """Return the contents of a source and its name; raises CorpusError and ArgumentTypeError."""
    if isinstance(source, (str, os.PathLike)):
        if not os.fspath(source):
            raise CorpusError("The path is empty: name a file.")
        with Location(os.fspath(Path(source))).reading() as file:  # a Path is never a URL
            return file.read(), source_name(source)
    get_value: Callable[[], bytes] | None = getattr(source, "getvalue", None)
    if not hasattr(source, "name") or not (get_value or hasattr(source, "read")):
        raise ArgumentTypeError(
            f"Expected a path, or an object with a name and read(), got {describe(source)}. For "
            "text in memory, use Corpus.from_text."
        )
    data = get_value() if get_value else source.read()
    if not is_a(data, bytes):
        raise ArgumentTypeError(
            f"Reading {source.name} gives a value of type {type(data).__name__}, not bytes. Open "
            "it in the mode 'rb', or give its path."
        )
    return data, source.name


def _read_bytes(
    data: bytes, name: str, choices: ReadOptions, budget: Budget, report: OnPart, *, nested: bool
) -> Found:
    if not data:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    packed = data
    data, name = _unpacked(data, name, budget)
    if not data:
        raise EmptyCorpusError(f"{name} unpacks to an empty file. Give a file with text in it.")
    head = data[:HEAD_BYTES]
    if detect_packing(head) is not None and packed is not data:
        raise UnsupportedFileError(f"{name} is packed twice. Unpack it first.")
    refuse_other_kinds(data, name)
    if is_archive(head):
        if nested:
            raise UnsupportedFileError(
                f"{name} is an archive inside an archive, not text. Unpack it first."
            )
        return _read_archive(data, name, choices, budget, report)
    encoding, errors = choices.chosen_decoding(name)
    kind = file_suffix(name)
    if is_table(head, kind):
        table = read_table(
            data, kind, name, choices.chosen_column(name), kept_column=choices.kept_column,
            encoding=encoding, errors=errors, budget=budget, report=report,
        )  # fmt: skip
        values = table.values or [""] * len(table.texts)
        return [
            Document(text, f"{name} {place}", table.encoding, value)
            for text, place, value in zip(table.texts, table.places, values, strict=True)
        ], table.notes
    decoded = decode_text(data, name, encoding, errors)
    if not decoded.text:
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    notes = [decoded.note] if decoded.note else []
    if (column := choices.chosen_column(name)) is not None:
        text = f"{name} is not a table: read all of it, not a column {quoted(column)}."
        notes.append(Note("not-a-table", name, text))
    return [Document(decoded.text, name, decoded.encoding)], notes


def _read_archive(
    data: bytes, name: str, choices: ReadOptions, budget: Budget, report: OnPart
) -> Found:
    documents: list[Document] = []
    notes: list[Note] = []
    failures: list[tuple[str, CorpusError]] = []
    for member in iterate_members(data, name, budget, choices.max_archive_files):
        try:
            if isinstance(member.data, CorpusError):
                raise member.data
            found, new_notes = _read_bytes(
                member.data, member.name, choices, budget,
                lambda part, member=member: report(member.begin + part * member.share), nested=True,
            )  # fmt: skip
        except CorpusError as error:
            failures.append((member.name, error))
            notes.append(skipped(member.name, error))
        else:
            documents.extend(found)
            notes.extend(new_notes)
        # Thousands of unreadable members must not keep the caller from stopping this.
        report(member.begin + member.share)
    if not documents:
        kind = UnsupportedFileError
        if all(isinstance(error, EmptyCorpusError) for _, error in failures):
            kind = EmptyCorpusError
        why = reasons(failures) or "It has no files."
        raise kind(f"{name} has no file that can be read. {why}")
    return documents, notes
