"""Draw the parts of a lesson: the code that ran, pairs with their counts, a checked claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui.components.shared import make_component
from ui.components.symbol_rows import Tile
from ui.look.labels import token_for_browser

_code = make_component(__file__, "lesson_code", "code")
_bars = make_component(__file__, "pair_bars")
_claim = make_component(__file__, "claim")

Piece = tuple[str, str]
"""A piece of source code and its kind: keyword, name, text, comment, or nothing."""


@dataclass(frozen=True, slots=True)
class ShownCode:
    """A function's name, its file, and its source."""

    name: str
    path: str
    lines: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A pair as two tiles, its count, and a mark: "next", "tie" or empty."""

    left: Tile
    right: Tile
    count: int
    mark: str = ""


def lesson_code(
    pieces: Sequence[ShownCode], *, call: str, printed: str, note: str, key: str
) -> None:
    """Draw the source of functions, the call that was made, and its result."""
    _code(
        key=key,
        data={
            "pieces": [
                {"name": piece.name, "path": piece.path, "lines": piece.lines} for piece in pieces
            ],
            "call": call,
            "printed": printed,
            "note": note,
        },
    )


def pair_bars(bars: Sequence[Bar], *, caption: str, key: str) -> None:
    """Draw pairs with their counts, most frequent first; the caption is for screen readers."""
    _bars(
        key=key,
        data={
            "caption": caption,
            "bars": [
                {
                    "tokens": [token_for_browser(tile.token) for tile in (bar.left, bar.right)],
                    "ids": [-1 if tile.id is None else tile.id for tile in (bar.left, bar.right)],
                    "count": bar.count,
                    "mark": bar.mark,
                }
                for bar in bars
            ],
        },
    )


def claim(
    source: str, stated: str, found: str, *, how: str, agrees: bool, on_its_own: bool, key: str
) -> None:
    """Draw a claim of a source next to the result computed here, and how it was computed."""
    where = ", on its own words" if on_its_own else ""
    mark = "✓ " if agrees else ""
    _claim(
        key=key,
        data={
            "source": source,
            "stated": stated,
            "label": f"{mark}Computed here{where}",
            "found": found,
            "how": how,
            "agrees": agrees,
        },
    )
