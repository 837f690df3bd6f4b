"""Choose the text to measure on: a sample, or the visitor's own."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.corpus.samples import load_sample, samples
from ui.corpus.own_text_field import leave_address, own_text, text_field

OWN_TEXT = "Your text"
_SAMPLES = ("python-reference", "python-library", "multilingual")
FIRST_TEXT = "Write or paste a text here. Unbelievably, the longest match overwrites other tokens."


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """The text to measure on."""

    text: str
    name: str
    """As used in a sentence."""
    is_sample: bool

    @property
    def about(self) -> str:
        """Its name and length."""
        return f"{self.name}, {len(self.text.encode()):,} bytes"


def choose_text(max_characters: int) -> MeasuredText:
    """Draw the choice of text and return the text, cut to `max_characters` with a warning."""
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    chosen = st.selectbox(
        "Text",
        options=[*titles, OWN_TEXT],
        label_visibility="collapsed",
        key="lab_text",
        bind="query-params",
        width=280,
    )
    if chosen in titles:
        leave_address()
        sample = "\n".join(load_sample(titles[chosen]).documents)
        text = MeasuredText(sample, chosen, is_sample=True)
    else:
        own = own_text(FIRST_TEXT)
        text_field(own, first=FIRST_TEXT, key="lab_own_text")
        text = MeasuredText(own, "your text", is_sample=False)
    if len(text.text) <= max_characters:
        return text
    st.warning(f"Only the first {max_characters:,} characters are measured.")
    return MeasuredText(text.text[:max_characters], text.name, text.is_sample)
