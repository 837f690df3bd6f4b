"""Draw a text next to what a normalizer made of it, with the changes marked in both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent
_draw = component(
    "bpe.normalized_text",
    html="<div class='normalized'></div>",
    css=component_css(_HERE, "normalized_text"),
    js=join_modules(_HERE / "normalized_text.js"),
)


def normalized_text(pieces: Sequence[tuple[str, str]], *, sentence: str, key: str) -> None:
    """Draw pieces of a text, each with its normalised form; `sentence` says what is shown."""
    _draw(key=key, data={"pieces": list(pieces), "sentence": sentence})
