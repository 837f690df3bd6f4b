"""Change single values of a JSON text, and leave every other byte as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\n\r]*")


class JsonMember(NamedTuple):
    """A value in a JSON text: its key or index, the span of its key and its own span."""

    key: str | int
    key_start: int
    start: int
    end: int


def members(text: str, start: int = 0) -> Iterator[JsonMember]:
    """Yield the values of the object or array that starts at a place of a valid JSON text.

    >>> text = '{"a": [1, 22], "b": {}}'
    >>> [(each.key, text[each.start : each.end]) for each in members(text)]
    [('a', '[1, 22]'), ('b', '{}')]
    >>> [text[each.start : each.end] for each in members(text, 6)]
    ['1', '22']
    """
    at = _skip(text, start)
    is_object = text[at] == "{"
    at = _skip(text, at + 1)
    index = 0
    while text[at] not in "]}":
        key: str | int = index
        key_start = at
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        _, end = _DECODER.raw_decode(text, at)
        yield JsonMember(key, key_start, at, end)
        index += 1
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def member(text: str, key: str | int, start: int = 0) -> JsonMember | None:
    """Return one value of an object or array, or None if it has no such key.

    >>> member('{"a": 1}', "a"), member('{"a": 1}', "b")
    (JsonMember(key='a', key_start=1, start=6, end=7), None)
    """
    return next((each for each in members(text, start) if each.key == key), None)


def replace_spans(text: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """Return a text with spans replaced, each as start, end and new text; they don't overlap.

    >>> replace_spans("abc", [(2, 3, "z"), (0, 1, "xy")])
    'xybz'
    """
    written: list[str] = []
    last = 0
    for start, end, new in sorted(changes):
        written += (text[last:start], new)
        last = end
    written.append(text[last:])
    return "".join(written)


def write_like(value: object, text: str, place: JsonMember) -> str:
    """Return a value as JSON in the style of the one that stands at a place.

    The style is the indentation, the white space after colons and commas, and whether characters
    beyond ASCII are escaped.

    >>> text = '{"vocab": {"é":0,"b":1}}'
    >>> write_like({"a": 0, "é": 1}, text, member(text, "vocab"))
    '{"a":0,"é":1}'
    """
    old = text[place.start : place.end]
    escaped = old.isascii() and "\\u" in old
    first_two = list(islice(members(text, place.start), 2))
    if first_two and "\n" in text[place.start : first_two[0].key_start]:
        line_start = text.rfind("\n", 0, place.start) + 1
        outer = text[line_start : _skip(text, line_start)]
        inner_start = text.rfind("\n", 0, first_two[0].key_start) + 1
        step = first_two[0].key_start - inner_start - len(outer)
        written = json.dumps(value, ensure_ascii=escaped, indent=max(step, 0))
        return written.replace("\n", "\n" + outer)
    item, colon = ",", ":"
    if len(first_two) == 2:
        item = text[first_two[0].end : first_two[1].key_start]
    if first_two:
        colon = text[: first_two[0].start][first_two[0].key_start :].rpartition('"')[2] or ":"
    return json.dumps(value, ensure_ascii=escaped, separators=(item, colon))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()
