"""Let a visitor choose the general text: one of the samples, or a text of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from ui.adapt.figures import Gain
from ui.adapt.general_texts import general_titles
from ui.corpus.own_text_field import own_text, text_field

_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is outside your domain."


def choose_general(
    usual: str, on_sample: Callable[[str], Gain], on_text: Callable[[Corpus], Gain], *, key: str
) -> Gain:
    """Draw the choice, which begins with the sample `usual`; return what is gained on it."""
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    picked = st.selectbox(
        "General text",
        [usual, *(id for id in titles if id != usual)],
        format_func=titles.__getitem__,
        key=f"{key}_general_{usual}",
        help="A text outside your domain: what the base already does well should not get worse.",
    )
    if picked != _OWN_TEXT:
        return on_sample(picked)
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key=f"{key}_text")
    return on_text(Corpus.from_text(text)) if text else on_sample(usual)
