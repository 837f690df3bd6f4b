"""Scroll to the end of a training: its result, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules

_HERE = Path(__file__).parent

_end_in_view = component("bpe.end_in_view", js=join_modules(_HERE / "end_in_view.js"))


def end_in_view(*, is_live: bool, within: str, key: str) -> None:
    """Scroll invisibly to a container if a training in it ends while its top is out of sight.

    The button that starts a training may be far below the place of its result. `within` is the
    key of the container, which this is drawn in.
    """
    _end_in_view(key=key, data={"is_live": is_live, "within": within})
