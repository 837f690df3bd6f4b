"""The three doors that lead from the start page to the others."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import streamlit as st

from ui.components.start_loop import Door

GPT2: Final = "token_boundaries"
DOORS: Final = (
    Door(
        "Train on a whole text",
        "A story, your notes, 100 MB: a tokenizer in seconds, every merge to watch.",
        "train",
    ),
    Door(
        "What does GPT-2 do to it?",
        "The same sentence as GPT-2 cuts it, with 50,000 merges.",
        GPT2,
    ),
    Door("Learn step by step", "Six short lessons that ask before they tell.", "lessons"),
)


def style_page() -> None:
    """Set the sizes of the page's parts."""
    st.html(Path(__file__).with_suffix(".css"))
