"""Read documents from the rows of csv, tsv, jsonl, json and parquet files."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple, cast

import regex

from bpe_core.corpus.text_decoding import decode_text
from bpe_core.errors import CorpusError, EmptyCorpusError, UnsupportedFileError
from bpe_core.extras import needs_extra

TABLE_KINDS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")

_DELIMITERS = ",;\t|"
_ROWS_LOOKED_AT = 200
_ROWS_BETWEEN_REPORTS = 4_096
_LETTER = regex.compile(r"\p{L}")
_LONE_SURROGATE = regex.compile("[\ud800-\udfff]")

# The default limit of 128 kB for a field is too small for documents. It applies to the whole
# process, so it is only ever raised.
csv.field_size_limit(sys.maxsize)


Report = Callable[[float], None]
"""A function called from time to time with the fraction of a file that has been read."""


@dataclass(slots=True)
class Table:
    """The texts of one column, their places in the file, and notes on what was left out."""

    encoding: str
    texts: list[str] = field(default_factory=list[str])
    places: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


class _Row(NamedTuple):
    place: str
    values: Mapping[str, object]


@dataclass(slots=True)
class _Parsed:
    """A table as it is in the file: rows of named values, or texts without a column."""

    encoding: str
    report: Report
    most_rows: float = math.inf
    """Stop after this many; JSON that is a single value is parsed to its end."""
    columns: list[str] = field(default_factory=list[str])
    rows: list[_Row] = field(default_factory=list[_Row])
    texts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    notes: list[str] = field(default_factory=list[str])

    def is_enough(self, part: float) -> bool:
        """Report the fraction parsed, and return True if there are enough rows."""
        n_rows = len(self.rows) + len(self.texts)
        if n_rows % _ROWS_BETWEEN_REPORTS == 0:
            self.report(part)
        return n_rows >= self.most_rows


def read_table(
    data: bytes,
    kind: str,
    name: str,
    text_column: str | None,
    *,
    most_bytes: int,
    report: Report,
) -> Table:
    """Read the texts of one column, in order, without empty values and lone surrogates.

    Raises CorpusError for a missing column, EmptyCorpusError if it has no text, and
    UnsupportedFileError if the file is not of the kind its name suggests.
    """
    parsed = _parse(data, kind, name, most_bytes, report=report)
    table = Table(parsed.encoding, notes=parsed.notes)
    found = [(text, place) for place, text in parsed.texts]
    if parsed.rows:
        column = _choose_column(parsed, name, text_column)
        found += [
            (value, row.place)
            for row in parsed.rows
            if isinstance(value := row.values.get(column), str)
        ]
        if text_column is None and len(parsed.columns) > 1:
            table.notes.append(
                f"{name}: took the column {column!r} of {', '.join(map(repr, parsed.columns))}."
            )
    without_text = len(parsed.rows) + len(parsed.texts) - sum(bool(text) for text, _ in found)
    broken: list[str] = []
    for text, place in found:
        if _LONE_SURROGATE.search(text):
            broken.append(place)
        elif text:
            table.texts.append(text)
            table.places.append(place)
    if without_text:
        table.notes.append(f"{name}: left out {_counted(without_text, 'row')} without text.")
    if broken:
        table.notes.append(
            f"{name}: left out {_counted(len(broken), 'row')} with a lone surrogate, which UTF-8 "
            f"cannot encode; the first is {broken[0]}."
        )
    if not table.texts:
        notes = " ".join(table.notes)
        raise EmptyCorpusError(f"{name} has no text in its rows. {notes}".rstrip())
    return table


def text_columns_of(data: bytes, kind: str, name: str, *, most_bytes: int) -> list[str]:
    """Return the names of the columns of text, judged by the first rows; raises as `read_table`."""
    parsed = _parse(data, kind, name, most_bytes, report=lambda _: None, most_rows=_ROWS_LOOKED_AT)
    return _text_columns(parsed)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _choose_column(parsed: _Parsed, name: str, text_column: str | None) -> str:
    if text_column is None:
        texts = _text_columns(parsed)
        if texts:
            return texts[0]
        raise _no_text_column(name, parsed)
    if text_column not in parsed.columns:
        raise CorpusError(
            f"{name} has no column {text_column!r}: its columns are "
            f"{', '.join(map(repr, parsed.columns))}."
        )
    return text_column


def _no_text_column(name: str, parsed: _Parsed) -> CorpusError:
    return CorpusError(
        f"{name} has no column of text: its columns are "
        f"{', '.join(map(repr, parsed.columns))}. Give a file with one."
    )


def _text_columns(parsed: _Parsed) -> list[str]:
    return [column for column in parsed.columns if _is_text(parsed.rows, column)]


def _is_text(rows: Sequence[_Row], column: str) -> bool:
    """Return True if most of a column's first values contain a letter: not numbers or dates."""
    values = [row.values.get(column) for row in rows[:_ROWS_LOOKED_AT]]
    filled = [value for value in values if value not in (None, "")]
    letters = sum(isinstance(value, str) and bool(_LETTER.search(value)) for value in filled)
    return 2 * letters > len(filled)


def _parse(
    data: bytes,
    kind: str,
    name: str,
    most_bytes: int,
    *,
    report: Report,
    most_rows: float = math.inf,
) -> _Parsed:
    if kind == ".parquet":
        parsed = _Parsed("utf-8", report, most_rows)
        _parse_parquet(data, name, most_bytes, parsed)
        return parsed
    decoded = decode_text(data, name)
    if not decoded.text.strip():
        raise EmptyCorpusError(f"{name} is empty. Give a file with text in it.")
    parsed = _Parsed(
        decoded.encoding, report, most_rows, notes=[decoded.note] if decoded.note else []
    )
    if kind == ".json":
        _parse_json(decoded.text, name, parsed)
    elif kind in (".jsonl", ".ndjson"):
        _parse_json_lines(decoded.text, name, parsed)
    else:
        _parse_separated(decoded.text, kind, name, parsed)
    return parsed


