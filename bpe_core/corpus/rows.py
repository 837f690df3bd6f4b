"""Read the rows of csv, tsv, jsonl and json files one after another.

Rows of JSON are on lines of their own, in a list, or in some list within an object. Reading a file
whole and reading it line by line both decide by the same functions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple, cast

from bpe_core.corpus.archives import (
    MAX_COLUMNS,
    MAX_JSON_VALUES,
    Budget,
    too_many_columns,
)
from bpe_core.corpus.columns import (
    ROWS_DESCRIBED,
    describe_row_columns,
    has_more_values,
    is_chat,
    is_usual,
    parse_value,
    quoted,
    text_in,
)
from bpe_core.corpus.file_kinds import JSON_LINES
from bpe_core.corpus.notes import Note, listed
from bpe_core.corpus.separated import SeparatedRows, has_header
from bpe_core.errors import UnsupportedFileError

_NOT_SPACE: Final = re.compile(r"\S")
_IS_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S*", re.IGNORECASE)
_DECODER: Final = json.JSONDecoder()
_SHARE_ALIKE: Final = 0.8

Row = dict[str, object] | str | None
"""Named values, a text, or JSON that is neither."""


class JsonTable(NamedTuple):
    """Rows that were found in an object."""

    path: tuple[str, ...]
    """The keys that lead to them; empty for the object itself."""
    noun: str
    """What a row is called in the names of documents; empty for the object itself."""
    rows: list[object]

    @property
    def name(self) -> str:
        """The keys that lead to the rows."""
        return ".".join(self.path) or "the object itself"


def row_in(value: object) -> Row:
    r"""Return what a JSON value is as a row; a chat and a list of strings are texts.

    >>> row_in({"text": "hug"}), row_in(["hug", "hugs"]), row_in([1, 2])
    ({'text': 'hug'}, 'hug\nhugs', None)
    """
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    return value if isinstance(value, str) else text_in(_as_list(value))


def values_on(line: str | bytes) -> list[object]:
    """Return the JSON values on a line, of which there is mostly one.

    Raises ValueError or RecursionError if a part of the line is not JSON.

    >>> values_on('{"text": "hug"} {"text": "hugs"}')
    [{'text': 'hug'}, {'text': 'hugs'}]
    """
    try:
        return [parse_value(line)]
    except UnicodeDecodeError:
        raise
    except ValueError:
        text = line.decode() if isinstance(line, bytes) else line
        values: list[object] = []
        at = 0
        while begin := _NOT_SPACE.search(text, at):
            value, at = _DECODER.raw_decode(text, begin.start())
            values.append(value)
        if not values:
            raise
        return values


def are_json_lines(text: str, kind: str, *, is_cut: bool = False) -> bool:
    r"""Return True if JSON has its rows on lines, which a file with any of its endings may.

    `is_cut` is for the beginning of a longer file.

    >>> are_json_lines('{"a": 1}\n{"a": 2}', ".json"), are_json_lines('{"a":\n1}', ".jsonl")
    (True, False)
    """
    begin = _NOT_SPACE.search(text)
    if begin is None:
        return kind in JSON_LINES
    end = text.find("\n", begin.start())
    if end < 0 and is_cut:
        return kind in JSON_LINES
    line = text[begin.start() : len(text) if end < 0 else end]
    is_last = not (is_cut or _NOT_SPACE.search(text, begin.start() + len(line)))
    if (is_last and kind not in JSON_LINES) or has_more_values(line, MAX_JSON_VALUES):
        return kind in JSON_LINES
    try:
        values = values_on(line)
    except (ValueError, RecursionError):
        return kind in JSON_LINES and not _begins_with_value(text, begin.start(), is_cut=is_cut)
    # A list on the only line holds all rows, unless it is a chat.
    return not (is_last and len(values) == 1 and _as_list(values[0])) or is_chat(values[0])


def _begins_with_value(text: str, begin: int, *, is_cut: bool) -> bool:
    """Return True if a text begins with a JSON value of several lines, as far as it is known."""
    try:
        _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError as error:
        return is_cut and error.pos >= text.rfind("\n")
    except (ValueError, RecursionError):
        return False
    return True


def rows_of_lists(values: list[object]) -> list[object]:
    """Return rows that are lists as objects, with the names in the first or with numbers.

    >>> rows_of_lists([["id", "text"], [1, "hug"]])
    [{'id': 1, 'text': 'hug'}]
    >>> rows_of_lists([["hug", "hugs"]])
    [['hug', 'hugs']]
    """
    rows = [_as_list(value) for value in values]
    n = len(rows[0]) if rows else 0
    is_table = n and len(rows) > 1 and all(len(row) == n for row in rows)
    if not is_table or any(map(_is_nested, chain.from_iterable(rows))):
        return values
    shown = [[text_in(each) or "" for each in row] for row in rows[:ROWS_DESCRIBED]]
    names = [f"column {place}" for place in range(1, n + 1)]
    if all(isinstance(each, str) for each in rows[0]):
        if not has_header(shown[0], shown[1:]):
            return values  # texts, such as the sentences of a document
        if all(isinstance(each, str) for row in rows for each in row) and not any(
            map(is_usual, shown[0])
        ):
            return values
        names, rows = shown[0], rows[1:]
    return [dict(zip(names, row, strict=True)) for row in rows]


def choose_rows(value: dict[str, object], column: str | None) -> tuple[JsonTable, list[JsonTable]]:
    """Return the rows in an object that hold the most text, and others that hold or may hold text.

    Those with a column are preferred. Lists of rows with the same columns are taken together.

    >>> data = {"labels": [{"name": "good"}], "data": [{"text": "a hug"}, {"text": "hugs"}]}
    >>> chosen, others = choose_rows(data, None)
    >>> chosen.name, chosen.rows, [other.name for other in others]
    ('data', [{'text': 'a hug'}, {'text': 'hugs'}], ['labels'])
    """
    tables = [*_tables(value, ())]
    weights = {place: _weight(table) for place, table in enumerate(tables)}
    among = range(len(tables))
    if column is not None:
        among = [
            place
            for place in among
            if any(isinstance(row, dict) and column in row for row in tables[place].rows)
        ] or among
    # A list wins over the object around it, and the first list over later ones.
    best = max(among, key=lambda place: (weights[place], bool(tables[place].path), -place))
    chosen = tables[best]
    parts = [place for place in among if _are_parts(tables[place], chosen)]
    if len(parts) > 1:
        rows = [row for place in parts for row in tables[place].rows]
        names = ", ".join(tables[place].name for place in parts)
        chosen = JsonTable((names,), "row", rows)
    others = [
        table
        for place, table in enumerate(tables)
        if place not in (best, *parts)
        and (weights[place] > ((0, 0) if table.path else (0, 1 << 62)) or _has_nested_rows(table))
    ]
    return chosen, others


def _tables(value: dict[str, object], path: tuple[str, ...]) -> Iterator[JsonTable]:
    """Yield every list of rows within an object, and the object itself if it may be a row."""
    names = [text_in(each) or "" for each in _as_list(value.get("columns"))]
    data = [_as_list(row) for row in _as_list(value.get("data"))]
    if names and data and all(len(row) == len(names) for row in data):
        # As pandas writes a table with orient="split".
        rows: list[object] = [dict(zip(names, row, strict=True)) for row in data]
        yield JsonTable((*path, "data"), "row", rows)
        return
    if not path and not _is_mapping_of_texts(value):
        yield JsonTable((), "", [value])
    elif not path:
        yield JsonTable(("values",), "value", [*value.values()])
    lists = {key: found for key, each in value.items() if (found := _as_list(each))}
    of_values = {key: each for key, each in lists.items() if not any(map(_is_nested, each))}
    if of_values:
        yield JsonTable((*path, next(iter(of_values))), "row", _by_columns(of_values))
    for key, each in lists.items():
        if key not in of_values and not is_chat(each):
            yield from _tables_in_list((*path, key), rows_of_lists(each))
    objects = {key: found for key, each in value.items() if (found := _as_object(each))}
    if len(objects) == len(value) and (labelled := _by_labels(objects)):
        yield from _tables_in_list((*path, "rows"), labelled)
        return
    for key, each in objects.items():
        yield from _tables(each, (*path, key))


def _tables_in_list(path: tuple[str, ...], rows: list[object]) -> Iterator[JsonTable]:
    """Yield a list of rows, and the lists that its rows hold under the same key as one."""
    yield JsonTable(path, path[-1] if len(path) == 1 else ".".join(path), rows)
    within: dict[str, list[object]] = {}
    for row in rows:
        for key, value in _as_object(row).items():
            items = _as_list(value)
            if any(isinstance(item, dict) for item in items) and not is_chat(items):
                within.setdefault(key, []).extend(items)
    for key, items in within.items():
        yield from _tables_in_list((*path, key), items)


def _as_list(value: object) -> list[object]:
    """Return a value that is a list, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _as_object(value: object) -> dict[str, object]:
    """Return a value that is an object, or an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _by_columns(lists: Mapping[str, list[object]]) -> list[object]:
    n = max(map(len, lists.values()))
    return [
        {key: values[place] for key, values in lists.items() if place < len(values)}
        for place in range(n)
    ]


def _by_labels(objects: Mapping[str, Mapping[str, object]]) -> list[object] | None:
    """Return the rows of an object of objects, or None if these are not alike.

    Each is a row, or a column with a value for each row, as pandas writes a table by default.
    """
    inner = [*objects.values()]
    keys = {key: sum(key in each for each in inner) for each in inner for key in each}
    common = max(keys.values(), default=0)
    outer_numbered, inner_numbered = (
        bool(names) and all(name.isdigit() for name in names) for names in (objects, keys)
    )
    if common < max(1, _SHARE_ALIKE * len(inner)) or (
        len(inner) < 2 and not (outer_numbered or inner_numbered)
    ):
        return None
    if inner_numbered and not outer_numbered:
        return [{name: each.get(label) for name, each in objects.items()} for label in keys]
    return [*inner]


def _is_nested(value: object) -> bool:
    return isinstance(value, (dict, list))


def _is_mapping_of_texts(value: Mapping[str, object]) -> bool:
    """Return True for texts by names that are no names of columns, such as ids or messages."""
    return (
        len(value) > 1
        and all(isinstance(each, str) for each in value.values())
        and not any(map(is_usual, value))
    )


def _are_parts(table: JsonTable, of: JsonTable) -> bool:
    """Return True for lists next to each other with rows of the same columns."""
    if table.rows is of.rows:
        return True
    first, other = table.rows[0], of.rows[0]
    return (
        bool(table.path and of.path)
        and len(table.path) == len(of.path)
        and isinstance(first, dict)
        and isinstance(other, dict)
        and first.keys() == other.keys()
    )


def _has_nested_rows(table: JsonTable) -> bool:
    """Return True if the rows of a list have objects, whose text is not read."""
    rows = map(_as_object, table.rows[:ROWS_DESCRIBED])
    return bool(table.path) and any(isinstance(each, dict) for row in rows for each in row.values())


def _weight(table: JsonTable) -> tuple[float, float]:
    """Return how much text rows have in words, and in all, in the column that would be taken."""
    rows = [row_in(value) for value in table.rows[:ROWS_DESCRIBED]]
    # Lists within the object itself are tables of their own.
    objects = [
        {
            key: each
            for key, each in row.items()
            if table.path or not _as_list(each) or is_chat(each)
        }
        for row in rows
        if isinstance(row, dict)
    ]
    names = dict.fromkeys(name for row in objects for name in row)
    chosen = describe_row_columns(names, objects, is_sample=True).chosen
    texts = [row for row in rows if isinstance(row, str)]
    if chosen is not None:
        texts += [text_in(row.get(chosen.name)) or "" for row in objects]
    scale = len(table.rows) / max(1, len(rows))
    return scale * sum(map(_n_in_words, texts)), scale * sum(map(len, texts))


def _n_in_words(text: str) -> int:
    """Return the length of a text of several words, or beyond ASCII; 0 for a name or an address."""
    is_text = " " in text or not text.isascii()
    return len(text) if is_text and not _IS_ADDRESS.fullmatch(text) else 0


_ROWS_BETWEEN_COUNTS: Final = 256
_ROWS_BETWEEN_REPORTS: Final = 4_096
_MAX_PLACES: Final = 5
_MAX_EXCERPT_LENGTH: Final = 30

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
