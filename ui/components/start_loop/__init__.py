"""The merge loop of the start page: a visitor's sentence, learned in the browser as they type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from ui.components.shared import make_component

MAX_SENTENCE_LENGTH: Final = 300
"""The most characters that are learned from: of a longer text, only the first ones."""

_loop = make_component(
    __file__,
    "start_loop",
    styles=(
        *(f"../merge_player/{name}" for name in ("controls", "words", "race")),
        "start_loop",
        "doors",
    ),
)


@dataclass(frozen=True, slots=True)
class Door:
    """A way on from the start page: its name, a sentence about it, and the path of its page."""

    name: str
    text: str
    path: str


@dataclass(frozen=True, slots=True)
class OpenedDoor:
    """The path behind a door that was pressed, and the visitor's sentence at that time."""

    path: str
    sentence: str
    sample: str
    """The id of a sample in the sentence's language, as the browser sent it."""


def draw_start_loop(sentence: str, doors: Sequence[Door], *, key: str) -> OpenedDoor | None:
    """Draw the loop with a sentence to begin with, unless the address has one (`?sentence=`).

    Return the door that was pressed, or None. Until then, what is typed is learned from and drawn
    in the browser only.
    """
    values = _loop(
        key=key,
        data={
            "sentence": sentence,
            "longest": MAX_SENTENCE_LENGTH,
            "doors": [asdict(door) for door in doors],
        },
        on_door_change=lambda: None,
        width="stretch",
        height="content",
    )
    return opened_door(values.get("door"), doors)


def opened_door(pressed: object, doors: Sequence[Door]) -> OpenedDoor | None:
    """Return the door that a browser says was pressed, if it is one of these."""
    paths = {one.path for one in doors}
    match pressed:
        case {"path": str(path), "sentence": str(typed), "sample": str(sample)} if path in paths:
            return OpenedDoor(path, whole_characters(typed), sample)
        case _:
            return None


def whole_characters(typed: str) -> str:
    """Return a sentence from a browser, which can send half a character: no encoder takes it."""
    return typed[:MAX_SENTENCE_LENGTH].encode("utf-8", "replace").decode("utf-8")
