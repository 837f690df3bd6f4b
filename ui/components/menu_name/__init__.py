"""Give the button that opens the navigation in a narrow window the name that it shows."""

from __future__ import annotations

from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules

_HERE = Path(__file__).parent

_name = component("bpe.menu_name", js=join_modules(_HERE / "menu_name.js"))


def menu_name(name: str, *, key: str) -> None:
    """Name the button invisibly, now and whenever Streamlit draws another one.

    Streamlit calls it "Expand sidebar", which a style sheet cannot change; and visitors who operate
    a page by voice say the word that they see.
    """
    _name(key=key, data={"name": name})
