"""Draw a vocabulary: its table, the card of one token, its trie, and the findings of an audit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ui.components.shared import make_component

Callback = Callable[[], None]
Sent = dict[str, Any]
"""What a component takes, or a part of it, as the types in its script declare."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of an audit: key, name, a line of explanation, and the number of tokens."""

    key: str
    name: str
    note: str
    n: int | None
    """None until it is computed."""


_table = make_component(__file__, "vocabulary_table", "table", styles=("parts", "table"))
_card = make_component(__file__, "vocabulary_card", "card", styles=("parts", "card"))
_prefixes = make_component(
    __file__, "vocabulary_prefixes", "prefixes", styles=("parts", "prefixes")
)
_learned = make_component(__file__, "vocabulary_learned", "learned", styles=("parts", "learned"))
_findings = make_component(
    __file__, "vocabulary_findings", "findings", styles=("parts", "findings")
)


def token_table(data: Sent, *, key: str, on_record: Callback, on_opened: Callback) -> None:
    """Draw the search field, the filters and one page of tokens, as `TableData` in table.js.

    `on_record` is called before the page reruns, with the record to search for as `record` in the
    component's value; `on_opened` likewise, with the id of a token as `opened`.
    """
    _table(key=key, data=data, on_record_change=on_record, on_opened_change=on_opened)


def token_card(data: Sent, *, key: str, on_opened: Callback) -> None:
    """Draw one token, its tree and the tokens built on it; `opened` is another id to show."""
    _card(key=key, data=data, on_opened_change=on_opened)


def learned_rows(rows: Sequence[Sent], *, key: str, on_opened: Callback) -> None:
    """Draw rows of tokens, as `LearnedRow` in learned.js; `opened` is the id of one to show."""
    _learned(key=key, data={"rows": list(rows)}, on_opened_change=on_opened)


def prefix_walk(
    data: Sent, *, key: str, on_typed: Callback, on_moved: Callback, on_opened: Callback
) -> None:
    """Draw a node of the trie; `typed` is a prefix to go to as text, `moved` one in hex."""
    _prefixes(
        key=key,
        data=data,
        on_typed_change=on_typed,
        on_moved_change=on_moved,
        on_opened_change=on_opened,
    )


def finding_list(
    findings: Sequence[Finding], chosen: str, *, key: str, on_chosen: Callback
) -> None:
    """Draw findings with their counts; `chosen` is the key of the active one."""
    _findings(
        key=key,
        data={
            "findings": [
                {"key": one.key, "name": one.name, "note": one.note, "n": one.n} for one in findings
            ],
            "chosen": chosen,
        },
        on_chosen_change=on_chosen,
    )
