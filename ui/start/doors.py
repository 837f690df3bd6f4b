"""Draw the three doors that lead from the start page to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

import streamlit as st


class Door(NamedTuple):
    """A way on: its purpose, in a word and in a sentence or two, and the page behind it."""

    name: str
    text: str
    page: str
    link: str


DOORS: Final = (
    Door(
        "Learn",
        "Short lessons: do by hand what the machine does, next to the code that does it, and see "
        "where textbooks get it wrong.",
        "pages/lessons.py",
        "Open the first lesson",
    ),
    Door(
        "Train",
        "Turn your own text into a tokenizer in seconds. Watch every merge, then download it for "
        "the library you use.",
        "pages/train.py",
        "Bring a text",
    ),
    Door(
        "Compare",
        "Where does GPT-2 cut differently? How many tokens does each tokenizer spend on your "
        "language?",
        "pages/compare.py",
        "See them side by side",
    ),
)


def style_page() -> None:
    """Set the sizes of the page's parts."""
    st.html(Path(__file__).with_suffix(".css"))


def draw_doors() -> None:
    """Draw the doors side by side; in a narrow window, one below the other."""
    for column, door in zip(st.columns(len(DOORS), gap="medium"), DOORS, strict=True):
        with column, st.container(key=f"door_{door.name.lower()}", gap="small", height="stretch"):
            st.header(door.name, anchor=False)
            st.markdown(f":gray[{door.text}]")
            st.page_link(door.page, label=f"**{door.link} →**")
