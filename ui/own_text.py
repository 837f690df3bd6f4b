"""A visitor's own text: typed on two pages, kept in the workspace, and in the address if short."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui import frame, workspace
from ui.components.live_text import live_text

LONGEST_TEXT_IN_ADDRESS = 1_000
TOO_LONG = "Too long for the address: a refresh brings the sample text back."


def own_text(first: str) -> str:
    """What the visitor last typed or opened; else the address's text; else `first`."""
    text = workspace.current().text
    if text is None:
        text = frame.query_text("text", LONGEST_TEXT_IN_ADDRESS)
        if text is not None:
            workspace.update(text=text)
    return first if text is None else text


def set_own_text(text: str) -> None:
    """Makes a text the visitor's own; what was said of a file opened before is over with it."""
    workspace.update(text=text, opened_notes=(), opened_problem="")


def text_field(text: str, *, first: str, key: str) -> None:
    """Draws the field that holds the text, and puts the text in the address."""
    live_text(text, label="Your text", key=key, on_typed=partial(_keep_typed, key))
    if len(text) > LONGEST_TEXT_IN_ADDRESS:
        st.markdown(f":gray[{TOO_LONG}]")
    in_address = text != first and len(text) <= LONGEST_TEXT_IN_ADDRESS
    frame.set_query(text=text if in_address else None)


def _keep_typed(key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        set_own_text(typed)
