"""Read the page's search, token and prefix from the address, and write the visitor's choices to it.

The functions that take a `key` are callbacks: they read the value of the component or chart of that
key, and ignore a value of the wrong type.
"""

from __future__ import annotations

from typing import cast

from bpe_core.tokenizer.protocol import Encoder
from ui.shell import address, workspace
from ui.vocabulary.charts import bar_lengths
from ui.vocabulary.search import FIELDS, MAX_SEARCH_LENGTH, Record, to_record


def read_search() -> Record:
    """Return the search in the address."""
    return to_record({name: address.query_text(name, MAX_SEARCH_LENGTH) for name in FIELDS})


def read_token_id(encoder: Encoder, default: int) -> int:
    """Return the id of the open token; `default` if this vocabulary has no such token."""
    opened = address.query_int("token", -1, 0, 2**31)
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
