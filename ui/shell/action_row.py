"""Rows of a form: a heading next to a choice, and the button that starts a page's work."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def action_row() -> DeltaGenerator:
    """Return a row for the button, which stays in view at the end of the window.

    Give the form above its own container: if the row's place changed with the number of
    elements above it, Streamlit would draw another button, and a press during that would be lost.
    """
    return st.container(horizontal=True, vertical_alignment="center", key="action_row")


def heading_row(key: str) -> DeltaGenerator:
    """Return a row for a heading on the left and the choice that belongs to it on the right."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key=key
    )


def show_missing(what: str) -> None:
    """Say next to a button why a press on it does nothing."""
    st.markdown(f":orange[{what}]", width="content")
