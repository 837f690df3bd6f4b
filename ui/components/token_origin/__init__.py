"""Draw where a token comes from: the training words and lines that contain it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ui.components.shared import make_component

_origin = make_component(__file__, "token_origin")


@dataclass(frozen=True, slots=True)
class OriginWord:
    """A training word in pieces, each marked if it is the token."""

    pieces: tuple[tuple[str | list[int], bool], ...]
    count: int
    is_kept: bool
    """Whether it is still a token in the word after the last merge."""


@dataclass(frozen=True, slots=True)
class OriginLine:
    """A training line in pieces, each marked if it contains the token."""

    place: str
    pieces: tuple[tuple[str, bool], ...]
    cut_before: bool
    cut_after: bool


@dataclass(frozen=True, slots=True)
class TokenOriginData:
    """The words and lines that contain a token, with a sentence about them."""

    sentence: str
    words: tuple[OriginWord, ...]
    lines: tuple[OriginLine, ...]
    note: str
    """Why there are no lines, or only some."""


def draw_token_origin(
    found: TokenOriginData, *, token_id: int, key: str, on_chosen: Callable[[], None]
) -> None:
    """Draw a token's origin in the colour of its id; -1 for no token.

    `on_chosen` is called when a token is chosen in a token view on the page. The component's value
    `chosen` is then `{"stamp": ..., "index": ...}`, with the stamp of that view.
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
