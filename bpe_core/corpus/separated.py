"""Read the rows of CSV and TSV files in the dialects that programs write.

The csv module reads the rows. What it would lose is settled before: where the header is and whether
there is one, the delimiter, how quotes within quotes are written, quotes that nothing closes, and
rows with more values than the header has names.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import regex

from bpe_core.corpus.archives import MAX_CELLS, MAX_COLUMNS, too_many_columns
from bpe_core.corpus.columns import PREFERRED_NAMES, describe_row_columns, has_more_cells, quoted
from bpe_core.corpus.notes import Note
from bpe_core.errors import EmptyCorpusError, UnsupportedFileError

_DELIMITERS: Final = ",;\t|"
_NO_DELIMITER: Final = "\x1f"
"""Stands for the delimiter of a table with one column, where a comma is part of the text."""
_SAMPLE: Final = 1 << 16
_MAX_SAMPLE_ROWS: Final = 200
_PIECE: Final = 1 << 20
_SEPARATOR_LINE: Final = regex.compile(
    r'"?sep=(?P<delimiter>[^"\r\n])"?[ \t]*(?:\r\n?|\n|$)', regex.I
)
_BLANK_LINES: Final = regex.compile(r"(?:[ \t]*(?:\r\n?|\n))*+")
# A backslash before a quote or another one stands for that; any other is a backslash.
_BACKSLASH: Final = regex.compile(r'\\(["\\])?')
_LETTER: Final = regex.compile(r"\p{L}")
_YEAR: Final = regex.compile(r"(?:19|20)[0-9]{2}")
_ID_NAMES: Final = frozenset(("id", "index", "key", "line", "n", "nr", "no", "number", "row", "#"))
_HEADER_NAMES: Final = frozenset((*PREFERRED_NAMES, *_ID_NAMES, "label", "title", "name", "date"))

# The default limit of 128 kB for a field is too small for documents. It applies to the whole
# process, so it is only ever raised.
csv.field_size_limit(sys.maxsize)


class _Dialect(NamedTuple):
    """How the rows of a table are written."""

    delimiter: str
    is_spaced: bool = False
    """Whether a space after a delimiter belongs to it, so that a quote may follow."""
    has_escapes: bool = False
    r"""Whether a quote within quotes is \" instead of two quotes."""

    def rows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Return a csv reader of lines whose stray quotes have been doubled."""
        if self.has_escapes:
            lines = (_escaped(line) for line in lines)
        return csv.reader(
            lines,
            delimiter=self.delimiter,
            skipinitialspace=self.is_spaced,
            escapechar="\\" if self.has_escapes else None,
        )

    def field(self) -> str:
        """Return the pattern of a value as it is written, up to a delimiter or the line's end."""
        d = regex.escape(self.delimiter)
        content = r'[^"]*+(?:""[^"]*+)*+'
        if self.has_escapes:
            content = r'[^"\\]*+(?:(?:""|\\.)[^"\\]*+)*+'
        space = "[ ]*+" if self.is_spaced else ""
        return rf'(?:{space}"{content}"[ ]*+|{space}[^"{d}\r\n][^{d}\r\n]*+|{space})'


