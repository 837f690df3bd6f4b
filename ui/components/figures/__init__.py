"""Draw a page's leading sentence and tables of figures, as plain text in the page's style."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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


Figure = tuple[float, str]
"""A figure, and how it is shown."""


def format_figures(values: Iterable[float], shape: str) -> list[Figure | None]:
    """Return figures as a format string shows them; None for nan.

    >>> format_figures([0.5, float("nan")], "{:.1%}")
    [(0.5, '50.0%'), None]
    """
    return [None if math.isnan(value) else (value, shape.format(value)) for value in values]


def figure_row(
    name: str, figures: Sequence[Figure | None], direction: int = 0, meaning: str = ""
) -> FigureRow:
    """Return a row; with a direction, the greatest (1) or the least (-1) figure is marked.

    >>> figure_row("Tokens", [(9, "9"), (7, "7"), None], -1)
    FigureRow(name='Tokens', figures=('9', '7', '–'), better=(1,), meaning='')
    """
    shown = tuple("–" if figure is None else figure[1] for figure in figures)
    known = [(found[0] * direction, place) for place, found in enumerate(figures) if found]
    best = ()
    if direction and len(known) > 1:
        _, place = max(known)
        # Where the figures read the same, a dot at one of them would look like a mistake.
        best = (place,) if shown.count(shown[place]) == 1 else ()
    return FigureRow(name, shown, best, meaning)


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
