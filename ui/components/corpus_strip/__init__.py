"""Draw the figures of a corpus, such as its documents and bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent
_draw = component(
    "bpe.corpus_strip",
    html="<div class='corpus'></div>",
    css=component_css(_HERE, "corpus_strip"),
    js=join_modules(_HERE / "corpus_strip.js"),
)


def corpus_strip(
    *, key: str, figures: Sequence[tuple[str, str, Sequence[tuple[str, str]]]]
) -> None:
    """Draw figures: each a number, what it counts, and terms to explain with definitions."""
    _draw(
        key=key,
        data={
            "figures": [
                {"value": value, "name": name, "terms": list(terms)}
                for value, name, terms in figures
            ]
        },
    )
