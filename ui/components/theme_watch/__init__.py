"""Runs the page again when the visitor switches the theme: charts are drawn for one of the two."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules

_HERE = Path(__file__).parent

_watch = component("bpe.theme_watch", js=join_modules(_HERE / "theme_watch.js"))


def theme_watch(drawn_for: Literal["light", "dark"], *, key: str) -> None:
    """Watches the theme from where nobody sees it, and compares it with that of this drawing.

    Streamlit's own parts follow a switch at once, and so do the other components; Plotly's charts
    hold the colours that Python gave them.
    """
    _watch(key=key, data={"drawn_for": drawn_for}, on_theme_change=lambda: None)
