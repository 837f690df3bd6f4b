"""The text that the Lab measures on: a sample, or the visitor's own."""

from __future__ import annotations

import streamlit as st

from bpe_core.corpus.samples import load_sample, samples
from ui.own_text.field import leave_address, own_text, text_field

OWN_TEXT = "Your text"
_SAMPLES = ("python-reference", "python-library", "multilingual")
FIRST_TEXT = "Write or paste a text here. Unbelievably, the longest match overwrites other tokens."


def choose_text() -> tuple[str, str]:
    """Draws the choice of text; gives the text, and what to call it in a sentence."""
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
        return _sample_text(titles[chosen]), chosen
    text = own_text(FIRST_TEXT)
    text_field(text, first=FIRST_TEXT, key="lab_own_text")
    return text, "your text"


@st.cache_resource(max_entries=4, show_spinner=False)
def _sample_text(sample_id: str) -> str:
    return "\n".join(load_sample(sample_id).documents)
