"""Draw a vocabulary: its table, the card of one token, its trie, and the findings of an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from ui.components.shared import make_component

Kind = Literal["merge", "symbol", "byte", "special", "token"]
""""token" if the merges are not known."""
Callback = Callable[[], None]


class ShownToken(TypedDict):
    """A token as the browser draws it."""

    id: int
    token: str | list[int]
    kind: Kind
    rank: int
    """-1 if no merge makes it."""


class TableRow(ShownToken):
    """A token with its figures."""

    bytes: int
    uses: int | None
    """None until the uses are counted."""
    built: int


class TreePart(ShownToken):
    """A token at its place in a derivation tree; `parts` are indices in the tree."""

    parts: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of an audit: key, name, a line of explanation, and the number of tokens."""

    key: str
    name: str
    note: str
    n: int | None
    """None until it is computed."""


class TableData(TypedDict):
    """The contents of the table; see `table.js`."""

    record: Mapping[str, str]
    rows: list[TableRow]
    start: int
    n_found: int
    n_all: int
    page: int
    pages: int
    sort: str
    opened: int
    problem: str
    about_uses: str
    has_merges: bool
    scripts: list[tuple[str, int]]
    findings: list[tuple[str, str, int]]


class CardData(TypedDict):
    """The contents of the card of one token."""

    shown: ShownToken
    facts: list[tuple[str, str]]
    warning: str
    tree: list[TreePart]
    tree_sentence: str
    built: list[ShownToken]
    built_sentence: str


class TrieStep(TypedDict):
    """A node on the path from the root: the bytes it adds, and the whole prefix in hex."""

    token: str | list[int]
    prefix: str


class Way(TypedDict):
    """A branch of a node: the bytes it adds, its number of tokens, and the first few of them."""

    more: str | list[int]
    prefix: str
    n: int
    shown: ShownToken | None
    ahead: list[ShownToken]


class PrefixData(TypedDict):
    """One node of the trie."""

    text: str
    path: list[TrieStep]
    sentence: str
    own: ShownToken | None
    longest: ShownToken | None
    branches: list[Way]


_table = make_component(__file__, "vocabulary_table", "table", styles=("parts", "table"))
_card = make_component(__file__, "vocabulary_card", "card", styles=("parts", "card"))
_prefixes = make_component(
    __file__, "vocabulary_prefixes", "prefixes", styles=("parts", "prefixes")
)
_findings = make_component(
    __file__, "vocabulary_findings", "findings", styles=("parts", "findings")
)


def token_table(data: TableData, *, key: str, on_record: Callback, on_opened: Callback) -> None:
    """Draw the search field, the filters and one page of tokens.

    `on_record` is called before the page reruns, with the record to search for as `record` in the
    component's value; `on_opened` likewise, with the id of a token as `opened`.
    """
    _table(key=key, data=data, on_record_change=on_record, on_opened_change=on_opened)


def token_card(data: CardData, *, key: str, on_opened: Callback) -> None:
    """Draw one token, its tree and the tokens built on it; `opened` is another id to show."""
    _card(key=key, data=data, on_opened_change=on_opened)


def prefix_walk(
    data: PrefixData, *, key: str, on_typed: Callback, on_moved: Callback, on_opened: Callback
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
