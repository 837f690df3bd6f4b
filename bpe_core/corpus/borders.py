"""Find where a text can be cut: at a line end, or within a long line before a space."""

from __future__ import annotations

from typing import Final

import regex

# Every named pre-tokenizer starts a pre-token at a single space before a word.
_WORD_STARTS: Final = regex.compile(r"(?<=\S)(?= \S)")
# Scripts that write no spaces have punctuation.
_WORD_ENDS: Final = regex.compile(r"(?<=\S)(?=\s)|(?<=[\p{Po}\p{Pe}\p{Pf}])(?=[\p{L}\p{N}])")


def border_near(text: str, near: int, reach: int) -> int | None:
    """Return the line boundary nearest to a position in a text, or else a word boundary.

    Lines end with LF, CR or CRLF; the start and the end of the text are also boundaries. Returns
    None if there is no boundary within `reach` characters.

    >>> border_near("one\\ntwo three", 5, 4), border_near("one two three four", 9, 4)
    (4, 13)
    >>> border_near("one\\ntwo", 5, 1)
    4
    """
    near = min(max(near, 0), len(text))
    before, after = _border_before(text, near, reach), _border_after(text, near, reach)
    if before is not None and after is not None:
        return before if near - before <= after - near else after
    if before is not None or after is not None:
        return before if after is None else after
    # A pattern also needs one character on either side of the boundary.
    last = near + reach + 1
    found = _WORD_STARTS.search(text, near, last) or _WORD_ENDS.search(text, near, last)
    return found.start() if found else None


def _border_before(text: str, near: int, reach: int) -> int | None:
    first = max(0, near - reach)
    # Include the character before, since `first` may be a boundary itself.
    start, end = max(0, first - 1), near
    while True:
        end = max(text.rfind("\n", start, end), text.rfind("\r", start, end)) + 1
        if not end:
            return 0 if first == 0 else None
        if not _is_within_line_end(text, end):
            return end
        end -= 1


def _border_after(text: str, near: int, reach: int) -> int | None:
    last = min(len(text), near + reach)
    # Include the character before, since `near` may be a boundary itself.
    found = [text.find(end, max(0, near - 1), last) for end in "\n\r"]
    ends = [place + 1 for place in found if place >= 0]
    if ends:
        end = min(ends)
        return end + 1 if _is_within_line_end(text, end) else end
    return len(text) if last == len(text) else None


def _is_within_line_end(text: str, place: int) -> bool:
    return text[place - 1 : place + 1] == "\r\n"
