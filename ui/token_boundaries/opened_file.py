"""Offer example texts, and open a file as the visitor's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from bpe_core.corpus import Note
from ui.corpus import find_text, own_texts, set_own_text
from ui.look import plain_markdown
from ui.work import ReadingBar, read_beginning, show_reading_notes


def read_file(upload: UploadedFile) -> tuple[str, int, Sequence[Note]]:
    """Return what is read of a file, the number of characters that it has, and notes."""
    bar = ReadingBar(st.empty(), [upload])
    try:
        bar.announce()
        corpus, n_characters = read_beginning(
            [upload],
            own_texts.MAX_CHARACTERS,
            on_progress=bar.progress,
            on_wait=bar.wait,
        )
    finally:
        bar.close()
    return own_texts.joined(corpus), n_characters, corpus.file_notes


def file_messages() -> None:
    """Draw the error and the notes of the file opened last."""
    opened = find_text()
    if opened.problem:
        st.error(plain_markdown(opened.problem, 600))
    show_reading_notes(opened.notes)


FIRST_TEXT: Final = "Tokenizers read bytes, not words: unbelievably small pieces add up."
EXAMPLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Sentence": FIRST_TEXT,
        "Emoji": "A puzzle 🧩, a thumb 👍🏽 and a family 👨‍👩‍👧, each seen as one picture.",
        "Code": "def countdown(n):\n\twhile n > 0:\n\t\tyield n\n\t\tn -= 1\n",
        "Hebrew": "כל הילדים אוהבים ספרים, וגם מילים חדשות.",
        "Hindi": "सभी बच्चों को किताबें और नए शब्द पसंद हैं।",
        "Numbers": "1 10 100 1000 10000, 3.14159, 2,718,281 and 12/31/1999",
    }
)


def offer_examples() -> None:
    """Draw a button for each example, which makes it the visitor's own text."""
    with st.container(horizontal=True, gap="xsmall", width="content", key="example_texts"):
        for name, text in EXAMPLES.items():
            st.button(name, on_click=set_own_text, args=(text,), key=f"try_{name}")
