"""Draw the parts of a lesson: questions, the code that ran, pairs with their counts, claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from bpe_core.views import token_for_browser
from ui.components.shared import make_component
from ui.components.symbol_rows import Tile

_code = make_component(__file__, "lesson_code", "code")
_bars = make_component(__file__, "pair_bars")
_claims = make_component(__file__, "claims")
_question = make_component(__file__, "question")
_full_screen = make_component(__file__, "full_screen")

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


@dataclass(frozen=True, slots=True)
class Claim:
    """What a source states, what was found by computing it here, and how."""

    stated: str
    found: str
    how: str = ""


def claims(found: Sequence[Claim], *, key: str) -> None:
    """Draw claims of a source, each next to the result computed here."""
    _claims(key=key, data={"claims": [asdict(each) for each in found]})


@dataclass(frozen=True, slots=True)
class Option:
    """An answer to choose: a text, or tokens, each with its id, or -1 for a symbol."""

    text: str = ""
    tiles: tuple[tuple[str | list[int], int], ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the answers to choose from, which of them are right, and why."""

    text: str
    options: tuple[Option, ...]
    right: tuple[int, ...]
    because: str


def question(
    asked: Question, *, answer: int | None, on_answer: Callable[[], None], key: str
) -> None:
    """Draw a question, whose answer is judged in the browser at the press.

    `answer` is the place of the option that was chosen, -1 if the answer was shown without a guess,
    or None. `on_answer` is called with the place in the component's value `answer`.
    """
    _question(
        key=key,
        data={
            "text": asked.text,
            "options": [
                {
                    "text": option.text,
                    "tokens": [token for token, _ in option.tiles],
                    "ids": [id for _, id in option.tiles],
                }
                for option in asked.options
            ],
            "right": list(asked.right),
            "because": asked.because,
            "answer": answer,
        },
        on_answer_change=on_answer,
    )


def full_screen(*, forward: str, back: str, scroller: str, key: str) -> None:
    """Draw a button that fills the screen with the page.

    In full screen, the arrow and page keys press what the selectors `forward` and `back` find; page
    keys scroll a step first that is longer than the screen. `scroller` finds what scrolls.
    """
    _full_screen(
        key=key,
        data={"forward": forward, "back": back, "scroller": scroller},
        width="content",
    )