class SeparatedRows:
    r"""The rows of one CSV or TSV text, in its dialect; `notes` are complete once they are read.

    >>> rows = SeparatedRows('sep=;\nid;text\n1;"hug; hugs"\n2;pug; pugs\n', "a.csv", ".csv")
    >>> [values for _, values in rows]
    [{'id': '1', 'text': 'hug; hugs'}, {'id': '2', 'text': 'pug; pugs'}]
    >>> rows.notes[0].kind
    'long-rows'
    """

    def __init__(self, text: str, name: str, kind: str, asked: Sequence[str | None] = ()) -> None:
        self._text = text
        self._name = name
        self._kind = kind[1:]
        self._asked = [each for each in asked if each is not None]
        """The columns that will be read, the one of text first."""
        self._begin = _BLANK_LINES.match(text).end()  # pyright: ignore[reportOptionalMemberAccess]
        separator = _SEPARATOR_LINE.match(text, self._begin)
        if separator:
            self._begin = separator.end()
        self.notes: list[Note] = []
        sample, is_cut = self._sample()
        self._dialect = self._find_dialect(
            sample, separator and separator["delimiter"], is_cut=is_cut
        )
        self._fields = regex.compile(self._dialect.field())
        first, *rows = _parsed(sample, self._dialect, is_cut=is_cut) or [[]]
        self._has_header = has_header(first, rows, self._asked)
        self.names = self._name_columns(first, rows)
        """The names of the columns, in order."""
        self._wide = self._find_wide(rows if self._has_header else [first, *rows])
        """The place of the column that gets what is beyond the last name."""

    def __iter__(self) -> Iterator[tuple[int, dict[str, str] | None]]:
        """Yield each row with its end in the text, and None for a blank line."""
        lines = _Lines(self._text, self._begin, self._name, self._dialect.delimiter)
        quotes = StrayQuotes(self._text, self._begin, self._dialect)
        reader = self._dialect.rows(quotes.lines(lines))
        n_rows = 0
        long_rows: list[int] = []
        awaits_header = self._has_header
        try:
            for values in reader:
                begin, end = lines.begin_row()
                if not values or (not n_rows and not any(map(str.strip, values))):
                    yield end, None
                    continue
                if awaits_header:
                    awaits_header = False
                    continue
                n_rows += 1
                if len(values) > len(self.names):
                    values, is_long = self._shortened(values, self._text[begin:end])
                    if is_long:
                        long_rows.append(n_rows)
                yield end, dict(zip(self.names, values, strict=False))
        except csv.Error:
            line = self._text.count("\n", 0, self._begin) + getattr(reader, "line_num", 0)
            raise UnsupportedFileError(
                f"{self._name} is not valid {self._kind} at line {line:,}. Check the "
                "quotes and the line ends there, or rename the file to .txt."
            ) from None
        self._note_what_was_found(quotes, long_rows)
        if not n_rows:
            raise EmptyCorpusError(
                f"{self._name} has a header and no rows. Give a file with text in it."
            )

    def _sample(self) -> tuple[str, bool]:
        """Return the first lines, and whether more follow."""
        text, begin = self._text, self._begin
        found = regex.compile(r"[\r\n]").search(text, begin)
        first = found.start() if found else len(text)
        for delimiter in _DELIMITERS:
            if has_more_cells(text[begin:first], delimiter, MAX_COLUMNS):
                raise too_many_columns(self._name)
        end = max(first, begin + _SAMPLE)
        if end >= len(text):
            return text[begin:], False
        cut = max(first, text.rfind("\n", begin, end), text.rfind("\r", begin, end))
        return text[begin : cut + 1], True

    def _find_dialect(self, sample: str, delimiter: str | None, *, is_cut: bool) -> _Dialect:
        has_escapes = _has_escapes(self._text, delimiter or _DELIMITERS)
        if delimiter is None:
            fits: dict[str, _Fit] = {}
            for each in _DELIMITERS:
                rows = _parsed(sample, _Dialect(each, has_escapes=has_escapes), is_cut=is_cut)
                if fit := _fit(rows):
                    fits[each] = fit
            delimiter = max(fits, key=lambda each: fits[each], default=_NO_DELIMITER)
            if self._kind == "tsv" and delimiter != "\t":
                is_table = "\t" in fits or delimiter not in fits or fits[delimiter].even < 1
                delimiter = "\t" if is_table else delimiter
        plain = _Dialect(delimiter, has_escapes=has_escapes)
        spaced = plain._replace(is_spaced=True)
        if f'{delimiter} "' not in sample and f"{delimiter}  " not in sample:
            return plain
        of_plain = _parsed(sample, plain, is_cut=is_cut)
        of_spaced = _parsed(sample, spaced, is_cut=is_cut)
        n_plain, n_spaced = (_n_even(rows) for rows in (of_plain, of_spaced))
        is_always = all(any(_is_quoted(value) for value in row) for row in of_plain[1:])
        return spaced if n_spaced > n_plain or (n_spaced == n_plain and is_always) else plain

    def _name_columns(self, first: list[str], rows: list[list[str]]) -> list[str]:
        """Return the names of the columns; raises UnsupportedFileError for too many."""
        if not self._has_header:
            widths = Counter(map(len, [first, *rows]))
            titles = [""] * widths.most_common(1)[0][0]
        else:
            titles = [title.strip() for title in first]
            if _has_index(titles, rows):
                titles = ["", *titles]
        if len(titles) > MAX_COLUMNS:
            raise too_many_columns(self._name)
        # Of two columns of one name, the second would replace the texts of the first.
        places = {title: place for place, title in reversed([*enumerate(titles, 1)])}
        return [
            title if title and places[title] == place else f"column {place}"
            for place, title in enumerate(titles, 1)
        ]

    def _find_wide(self, rows: list[list[str]]) -> int:
        if self._asked and self._asked[0] in self.names:
            return self.names.index(self._asked[0])
        even = [
            dict(zip(self.names, row, strict=True)) for row in rows if len(row) == len(self.names)
        ]
        chosen = describe_row_columns(self.names, even, is_sample=True).chosen
        return self.names.index(chosen.name) if chosen else len(self.names) - 1

    def _shortened(self, values: list[str], raw: str) -> tuple[list[str], bool]:
        """Return as many values as there are names, and whether more than blank ones were joined.

        What is beyond belongs to the text: it has a delimiter that should have been quoted.
        """
        n, at = len(self.names), self._wide
        if not any(map(str.strip, values[n:])):
            return values[:n], False
        after = at + 1 + len(values) - n
        joined = self._dialect.delimiter.join(values[at:after])
        if '"' in raw or self._dialect.is_spaced:
            # As it is written, because quotes in it are part of the text too.
            written = self._written(raw)
            if len(written) == len(values):
                joined = self._dialect.delimiter.join(written[at:after]).strip(" ")
        return [*values[:at], joined, *values[after:]], True

    def _written(self, raw: str) -> list[str]:
        found: list[str] = []
        at = 0
        while at <= len(raw):
            field = self._fields.match(raw, at)
            if field is None:
                break
            found.append(field[0])
            at = field.end() + 1
            if raw[field.end() : at] != self._dialect.delimiter:
                break
        return found

    def _note_what_was_found(self, quotes: StrayQuotes, long_rows: list[int]) -> None:
        if not self._has_header:
            text = (
                f"{self._name}: its first line looks like a row, not like the names of columns, so "
                "it was read as one, and the columns were numbered."
            )
            self.notes.append(Note("header", self._name, text))
        elif len(self.names) == 1 and " " in self.names[0]:
            title = quoted(self.names[0])
            text = f"{self._name}: took its first line as the name of its column: {title}."
            self.notes.append(Note("header", self._name, text))
        if self._dialect.has_escapes:
            text = f'{self._name}: read \\" as a quote within quotes.'
            self.notes.append(Note("escapes", self._name, text))
        if n := quotes.n_found:
            found = "a quote without an end" if n == 1 else f"{n:,} quotes without an end"
            text = (
                f"{self._name}: read {found} as text, because the rows after it would be "
                f"lost; {'it' if n == 1 else 'the first'} is on line {quotes.first_line:,}."
            )
            self.notes.append(Note("quotes", self._name, text))
        if n := len(long_rows):
            rows = "1 row has" if n == 1 else f"{n:,} rows have"
            where = f"row {long_rows[0]:,}" if n == 1 else f"the first is row {long_rows[0]:,}"
            text = (
                f"{self._name}: {rows} more values than the header has names; the extra ones were "
                f"read as part of {quoted(self.names[self._wide])} ({where})."
            )
            self.notes.append(Note("long-rows", self._name, text))


