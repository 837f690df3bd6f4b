"""The merge loop of the start page: a visitor's sentence, learned in the browser as they type."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from streamlit.components.v2 import component

from ui.components import merge_player
from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent
MAX_SENTENCE_LENGTH: Final = 300
"""The most characters that are learned from: of a longer text, only the first ones."""

_loop = component(
    "bpe.start_loop",
    html=(_HERE / "start_loop.html").read_text("utf-8"),
    css=component_css(Path(merge_player.__file__).parent, "controls", "words")
    + (_HERE / "start_loop.css").read_text("utf-8"),
    js=join_modules(_HERE / "start_loop.js"),
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
