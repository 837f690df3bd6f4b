"""A vocabulary to look around in: its table, one token, its trie, and what an audit found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

Kind = Literal["merge", "symbol", "special", "token"]
""""token" where it isn't known what makes it."""
Said = Callable[[], None]


class Known(TypedDict):
    """A token as the browser draws it."""

    id: int
    token: str | list[int]
    kind: Kind
    rank: int
    """-1 where no merge makes it."""


class TableRow(Known):
    """A token with its figures."""

    bytes: int
    uses: int | None
    """None while uses are not counted."""
    built: int


class TreePart(Known):
    """A token where it stands in another's tree; `parts` are places in the tree."""

    parts: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Finding:
    """What an audit found: a key, its name, one line on what it means, and of how many tokens."""

    key: str
    name: str
    note: str
    n: int | None
    """None while it isn't known yet."""


class TableData(TypedDict):
    """What the table shows; see `table.js`."""

    asked: Mapping[str, str]
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
    """What is told of one token."""

    known: Known
    facts: list[tuple[str, str]]
    warning: str
    tree: list[TreePart]
    tree_sentence: str
    built: list[Known]
    built_sentence: str


class Step(TypedDict):
    """A node on the way from the root: what it adds, and all of it in hex."""

    token: str | list[int]
    prefix: str


class Way(TypedDict):
    """A way on from a node: what it adds, how many tokens go there, and the first beyond it."""

    more: str | list[int]
    prefix: str
    n: int
    known: Known | None
    ahead: list[Known]


class PrefixData(TypedDict):
    """One node of the trie."""

    text: str
    path: list[Step]
    sentence: str
    own: Known | None
    longest: Known | None
    branches: list[Way]


_table = component(
    "bpe.vocabulary_table",
    css=component_css(_HERE, "parts", "table"),
    js=join_modules(_HERE / "table.js"),
)
_card = component(
    "bpe.vocabulary_card",
    css=component_css(_HERE, "parts", "card"),
    js=join_modules(_HERE / "card.js"),
)
_prefixes = component(
    "bpe.vocabulary_prefixes",
    css=component_css(_HERE, "parts", "prefixes"),
    js=join_modules(_HERE / "prefixes.js"),
)
_findings = component(
    "bpe.vocabulary_findings",
    css=component_css(_HERE, "parts", "findings"),
    js=join_modules(_HERE / "findings.js"),
)


def token_table(data: TableData, *, key: str, on_asked: Said, on_opened: Said) -> None:
    """Draws the search, the filters and one page of tokens.

    `on_asked` is called before the page runs again: `asked` of the component's value is the record
    to find by then. `on_opened` likewise, with the id of a token as `opened`.
    """
    _table(key=key, data=data, on_asked_change=on_asked, on_opened_change=on_opened)


def token_card(data: CardData, *, key: str, on_opened: Said) -> None:
    """Draws one token, its tree and what is built on it; `opened` is another to go to."""
    _card(key=key, data=data, on_opened_change=on_opened)


def prefix_walk(
    data: PrefixData, *, key: str, on_typed: Said, on_went: Said, on_opened: Said
) -> None:
    """Draws a node of the trie; `typed` is a text to go to, `went` a prefix in hex."""
    _prefixes(
        key=key,
        data=data,
        on_typed_change=on_typed,
        on_went_change=on_went,
        on_opened_change=on_opened,
    )


def finding_list(findings: Sequence[Finding], chosen: str, *, key: str, on_chosen: Said) -> None:
    """Draws findings with their counts; `chosen` is the key of the one that was pressed."""
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
