"""Draw the pre-tokens of a short text, each in a box."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent
_draw = component(
    "bpe.pretoken_strip",
    html="<div class='strip' role='list'></div>",
    css=component_css(_HERE, "pretoken_strip"),
    js=join_modules(_HERE / "pretoken_strip.js"),
)


def pretoken_strip(*, key: str, pretokens: Sequence[str]) -> None:
    """Draw pre-tokens in a row; no merge crosses the gaps between them."""
    _draw(key=key, data={"pretokens": list(pretokens)})