def _parsed(sample: str, dialect: _Dialect, *, is_cut: bool) -> list[list[str]]:
    """Return the first rows that are not blank, without one that the sample may have cut."""
    lines = StrayQuotes(sample, 0, dialect).lines(io.StringIO(sample, newline=""))
    rows: list[list[str]] = []
    try:
        for row in dialect.rows(lines):
            if row and (rows or any(map(str.strip, row))):
                rows.append(row)
            if len(rows) > _MAX_SAMPLE_ROWS:
                break
        else:
            if is_cut and len(rows) > 1:
                rows.pop()
    except csv.Error:
        pass  # raised again with its line once it is reached
    return rows


class _Fit(NamedTuple):
    """How well a delimiter fits; the largest fits best."""

    whole: float
    """The share of rows in which it cuts no quoted value apart."""
    even: float
    """The share of rows with as many values as the first."""
    n_columns: int


def _fit(rows: list[list[str]]) -> _Fit | None:
    """Return how well a delimiter fits, or None if the first row is not divided.

    None, too, if most rows are shorter.
    """
    if not rows or len(rows[0]) == 1:
        return None
    n, n_rows = len(rows[0]), len(rows) - 1
    n_short = sum(len(row) < n for row in rows)
    if 2 * n_short > n_rows:
        return None
    n_whole = sum(not any(value.count('"') % 2 for value in row) for row in rows)
    return _Fit(n_whole / len(rows), _n_even(rows) / n_rows if n_rows else 1.0, n)


