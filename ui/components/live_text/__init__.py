"""Draw a text area that sends the typed text after a short pause, without a key to press."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

MOST_EDITED = 500_000
"""The most characters that can be edited; with more, each key press takes a browser seconds."""
_EXCERPT = 2_000

_live_text = component(
    "bpe.live_text",
    css=component_css(_HERE, "live_text"),
    js=join_modules(_HERE / "live_text.js"),
)


def live_text(
    text: str, *, label: str, key: str, on_typed: Callable[[], None], lines: int = 4
) -> None:
    """Draw a text area that holds `text`; the label is for screen readers only.

    The area is `lines` high until the visitor resizes it. After a change, `on_typed` is called
    before the page reruns; the component's value then holds the new text as `typed`, and the page
    passes it back as `text`. A text longer than MOST_EDITED cannot be edited, and only its
    beginning is shown.
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