def _parse_separated(text: str, kind: str, name: str, parsed: _Parsed) -> None:
    delimiter = "\t"
    if kind == ".csv":
        first = text.split("\n", 1)[0]
        delimiter = max(_DELIMITERS, key=first.count)
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        header = next(reader)
        parsed.columns = [title or f"column {number}" for number, title in enumerate(header, 1)]
        for values in reader:
            if values:
                place = f"row {len(parsed.rows) + 1}"
                parsed.rows.append(_Row(place, dict(zip(parsed.columns, values, strict=False))))
                if parsed.is_enough(lines.tell() / len(text)):
                    break
    except csv.Error as error:
        raise UnsupportedFileError(
            f"{name} is not valid {kind[1:]} at line {reader.line_num:,}: {error}. Check its "
            "quotes, or rename it to .txt."
        ) from None
    if not parsed.rows:
        raise EmptyCorpusError(f"{name} has a header and no rows. Give a file with text in it.")


def _parse_json_lines(text: str, name: str, parsed: _Parsed) -> None:
    bad: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            bad.append(f"line {number}")
            continue
        _add_json_value(value, f"line {number}", parsed)
        if parsed.is_enough(number / len(lines)):
            break
    if bad:
        parsed.notes.append(
            f"{name}: left out {_counted(len(bad), 'line')}: not JSON; the first is {bad[0]}."
        )
    if not parsed.rows and not parsed.texts:
        raise UnsupportedFileError(
            f"{name} has no line that is a JSON string or object. {' '.join(parsed.notes)}".rstrip()
        )


def _parse_json(text: str, name: str, parsed: _Parsed) -> None:
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise UnsupportedFileError(
            f"{name} is not JSON at line {error.lineno}, column {error.colno}: {error.msg}. "
            "Correct it, or rename it to .txt."
        ) from None
    except RecursionError:
        raise UnsupportedFileError(
            f"{name} is JSON nested too deeply to be read. Give its texts as a list of strings, "
            "or rename it to .txt."
        ) from None
    except ValueError as error:
        raise UnsupportedFileError(
            f"{name} is JSON that cannot be read: {error}. Correct it, or rename it to .txt."
        ) from None
    if isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value), 1):
            _add_json_value(item, f"item {number}", parsed)
    elif isinstance(value, dict):
        columns = cast("dict[str, object]", value)
        if any(isinstance(values, list) for values in columns.values()):
            _add_json_columns(columns, parsed)
        else:
            _add_json_value(columns, "", parsed)
    else:
        _add_json_value(value, "", parsed)
    if not parsed.rows and not parsed.texts:
        raise UnsupportedFileError(
            f"{name} is JSON without texts: give a list of strings, a list of objects, or an "
            "object of strings or of lists."
        )


def _add_json_value(value: object, place: str, parsed: _Parsed) -> None:
    if isinstance(value, str):
        parsed.texts.append((place, value))
    elif isinstance(value, dict):
        row = cast("dict[str, object]", value)
        known = set(parsed.columns)
        parsed.columns.extend(key for key in row if key not in known)
        parsed.rows.append(_Row(place, row))


def _add_json_columns(columns: Mapping[str, object], parsed: _Parsed) -> None:
    """Add an object of lists: columns of equal length, or a list of rows under some key."""
    lists = {
        key: cast("list[object]", value)
        for key, value in columns.items()
        if isinstance(value, list)
    }
    for key, values in lists.items():
        if any(isinstance(value, dict) for value in values):
            for number, value in enumerate(values, 1):
                _add_json_value(value, f"{key} {number}", parsed)
            return
    parsed.columns = list(lists)
    for number in range(max(map(len, lists.values()))):
        row = {key: values[number] for key, values in lists.items() if number < len(values)}
        parsed.rows.append(_Row(f"row {number + 1}", row))


def _parse_parquet(data: bytes, name: str, most_bytes: int, parsed: _Parsed) -> None:
    # Imported here because it is slow and seldom needed, and by name because it has no types.
    with needs_extra("tables", f"Reading {name}"):
        pa: Any = import_module("pyarrow")
        pq: Any = import_module("pyarrow.parquet")
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        parsed.columns = [str(column.name) for column in file.schema_arrow]
        wanted = [
            str(column.name)
            for column in file.schema_arrow
            if str(column.type).startswith(("string", "large_string", "dictionary<values=string"))
        ]
        if not wanted:
            raise _no_text_column(name, parsed)
        unpacked = 0
        for batch in file.iter_batches(batch_size=256, columns=wanted):
            unpacked += batch.nbytes
            if unpacked > most_bytes:
                raise UnsupportedFileError(
                    f"{name} has {len(data):,} bytes but unpacks to more than {most_bytes:,}. "
                    "Give a smaller file."
                )
            for values in cast("list[dict[str, object]]", batch.to_pylist()):
                parsed.rows.append(_Row(f"row {len(parsed.rows) + 1}", values))
                if parsed.is_enough(len(parsed.rows) / file.metadata.num_rows):
                    return
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or ["damaged"])[0]
        raise UnsupportedFileError(
            f"{name} is not a parquet file, or is damaged: {reason}. Export it again."
        ) from None
    if not parsed.rows:
        raise EmptyCorpusError(f"{name} has no rows. Give a file with text in it.")