def _n_even(rows: list[list[str]]) -> int:
    """Return how many rows have as many values as the first."""
    return sum(len(row) == len(rows[0]) for row in rows[1:])


def _is_quoted(value: str) -> bool:
    bare = value.strip(" ")
    return value.startswith(" ") and len(bare) > 1 and bare[0] == bare[-1] == '"'


def has_header(first: list[str], rows: list[list[str]], asked: Sequence[str] = ()) -> bool:
    """Return False if the first row is like the rows after it in some column, unlike a name.

    >>> has_header(["3", "Stocks fell"], [["4", "Chips rose"]])
    False
    >>> has_header(["country", "2024"], [["Chad", "20"]])
    True
    """
    names = [title.strip().casefold() for title in first]
    if any(each in _HEADER_NAMES for each in names) or any(
        each in map(str.strip, first) for each in asked
    ):
        return True
    if [name for name in names if name] == [str(n) for n in range(len([*filter(None, names)]))]:
        return True  # as pandas numbers columns
    is_like_rows = False
    for place, name in enumerate(names):
        below = [row[place].strip() for row in rows if len(row) > place and row[place].strip()]
        if not name or not below:
            continue
        n_numbers = sum(map(_is_number, below))
        if _is_number(name):
            is_year = _YEAR.fullmatch(name) and not all(map(_YEAR.fullmatch, below))
            if n_numbers < len(below) or is_year:
                return True
            is_like_rows = True
        elif len(names) > 1 and first not in rows:
            of_kinds = Counter(below)
            is_like_rows |= of_kinds[first[place].strip()] > 1 and 2 * len(of_kinds) <= len(below)
    return not is_like_rows


def _is_number(value: str) -> bool:
    """Return True for a number or a date: it has digits and no letters."""
    return any(map(str.isdigit, value)) and not _LETTER.search(value)


def _has_index(titles: list[str], rows: list[list[str]]) -> bool:
    """Return True if every row begins with its number, for which the header has no name.

    R writes such tables.
    """
    if len(rows) < 2 or any(len(row) != len(titles) + 1 for row in rows):
        return False
    if titles[0].casefold() in _ID_NAMES:
        return False
    numbers = [row[0].strip() for row in rows]
    return any(numbers == [str(n + start) for n in range(len(rows))] for start in (0, 1))


def _has_escapes(text: str, delimiters: str) -> bool:
    r"""Return True if a quoted value has a \" that does not end it.

    >>> _has_escapes(r'a,"\"hug\" and"', ","), _has_escapes(r'"C:\",hug', ",")
    (True, False)
    """
    if '\\"' not in text:
        return False
    d = regex.escape(delimiters)
    value = rf'(?:\A|(?<=[{d}\r\n]))[ ]*"(?:[^"\\]|""|\\[^"])*+\\"(?!["{d}\r\n]|\Z)'
    return regex.search(value, text) is not None


def _escaped(line: str) -> str:
    """Return a line in which a backslash that escapes nothing is doubled, for the csv module."""
    return _BACKSLASH.sub(_keep_backslash, line) if "\\" in line else line


def _keep_backslash(found: regex.Match[str]) -> str:
    return found[0] if found[1] else "\\\\"


