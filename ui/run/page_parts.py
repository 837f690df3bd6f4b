"""Draw what parts of pages share: titles, figures with units, and downloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ui.components.chart_pictures import ChartPicture, chart_pictures


def draw_title(title: str, what: str, *, help: str | None = None) -> None:
    """Draw a picture's title, and a line on what it shows; `help` is a tooltip."""
    st.markdown(f"**{title}**  \n:small[:gray[{what}]]", help=help)


def draw_figure(
    label: str, value: str, unit: str, *, width: int = 100, help: str | None = None
) -> None:
    """Draw a number under its name and over its unit; `help` is a tooltip of the name."""
    with st.container(gap=None, width=width):
        st.metric(label, value, help=help, width="stretch")
        st.markdown(f":small[:gray[{unit}]]")


def offer_csv(
    table: Callable[[], str | bytes],
    file_name: str,
    *,
    key: str,
    label: str = "CSV",
    help: str | None = None,
    disabled: bool = False,
) -> None:
    """Draw a button that downloads a table, made on click; `help` says what the table contains."""
    st.download_button(
        label,
        table,
        file_name=file_name,
        mime="text/csv",
        on_click="ignore",
        key=key,
        help=help,
        disabled=disabled,
    )


def offer_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Draw buttons that download charts as PNG."""
    with st.container(width="content", key=f"{key}_pictures"):
        chart_pictures(pictures, key=key)
