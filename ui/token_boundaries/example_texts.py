"""Offer texts that tokenizers split in telling ways."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import streamlit as st

from ui.corpus.own_text_field import set_own_text

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
