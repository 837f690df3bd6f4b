"""Draw terms under several tokenizers: the number of tokens and the cut of each, in colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bpe_core.views import token_for_browser
from ui.components.shared import make_component
from ui.look import plain_text

MAX_TILES = 40
"""The most tokens drawn of one term; the rest are only counted."""
_draw = make_component(__file__, "term_table")


@dataclass(frozen=True, slots=True)
class TermCell:
    """A term under one tokenizer."""

    count: str
    """How many tokens, or why there is no number."""
    tokens: tuple[tuple[bytes, int | None], ...]
    """Each token with its id; without one it is text in no token, drawn white."""
    is_best: bool = False


@dataclass(frozen=True, slots=True)
class TermRow:
    """A term, its loss as shown, and a cell for each tokenizer."""

    term: str
    loss: str
    cells: tuple[TermCell, ...]


def draw_term_table(
    columns: Sequence[str],
    rows: Sequence[TermRow],
    *,
    caption: str,
    loss_of: str,
    key: str,
    term_of: str = "Term",
) -> None:
    """Draw the first rows, and a button for more; the caption is for screen readers.

    `loss_of` heads the column of losses, and `term_of` that of the terms.
    """
    _draw(
        key=key,
        data={
            "caption": caption,
            "columns": list(columns),
            "term": term_of,
            "loss": loss_of,
            "rows": [
                [plain_text(row.term, 400), row.loss, [_cell(cell) for cell in row.cells]]
                for row in rows
            ],
        },
    )


def _cell(cell: TermCell) -> list[object]:
    """Return a cell as the browser takes it: count, mark, tokens, ids, tokens not drawn."""
    drawn = cell.tokens[:MAX_TILES]
    return [
        cell.count,
        cell.is_best,
        [token_for_browser(token) for token, _ in drawn],
        [-1 if id_ is None else id_ for _, id_ in drawn],
        len(cell.tokens) - len(drawn),
    ]
