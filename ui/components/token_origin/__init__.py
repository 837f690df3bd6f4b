"""Where a token comes from: the training words and lines that hold it. It hears what is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

_origin = component(
    "bpe.token_origin",
    css=component_css(_HERE, "token_origin"),
    js=join_modules(_HERE / "token_origin.js"),
)


@dataclass(frozen=True, slots=True)
class OriginWord:
    """A training word in pieces, each with whether it is the token."""

    pieces: tuple[tuple[str | list[int], bool], ...]
    count: int
    is_kept: bool
    """Whether the token is still one of its own in it, after the last merge."""


@dataclass(frozen=True, slots=True)
class OriginLine:
    """A training line in pieces, each with whether it holds the token."""

    place: str
    pieces: tuple[tuple[str, bool], ...]
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class TokenOriginData:
    """All that is told of a token's origin."""

    sentence: str
    words: tuple[OriginWord, ...]
    lines: tuple[OriginLine, ...]
    note: str
    """Why there are no lines, or not all."""


def token_origin(
    found: TokenOriginData, *, token_id: int, key: str, on_chosen: Callable[[], None]
) -> None:
    """Draws a token's origin, in the colour of its id; -1 for none.

    `on_chosen` is called when a token was chosen in a token view on the page: the component's value
    `chosen` is then `{"stamp": ..., "index": ...}`, as that view was given its stamp.
    """
    _origin(
        key=key,
        data={
            "id": token_id,
            "sentence": found.sentence,
            "note": found.note,
            "words": [
                {"pieces": word.pieces, "count": word.count, "kept": word.is_kept}
                for word in found.words
            ],
            "lines": [
                {
                    "place": line.place,
                    "pieces": line.pieces,
                    "before": line.cut_before,
                    "after": line.cut_after,
                }
                for line in found.lines
            ],
        },
        on_chosen_change=on_chosen,
    )
