"""Read the text of a value in a table: a string, a number, a list of strings or a chat.

How many values JSON or CSV has is bounded by its punctuation, before anything is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, cast

import numpy as np

try:
    from msgspec import DecodeError
    from msgspec.json import decode
except ModuleNotFoundError:
    decode = None
    DecodeError = ValueError

CHAT_KEYS: Final = (("role", "content"), ("from", "value"))
"""The keys of a message: those of most libraries, and ShareGPT's."""
_PIECE: Final = 1 << 22
_JSON: Final = "[{,:"


def text_in(value: object) -> str | None:
    r"""Return the text of a value, or None if it is missing, an object or a list of others.

    A chat becomes its roles and contents, a line for each message; a list of strings, its lines.

    >>> text_in("hug"), text_in(5), text_in(None), text_in(["hug", "hugs"])
    ('hug', '5', None, 'hug\nhugs')
    >>> text_in([{"role": "user", "content": "hug"}, {"role": "assistant", "content": "hugs"}])
    'user: hug\nassistant: hugs'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if not isinstance(value, list) or not value:
        return None
    values = cast("list[object]", value)
    if all(isinstance(each, str) for each in values):
        return "\n".join(cast("list[str]", values))
    lines = [_message(each) for each in values]
    return None if None in lines else "\n".join(cast("list[str]", lines))


def is_chat(value: object) -> bool:
    """Return True for a list of messages, each with its role and content.

    >>> is_chat([{"role": "user", "content": "hug"}]), is_chat(["hug"])
    (True, False)
    """
    messages = cast("list[object]", value) if isinstance(value, list) else []
    return bool(messages) and all(_message(each) is not None for each in messages)


def _message(value: object) -> str | None:
    if not isinstance(value, Mapping):
        return None
    message = cast("Mapping[str, object]", value)
    for who, what in CHAT_KEYS:
        role = message.get(who)
        if isinstance(role, str) and what in message:
            return f"{role}: {_content(message[what])}"
    return None


def _content(value: object) -> str:
    """Return what a message says; some have a list of parts, of which those of text are read."""
    if isinstance(value, list):
        parts = cast("list[object]", value)
        texts = [cast("Mapping[str, object]", part).get("text") for part in parts
                 if isinstance(part, Mapping)]  # fmt: skip
        return "\n".join(text for text in (*texts, *parts) if isinstance(text, str))
    return value if isinstance(value, str) else ""


def parse_value(data: bytes | str) -> object:
    """Return what `json.loads` returns, with msgspec in a third of the time; raises what it raises.

    >>> parse_value(b'{"count": 1}'), parse_value(b"NaN")
    ({'count': 1}, nan)
    """
    if decode is not None:
        try:
            return decode(data)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            pass  # json accepts more, such as NaN and UTF-16, and names the place of a mistake
    return json.loads(data)


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
