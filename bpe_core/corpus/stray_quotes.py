"""Find quotes in CSV and TSV that begin a field and never end it, and read them as text.

Python's csv module, as most readers, takes all rows up to the next quote for one field, and all the
rest of a file if there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import regex


class StrayQuotes:
    r"""The lines of a table, in which each quote that does not end a field is doubled.

    >>> import csv
    >>> text = 'id,text\n1,"hug\n2,"a\nb"\n'
    >>> lines = StrayQuotes(text, ",").lines(text.splitlines(keepends=True))
    >>> list(csv.reader(lines))
    [['id', 'text'], ['1', '"hug'], ['2', 'a\nb']]
    """

    def __init__(self, text: str, delimiter: str) -> None:
        self._text = text
        self._delimiter = delimiter
        self._inside_to = 0
        """Where the quoted field ends that a line left open."""
        self.n_found = 0
        self.first_line = 0
        """The number of the line with the first one."""
        d = regex.escape(delimiter)
        field = rf'(?:"[^"]*+(?:""[^"]*+)*+"|[^"{d}\r\n][^{d}\r\n]*+|)'
        self._whole = regex.compile(rf"(?:{field}{d})*+{field}[\r\n]*+")

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield each line with its stray quotes doubled; `lines` must be those of all the text."""
        begin = 0
        for number, line in enumerate(lines, 1):
            if self._inside_to > begin or ('"' in line and not self._whole.fullmatch(line)):
                before = self.n_found
                yield self._corrected(line, begin)
                if before == 0 < self.n_found:
                    self.first_line = number
            else:
                yield line
            begin += len(line)

    def _corrected(self, line: str, begin: int) -> str:
        content = line.rstrip("\r\n")
        if self._inside_to > begin:
            at = self._inside_to - begin
            if at > len(content):
                return line
            at += 1  # beyond the delimiter
        else:
            at = 0
        parts: list[str] = []
        copied = 0
        while at < len(content):
            end = self._field_end(content, at)
            if content[at] == '"':
                close = self._close(begin + at + 1)
                if close is not None and self._ends_field(close):
                    self._inside_to = close
                    end = close - begin
                elif close is None or close - begin > len(content):
                    self.n_found += 1
                    quoted = content[at:end].replace('"', '""')
                    parts += [content[copied:at], f'"{quoted}"']
                    copied = end
                else:
                    # Closed on this line, with more text behind: csv reads that as it stands.
                    end = self._field_end(content, close - begin)
            at = end + 1
        return "".join([*parts, line[copied:]])

    def _field_end(self, content: str, at: int) -> int:
        end = content.find(self._delimiter, at)
        return len(content) if end < 0 else end

    def _close(self, at: int) -> int | None:
        """Return the place after the next quote that is not doubled."""
        while (quote := self._text.find('"', at)) >= 0:
            if self._text[quote + 1 : quote + 2] != '"':
                return quote + 1
            at = quote + 2
        return None

    def _ends_field(self, place: int) -> bool:
        return self._text[place : place + 1] in ("", self._delimiter, "\r", "\n")
