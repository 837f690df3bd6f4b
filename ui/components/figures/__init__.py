"""A sentence that leads a page, and a table of figures: text only, drawn in the page's look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

_verdict = component(
    "bpe.verdict",
    css=component_css(_HERE, "verdict"),
    js=join_modules(_HERE / "verdict.js"),
)
_table = component(
    "bpe.figure_table",
    css=component_css(_HERE, "figure_table"),
    js=join_modules(_HERE / "figure_table.js"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: its name, its figures as they are shown, and which of them are best."""

    name: str
    figures: tuple[str, ...]
    better: tuple[int, ...] = ()
    """The places of the figures that get a dot: the better one, or the best that read the same."""
    meaning: str = ""
    """What the row's figures are, in a line that opens under its name."""


def verdict(sentence: Sequence[tuple[str, bool]], aside: str, *, key: str) -> None:
    """Draws a sentence in pieces of text, each with whether it is bold, and an aside under it."""
    _verdict(key=key, data={"sentence": [list(piece) for piece in sentence], "aside": aside})


def figure_table(columns: Sequence[str], rows: Sequence[Row], *, caption: str, key: str) -> None:
    """Draws rows of figures under the names of their columns; a dot marks the better ones."""
    _table(
        key=key,
        data={
            "caption": caption,
            "columns": list(columns),
            "rows": [[row.name, list(row.figures), list(row.better)] for row in rows],
            "meanings": [row.meaning for row in rows],
        },
    )
