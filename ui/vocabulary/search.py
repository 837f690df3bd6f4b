"""Convert a search of the vocabulary between the address, a record of texts, and a query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, cast, get_args

from bpe_core.vocabulary.table import Query, SearchBy, SortBy

Record = dict[str, str]
FIELDS = (
    "find",
    "by",
    "finding",
    "script",
    "space",
    "partial",
    "special",
    "bytes",
    "sort",
    "page",
)
"""The names of the parameters in the address; in a record, a parameter at its default is empty."""
FindingKey = Literal["never", "scaffolds", "unreachable", "undecided", "partial"]
MAX_SEARCH_LENGTH = 300
_CHOICES: dict[str, tuple[str, ...]] = {
    "by": ("bytes", "regex"),
    "finding": get_args(FindingKey),
    "space": ("yes", "no"),
    "partial": ("yes", "no"),
    "special": ("yes", "no"),
    "sort": ("-id", "length", "-length", "use", "-use"),
}
_LENGTHS = re.compile(r"(\d{1,5})(?:(-)(\d{1,5})?)?", re.ASCII)


def to_record(values: Mapping[str, object]) -> Record:
    """Return all fields as texts, in order; an invalid value becomes empty.

    >>> {name: text for name, text in to_record({"find": "th", "sort": "up"}).items() if text}
    {'find': 'th'}
    """
    return {name: _checked(name, values.get(name)) for name in FIELDS}


def to_query(record: Mapping[str, str], only: tuple[int, ...] | None = None) -> Query:
    """Convert a record to a query; `only` is the ids of its finding.

    >>> to_query(to_record({"bytes": "3-", "sort": "-use"})).shortest
    3
    """
    low, high = parse_lengths(record["bytes"])
    return Query(
        text=record["find"],
        by=cast("SearchBy", record["by"] or "text"),
        script=record["script"] or None,
        shortest=low,
        longest=high,
        leading_space=_flag(record["space"]),
        partial_utf8=_flag(record["partial"]),
        special=_flag(record["special"]),
        only=only,
        sort=cast("SortBy", record["sort"].removeprefix("-") or "id"),
        descending=record["sort"].startswith("-"),
    )


def parse_lengths(text: str) -> tuple[int, int | None]:
    """Parse a field of lengths into the shortest and the longest length; None for no limit.

    >>> parse_lengths("4"), parse_lengths("4-6"), parse_lengths("24-"), parse_lengths("")
    ((4, 4), (4, 6), (24, None), (0, None))
    """
    match = _LENGTHS.fullmatch(text)
    if match is None:
        return 0, None
    low, has_end, high = int(match[1]), match[2], match[3]
    return low, (int(high) if high else None) if has_end else low


def _flag(text: str) -> bool | None:
    return None if not text else text == "yes"


def _checked(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MAX_SEARCH_LENGTH:
        return ""
    if name in _CHOICES:
        return value if value in _CHOICES[name] else ""
    if name == "bytes":
        return value if _LENGTHS.fullmatch(value) else ""
    if name == "page":
        is_page = value.isascii() and value.isdigit() and len(value) < 7 and int(value) > 1
        return value if is_page else ""
    # The address is UTF-8, which has no encoding for a lone surrogate.
    return value if value.isascii() or not re.search("[\ud800-\udfff]", value) else ""
