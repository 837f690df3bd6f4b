"""Rerun the page when the visitor switches the theme, because charts are drawn for one theme."""

from __future__ import annotations

from typing import Literal

from ui.components.shared import make_component

_watch = make_component(__file__, "theme_watch")


def theme_watch(drawn_for: Literal["light", "dark"], *, key: str) -> None:
    """Watch the theme invisibly, and rerun the page once it differs from `drawn_for`.

    Streamlit's own widgets and the other components follow a switch by themselves; Plotly's charts
    keep the colours that Python set.
    """
    _watch(key=key, data={"drawn_for": drawn_for}, on_theme_change=lambda: None)
