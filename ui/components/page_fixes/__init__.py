"""Correct what Streamlit's page does with presses, fields, the menu and the browser's history."""

from __future__ import annotations

from ui.components.shared import make_component

_fixes = make_component(__file__, "page_fixes")


def page_fixes(*, menu: str, key: str) -> None:
    """Install the fixes invisibly, once per page that the browser loads.

    - Text is sent soon after it was typed or pasted, not only when its field loses the focus.
    - A press counts even if the page moves below it.
    - The browser's Back goes to the page before, not to the choice before.
    - In a narrow window the navigation closes after a choice, and the button that opens it is named
      `menu`, as it shows: visitors who operate a page by voice say the word that they see.
    - A press on the help of a switch does not press the switch.
    """
    _fixes(key=key, data={"menu": menu})
