"""Bound the number of values in JSON or CSV by its punctuation, before anything is parsed."""

from __future__ import annotations

from typing import Final

import numpy as np

_PIECE: Final = 1 << 22
_JSON: Final = "[{,:"


def has_more_values(text: str, most: int) -> bool:
    """Return True if JSON has more brackets, commas and colons outside strings than `most`.

    Each of them stands for at most one value or key.

    >>> has_more_values('[{"a": "b, c, d"}]', 3), has_more_values('[{"a": "b, c, d"}]', 2)
    (False, True)
    """
    return _has_more(text, _JSON, most, escape="\\")


def has_more_cells(text: str, delimiter: str, most: int) -> bool:
    """Return True if there are more delimiters outside quotes than `most`.

    >>> has_more_cells('a,"b,c",d', ",", 2), has_more_cells("a,b,c,d", ",", 2)
    (False, True)
    """
    return _has_more(text, delimiter, most, escape="")


def _has_more(text: str, marks: str, most: int, escape: str) -> bool:
    # Most texts are short, and most others have few marks, even counting those in strings.
    if len(text) <= most or sum(map(text.count, marks)) <= most:
        return False
    if escape:
        text = text.replace(escape * 2, "").replace(f'{escape}"', "")
    found = inside = 0
    for start in range(0, len(text), _PIECE):
        piece = text[start : start + _PIECE].encode("ascii", "replace")
        codes = np.frombuffer(piece, np.uint8)
        quotes = np.cumsum(codes == ord('"'), dtype=np.int64) + inside
        is_mark = np.isin(codes, np.frombuffer(marks.encode(), np.uint8))
        found += int(np.count_nonzero(is_mark & (quotes % 2 == 0)))
        if found > most:
            return True
        inside = int(quotes[-1]) % 2
    return False
