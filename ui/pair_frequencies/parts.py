"""What the parts of the page share: titles over pictures, figures with their units, and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ui.components.chart_pictures import ChartPicture, chart_pictures


def draw_title(title: str, what: str) -> None:
    """Names a picture, and says in a line what it shows."""
    st.markdown(f"**{title}**  \n:small[:gray[{what}]]")


def draw_figure(label: str, value: str, unit: str, *, width: int = 100) -> None:
    """A number under its name and over its unit."""
    with st.container(gap=None, width=width):
        st.metric(label, value, width="stretch")
        st.markdown(f":small[:gray[{unit}]]")


def offer_csv(table: Callable[[], str], file_name: str, *, key: str) -> None:
    """A button that gives a table; it is made when somebody asks for it."""
    st.download_button(
        "CSV", table, file_name=file_name, mime="text/csv", on_click="ignore", key=key
    )


def say_of_csv(what: str) -> None:
    """Say below a button what is in the table that it gives."""
    st.markdown(f":small[:gray[{what}]]")


def offer_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Buttons that give charts as PNG."""
    with st.container(width="content", key=f"{key}_pictures"):
        chart_pictures(pictures, key=key)
