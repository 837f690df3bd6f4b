"""The merge loop of the start page: a visitor's sentence, learned in the browser as they type."""

from __future__ import annotations

from typing import Final

from ui.components.shared import make_component

MAX_SENTENCE_LENGTH: Final = 300
"""The most characters that are learned from: of a longer text, only the first ones."""

_loop = make_component(
    __file__,
    "start_loop",
    styles=("../merge_player/controls", "../merge_player/words", "start_loop"),
)


def start_loop(sentence: str, *, key: str) -> None:
    """Draw the loop with a sentence to begin with, unless the address has one (`?sentence=`).

    Returns nothing: what is typed is learned from and drawn in the browser only.
    """
    _loop(
        key=key,
        data={"sentence": sentence, "longest": MAX_SENTENCE_LENGTH},
        width="stretch",
        height="content",
    )
