"""Read documents from the rows of csv, tsv, jsonl, json and parquet files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, islice

import regex

from bpe_core.corpus.budget import Budget
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
)
from bpe_core.corpus.file_kinds import JSON_LINES, PARQUET_MARK
from bpe_core.corpus.notes import Note, listed
from bpe_core.corpus.rows import OnPart, Record, RowReader
from bpe_core.corpus.text_decoding import DecodingErrors, decode_text
from bpe_core.corpus.values import text_in
from bpe_core.errors import EmptyCorpusError, UnsupportedFileError

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
