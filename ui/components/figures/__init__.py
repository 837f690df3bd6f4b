"""Draw a page's leading sentence and tables of figures, as plain text in the page's style."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui.components.shared import make_component

_verdict = make_component(__file__, "verdict")
_table = make_component(__file__, "figure_table")


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One row of a table: its name, its formatted figures, and which of them are best."""

    name: str
    figures: tuple[str, ...]
    better: tuple[int, ...] = ()
    """Indices of the figures marked with a dot: the best one, or all shown as equally good."""
    meaning: str = ""
    """An explanation of the row that opens under its name."""


def verdict(
    sentence: Sequence[tuple[str, bool]],
    aside: str,
    *,
    key: str,
    terms: Sequence[tuple[str, str]] = (),
) -> None:
    """Draw a sentence from (text, is bold) pieces, with an aside under it.

    `terms` and their definitions are shown in a tooltip at the end of the sentence.
    """
    _verdict(
        key=key,
        data={
            "sentence": [list(piece) for piece in sentence],
            "aside": aside,
            "terms": list(terms),
        },
    )


def figure_table(
    columns: Sequence[str], rows: Sequence[FigureRow], *, caption: str, key: str
) -> None:
    """Draw rows of figures under column names; a dot marks the best of a row."""
    _table(
        key=key,
        data={
            "caption": caption,
            "columns": list(columns),
            "rows": [[row.name, list(row.figures), list(row.better)] for row in rows],
            "meanings": [row.meaning for row in rows],
        },
    )
