"""A text area that hands over what was typed after a short pause, without a key to press."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

MOST_EDITED = 500_000
"""Characters: a field of more takes a browser seconds to lay out, at each letter that is typed."""
_EXCERPT = 2_000

_live_text = component(
    "bpe.live_text",
    css=component_css(_HERE, "live_text"),
    js=join_modules(_HERE / "live_text.js"),
)


def live_text(
    text: str, *, label: str, key: str, on_typed: Callable[[], None], lines: int = 4
) -> None:
    """Draws the text area with `text` in it; screen readers say the label, nobody else sees it.

    It is so many lines high, until it is dragged larger.

    `on_typed` is called before the page runs again; what was typed is `typed` of the component's
    value then, and the page hands it back as `text`. Of a text of more than MOST_EDITED characters
    the beginning is shown, and can't be edited.
    """
    whole = len(text) <= MOST_EDITED
    note = (
        ""
        if whole
        else f"The text has {len(text):,} characters, too many to edit here. "
        f"These are the first {_EXCERPT:,}."
    )
    data = {
        "text": text if whole else text[:_EXCERPT],
        "label": label,
        "lines": lines,
        "excerpt_note": note,
    }
    _live_text(key=key, data=data, on_typed_change=on_typed)
