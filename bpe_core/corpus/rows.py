"""Read the rows of csv, tsv, jsonl and json files one after another."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from bpe_core.corpus.budget import (
    MAX_COLUMNS,
    MAX_JSON_VALUES,
    Budget,
    too_many_columns,
)
from bpe_core.corpus.columns import quoted
from bpe_core.corpus.file_kinds import JSON_LINES
from bpe_core.corpus.json_rows import are_json_lines, choose_rows, row_in, rows_of_lists, values_on
from bpe_core.corpus.notes import Note, listed
from bpe_core.corpus.separated import SeparatedRows
from bpe_core.corpus.values import has_more_values
from bpe_core.errors import UnsupportedFileError

_ROWS_BETWEEN_COUNTS: Final = 256
_ROWS_BETWEEN_REPORTS: Final = 4_096
_MAX_PLACES: Final = 5
_MAX_EXCERPT_LENGTH: Final = 30
_NOT_SPACE: Final = re.compile(r"\S")
_DECODER: Final = json.JSONDecoder()

OnPart = Callable[[float], None]
"""A function called from time to time with the fraction of a file that has been read."""


class Record(NamedTuple):
    """One row: its place in the file, and named values or a text without a column."""

    place: str
    value: Mapping[str, object] | str | None
    """None for JSON that is neither a text nor an object."""


@dataclass(slots=True)
class RowReader:
    """The rows of one file; its columns and notes are complete once they have been read."""

    text: str
    name: str
    report: OnPart
    budget: Budget
    asked: tuple[str | None, ...] = ()
    """The columns that will be read, that of the text first, or None for the default."""
    columns: dict[str, None] = field(default_factory=dict[str, None])
    """The names of the columns, in order."""
    notes: list[Note] = field(default_factory=list[Note])

    def rows(self, kind: str) -> Iterator[Record]:
        """Yield the rows of a file with an extension, such as ".csv".

        Raises EmptyCorpusError for a table without rows, and UnsupportedFileError if the file is
        not of its kind, or has more rows, columns or values than are read.
        """
        if kind not in (".json", *JSON_LINES):
            return self._separated_rows(kind)
        return self._json_line_rows() if are_json_lines(self.text, kind) else self._json_rows()

    def _separated_rows(self, kind: str) -> Iterator[Record]:
        rows = SeparatedRows(self.text, self.name, kind, self.asked)
        self._add_columns(rows.names)
        number = 0
        for n_read, (end, values) in enumerate(rows, 1):
            self._count(n_read, end)
            if values is not None:
                number += 1
                yield Record(f"row {number}", values)
        self.notes += rows.notes

    def _json_line_rows(self) -> Iterator[Record]:
        broken: list[int] = []
        first_broken = ""
        n_read = n_broken = 0
        for number, (line, end) in enumerate(_lines(self.text), 1):
            self._count(number, end)
            if not line or line.isspace():
                continue
            self._check_values(line, f" on line {number:,}")
            try:
                values = values_on(line)
            except (ValueError, RecursionError):
                n_broken += 1
                if n_broken <= _MAX_PLACES + 1:
                    first_broken = first_broken or _excerpt(line)
                    broken.append(number)
                continue
            n_read += 1
            for nth, value in enumerate(values, 1):
                yield self._json_row(value, f"line {number}{f' value {nth}' if nth > 1 else ''}")
        n_lines = n_read + n_broken
        if n_broken > n_read:
            raise UnsupportedFileError(
                f"{self.name} has {n_broken:,} invalid lines of {n_lines:,}. The first is line "
                f"{broken[0]:,}: {first_broken}. Write one JSON value on each line, or rename the "
                "file to .txt."
            )
        if n_broken == 1:
            text = f"skipped line {broken[0]:,}, which is not valid JSON: {first_broken}."
            self.notes.append(Note("lines", self.name, f"{self.name}: {text}"))
        elif broken:
            places = listed([f"{number:,}" for number in broken], _MAX_PLACES)
            if n_broken > _MAX_PLACES + 1:
                first = ", ".join(f"{number:,}" for number in broken[:_MAX_PLACES])
                places = f"{first} and {n_broken - _MAX_PLACES:,} more"
            text = (
                f"skipped {n_broken:,} of {n_lines:,} lines, which are not valid JSON: lines "
                f"{places}. In the first: {first_broken}."
            )
            self.notes.append(Note("lines", self.name, f"{self.name}: {text}"))

    def _json_rows(self) -> Iterator[Record]:
        value, end = self._json_value(0)
        if end < len(self.text):
            yield from self._json_values(value, end)
        elif isinstance(value, list):
            yield from self._items(rows_of_lists(cast("list[object]", value)), "item")
        elif isinstance(value, dict):
            yield from self._rows_within(cast("dict[str, object]", value))
        else:
            yield self._json_row(value, "")

    def _rows_within(self, value: dict[str, object]) -> Iterator[Record]:
        """Yield the rows of an object: of the list in it that has the most text, or itself."""
        chosen, others = choose_rows(value, self.asked[0] if self.asked else None)
        if others:
            rest = [f"{quoted(each.name)} ({len(each.rows):,})" for each in others]
            rows = "1 row" if len(chosen.rows) == 1 else f"{len(chosen.rows):,} rows"
            text = (
                f"{self.name}: took {quoted(chosen.name)} ({rows}). Not read, with their rows: "
                f"{listed(rest, _MAX_PLACES)}."
            )
            self.notes.append(Note("list", self.name, text, quoted(chosen.name)))
        if chosen.path:
            yield from self._items(chosen.rows, chosen.noun)
        else:
            yield self._json_row(chosen.rows[0], "")

    def _json_values(self, value: object, end: int) -> Iterator[Record]:
        """Yield a row for each of several values, one after another."""
        number = 1
        yield self._json_row(value, "value 1")
        while end < len(self.text):
            number += 1
            self._count(number, end)
            value, end = self._json_value(end)
            yield self._json_row(value, f"value {number}")

    def _value_at(self, place: int) -> tuple[object, int]:
        """Return the JSON value at a place, and the place of what follows it."""
        begin = _NOT_SPACE.search(self.text, place)
        value, end = _DECODER.raw_decode(self.text, begin.start() if begin else len(self.text))
        rest = _NOT_SPACE.search(self.text, end)
        return value, rest.start() if rest else len(self.text)

    def _json_value(self, place: int) -> tuple[object, int]:
        if place == 0:
            self._check_values(self.text, "")
        try:
            return self._value_at(place)
        except json.JSONDecodeError as error:
            line = self.text.split("\n")[error.lineno - 1]
            raise UnsupportedFileError(
                f"{self.name} is not JSON at line {error.lineno:,}, column {error.colno:,}: "
                f"{_excerpt(line[error.colno - 1 :])}. Correct it, or rename it to .txt."
            ) from None
        except RecursionError:
            raise UnsupportedFileError(
                f"{self.name} is JSON nested too deeply to be read. Give its texts as a list of "
                "strings, or rename it to .txt."
            ) from None
        except ValueError:
            raise UnsupportedFileError(
                f"{self.name} is JSON with a number of thousands of digits. Write it as a string, "
                "or rename the file to .txt."
            ) from None

    def _items(self, values: list[object], noun: str) -> Iterator[Record]:
        for number, value in enumerate(values, 1):
            self._count(number, 0)
            yield self._json_row(value, f"{noun} {number}")

    def _json_row(self, value: object, place: str) -> Record:
        row = row_in(value)
        if isinstance(row, dict):
            self._add_columns(row)
        return Record(place, row)

    def _check_values(self, text: str, where: str) -> None:
        if has_more_values(text, MAX_JSON_VALUES):
            raise UnsupportedFileError(
                f"{self.name} has more than {MAX_JSON_VALUES:,} JSON values{where}. Split it, or "
                "keep only the texts."
            )

    def _add_columns(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.columns:
                if len(self.columns) == MAX_COLUMNS:
                    raise too_many_columns(self.name)
                self.columns[name] = None

    def _count(self, number: int, end: int) -> None:
        """Count rows from time to time, and report the end of the last one."""
        if number % _ROWS_BETWEEN_COUNTS == 0:
            self.budget.take_rows(_ROWS_BETWEEN_COUNTS, self.name)
            if end and number % _ROWS_BETWEEN_REPORTS == 0:
                self.report(min(1.0, end / len(self.text)))


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """Yield each line and its end, one at a time; a list of all could take more than the text."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end], end + 1
        start = end + 1
    yield text[start:], len(text)


def _excerpt(text: str) -> str:
    """Return the beginning of a text in quotes, or what its end is called."""
    text = text.strip()
    if not text:
        return "it ends there"
    cut = text if len(text) <= _MAX_EXCERPT_LENGTH else f"{text[:_MAX_EXCERPT_LENGTH]}…"
    return f"found {cut!r}"
