"""Draw words as rows of tiles: symbols white, tokens coloured, rings around marked tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from bpe_core.types import Pair
from bpe_core.views import token_for_browser
from ui.components.shared import make_component

_draw = make_component(__file__, "symbol_rows")

Ring = Literal["chosen", "differs", ""]


@dataclass(frozen=True, slots=True)
class Tile:
    """A token and the id that sets its colour; without an id it is a symbol, drawn white."""

    token: bytes
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Tiles:
    """Tiles side by side; each ring surrounds a half-open range of them."""

    tiles: tuple[Tile, ...]
    rings: tuple[tuple[int, int], ...] = ()
    ring: Ring = "chosen"


@dataclass(frozen=True, slots=True)
class SymbolRow:
    """A row: its label, its cells of tiles, and a note after them."""

    label: str
    cells: tuple[Tiles, ...]
    note: str = ""


def find_pair(symbols: Sequence[int], pair: Pair) -> tuple[tuple[int, int], ...]:
    """Return the half-open ranges of symbols where a pair is merged, from left to right.

    >>> find_pair([7, 7, 7, 1, 7, 7], (7, 7))
    ((0, 2), (4, 6))
    """
    places: list[tuple[int, int]] = []
    at = 0
    while at + 1 < len(symbols):
        if (symbols[at], symbols[at + 1]) == pair:
            places.append((at, at + 2))
            at += 1
        at += 1
    return tuple(places)


def draw_symbol_rows(
    rows: Sequence[SymbolRow], *, key: str, caption: str, columns: Sequence[str] = ()
) -> None:
    """Draw rows of tiles under the names of their columns; the caption is for screen readers."""
    _draw(
        key=key,
        data={
            "caption": caption,
            "columns": list(columns),
            "rows": [
                {
                    "label": row.label,
                    "note": row.note,
                    "cells": [
                        {
                            "tokens": [token_for_browser(tile.token) for tile in cell.tiles],
                            "ids": [-1 if tile.id is None else tile.id for tile in cell.tiles],
                            "rings": [list(ring) for ring in cell.rings],
                            "ring": cell.ring,
                        }
                        for cell in row.cells
                    ],
                }
                for row in rows
            ],
        },
    )