class StrayQuotes:
    r"""The lines of a table, in which each quote that does not end a field is doubled.

    Python's csv module, as most readers, takes all rows up to the next quote for one field, and all
    the rest of a file if there is none.

    >>> text = 'id,text\n1,"hug\n2,"a\nb"\n3,"so" she said\n'
    >>> lines = StrayQuotes(text, 0, _Dialect(",")).lines(text.splitlines(keepends=True))
    >>> list(csv.reader(lines))
    [['id', 'text'], ['1', '"hug'], ['2', 'a\nb'], ['3', '"so" she said']]
    """

    def __init__(self, text: str, begin: int, dialect: _Dialect) -> None:
        self._text = text
        self._begin = begin
        self._delimiter = dialect.delimiter
        self._inside_to = 0
        """Where the quoted field ends that a line left open."""
        self.n_found = 0
        self.first_line = 0
        """The number of the line with the first one."""
        d = regex.escape(dialect.delimiter)
        field = dialect.field()
        self._whole = regex.compile(rf"(?:{field}{d})*+{field}[\r\n]*+")
        self._spaces = regex.compile("[ ]*+" if dialect.is_spaced else "")
        content = r'(?:[^"\\]|""|\\.)*+"' if dialect.has_escapes else r'[^"]*+(?:""[^"]*+)*+"'
        self._to_close = regex.compile(content, regex.DOTALL)
        self._bare_quote = regex.compile(r'(?<!\\)"' if dialect.has_escapes else '"')

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield each line with its stray quotes doubled; `lines` must be those of all the text."""
        begin = self._begin
        for number, line in enumerate(lines, 1):
            if self._inside_to > begin or ('"' in line and not self._whole.fullmatch(line)):
                before = self.n_found
                yield self._corrected(line, begin)
                if before == 0 < self.n_found:
                    self.first_line = number + self._text.count("\n", 0, self._begin)
            else:
                yield line
            begin += len(line)

    def _corrected(self, line: str, begin: int) -> str:
        content = line.rstrip("\r\n")
        at = 0
        if self._inside_to > begin:
            at = self._inside_to - begin
            if at > len(content):
                return line
            at = self._field_end(content, at) + 1
        parts: list[str] = []
        copied = 0
        while at < len(content):
            end = self._field_end(content, at)
            quote = self._spaces.match(content, at).end()  # pyright: ignore[reportOptionalMemberAccess]
            if content[quote : quote + 1] == '"':
                close = self._close(begin + quote + 1)
                if close is not None and self._ends_field(close):
                    self._inside_to = close
                    end = self._field_end(content, close - begin)
                else:
                    if close is None or close - begin > len(content):
                        self.n_found += 1
                    else:
                        # Closed on this line, with more text behind: its quotes are text.
                        end = self._field_end(content, close - begin)
                    doubled = self._bare_quote.sub('""', content[quote:end])
                    parts += [content[copied:at], f'"{doubled}"']
                    copied = end
            at = end + 1
        return "".join([*parts, line[copied:]])

    def _field_end(self, content: str, at: int) -> int:
        end = content.find(self._delimiter, at)
        return len(content) if end < 0 else end

    def _close(self, at: int) -> int | None:
        """Return the place after the next quote that is neither doubled nor escaped."""
        found = self._to_close.match(self._text, at)
        return None if found is None else found.end()

    def _ends_field(self, place: int) -> bool:
        while self._text[place : place + 1] == " ":
            place += 1
        return self._text[place : place + 1] in ("", self._delimiter, "\r", "\n")


class _Lines:
    """The lines of a csv or tsv file; raises UnsupportedFileError for a row of too many cells."""

    def __init__(self, text: str, begin: int, name: str, delimiter: str) -> None:
        self._text = text
        self._name = name
        self._delimiter = delimiter
        self._begin = self._end = begin
        self._allowed = self._left = MAX_COLUMNS
        self._is_header = True
        self._lines = self._split()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self._end += len(line)
        self._left -= len(line)
        if self._left < 0:
            self._check()
        return line

    def begin_row(self) -> tuple[int, int]:
        """Return where the last row begins and ends; begin to count the cells of the next."""
        begin = self._begin
        self._is_header = False
        self._begin = self._end
        self._allowed = self._left = MAX_CELLS
        return begin, self._end

    def _split(self) -> Iterator[str]:
        """Yield lines with their ends: by megabytes, because a StringIO of a text is a copy."""
        mark = "\n" if "\n" in self._text else "\r"
        start = self._begin
        while start < len(self._text):
            cut = self._text.find(mark, start + _PIECE)
            end = len(self._text) if cut < 0 else cut + 1
            yield from io.StringIO(self._text[start:end], newline="")
            start = end

    def _check(self) -> None:
        """Count the cells of a row that is long enough to have too many."""
        most = MAX_COLUMNS if self._is_header else MAX_CELLS
        if has_more_cells(self._text[self._begin : self._end], self._delimiter, most):
            if self._is_header:
                raise too_many_columns(self._name)
            raise UnsupportedFileError(
                f"{self._name} has more than {MAX_CELLS:,} values in a row. Check its quotes, or "
                "rename the file to .txt."
            )
        # Later, because a row of many lines would be counted again for each of them.
        self._left += self._allowed
        self._allowed *= 2
