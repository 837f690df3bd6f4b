"""Convert a search of the vocabulary between the address, a record of texts, and a query.

The functions that take a `key` are callbacks: they read the value of the component or chart of that
key, and ignore a value of the wrong type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, cast, get_args

from bpe_core.tokenizer import Encoder
from bpe_core.vocabulary import Query, SearchBy, SortBy
from ui.shell import address, workspace

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
FindingKey = Literal[
    "never", "scaffolds", "residues", "removed", "unreachable", "undecided", "partial"
]
MAX_SEARCH_LENGTH = 300
_CHOICES: dict[str, tuple[str, ...]] = {
    "by": ("bytes", "regex"),
    "finding": get_args(FindingKey),
    "space": ("yes", "no"),
    "partial": ("yes", "no"),
    "special": ("yes", "no"),
    "sort": ("-id", "length", "-length", "use", "-use"),
}
MAX_BAR_LENGTH = 24
"""The length of the last bar, which also counts longer tokens."""
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


def bar_lengths(place: int, n_lengths: int) -> str:
    """Return the lengths counted by a bar, in the form used in the address.

    >>> bar_lengths(4, 20), bar_lengths(23, 129)
    ('5', '24-')
    """
    length = place + 1
    return (
        f"{length}-" if length == MAX_BAR_LENGTH and n_lengths > MAX_BAR_LENGTH + 1 else str(length)
    )


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


def read_search() -> Record:
    """Return the search in the address."""
    return to_record({name: address.query_text(name, MAX_SEARCH_LENGTH) for name in FIELDS})


def read_token_id(encoder: Encoder, default: int) -> int:
    """Return the id of the open token; `default` if this vocabulary has no such token."""
    opened = address.query_int("token", -1, 2**31)
    return opened if opened in encoder.vocab else default


def read_prefix() -> bytes:
    """Return the prefix whose node of the trie is shown; an invalid one is removed."""
    try:
        return bytes.fromhex(address.query_text("prefix", 8 * MAX_SEARCH_LENGTH) or "")
    except ValueError:
        address.set_query(prefix=None)
        return b""


def search_for(key: str) -> None:
    """Search for the record sent by the table."""
    record = workspace.component_value(key, "record")
    if isinstance(record, dict):
        _set_record(to_record(cast("dict[str, object]", record)))


def open_token(key: str) -> None:
    """Open the token whose button was pressed."""
    opened = workspace.component_value(key, "opened")
    if isinstance(opened, int):
        address.set_query(token=opened)


def toggle_finding(key: str) -> None:
    """Filter by the finding that was pressed, or clear the filter if it was already set."""
    chosen, record = workspace.component_value(key, "chosen"), read_search()
    if isinstance(chosen, str):
        finding = "" if record["finding"] == chosen else chosen
        _set_record(to_record({**record, "finding": finding, "page": ""}))


def toggle_length(key: str, n_lengths: int, shown: str) -> None:
    """Filter by the lengths of the bar that was clicked, or clear that filter if it is `shown`.

    `shown` is the chart's, not the address's: a request that was sent before the browser replaced
    the chart brings the same click again.
    """
    points = workspace.selected_points(key)
    if points:
        field = bar_lengths(points[0], n_lengths)
        field = "" if shown == field else field
        _set_record(to_record({**read_search(), "bytes": field, "page": ""}))


def go_to_text(key: str) -> None:
    """Go to the trie node whose prefix was typed as text."""
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        address.set_query(prefix=typed[:MAX_SEARCH_LENGTH].encode(errors="ignore").hex() or None)


def go_to_prefix(key: str) -> None:
    """Go to the trie node that was pressed; its prefix arrives in hex."""
    moved = workspace.component_value(key, "moved")
    if isinstance(moved, str):
        address.set_query(prefix=moved or None)


def _set_record(record: Record) -> None:
    address.set_query(**{name: text or None for name, text in record.items()})
