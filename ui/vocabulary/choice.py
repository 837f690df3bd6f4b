"""Choose the tokenizer to inspect, and the text in which to count the uses of its tokens."""

from __future__ import annotations

from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import load_sample, samples
from bpe_core.tokenizer.protocol import Encoder
from ui.corpus.own_text_field import own_text, text_field
from ui.look.glossary import tooltip
from ui.storage.run_store import StoredRun
from ui.tokenizers import shelf
from ui.tokenizers.additions import add_button
from ui.tokenizers.choice import choose_tokenizer, draw_shelf_problems
from ui.vocabulary.inspection import CountedText, held_out_text, training_text

TRAINING: Final = "Training text"
HELD_OUT: Final = "Held-out text"
OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here to see which tokens it uses."
_SAMPLES: Final = ("python-reference", "python-library", "multilingual")


def choose_tokenizer_and_text(stored: StoredRun) -> tuple[str, Encoder, CountedText]:
    """Draw the choice of tokenizer and text; return the tokenizer's name, and both."""
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium", key="vocabulary_choice"
    ):
        chosen = choose_tokenizer(stored, key="vocabulary_of")
        add_button(stored)
        # In one container, so that a line break never separates the label from its field.
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            counted = _choose_text(stored, is_own=chosen.key == shelf.OWN)
    draw_shelf_problems()
    return chosen.name, chosen.encoder, counted


def _choose_text(stored: StoredRun, *, is_own: bool) -> CountedText:
    titles = {sample.title: sample.id for sample in samples() if sample.id in _SAMPLES}
    held_out = held_out_text(stored)
    options = [*([TRAINING] if is_own else []), *([HELD_OUT] if held_out else [])]
    st.markdown(
        "Count uses in", width="content", help=tooltip("Held-out text") if held_out else None
    )
    picked = st.selectbox(
        "Count uses in",
        options=[*options, *titles, OWN_TEXT],
        label_visibility="collapsed",
        # A separate key for each list of options: Streamlit drops a value missing from the list.
        key="uses_on" if is_own else "uses_of_other_on",
        bind="query-params",
        width=260,
    )
    if picked == TRAINING:
        return training_text(stored)
    if picked == HELD_OUT and held_out is not None:
        return held_out
    if picked in titles:
        id = titles[picked]
        return CountedText(f"sample:{id}", f"“{picked}”", corpus=load_sample(id))
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key="vocabulary_text")
    corpus = Corpus.from_text(text) if text else None
    return CountedText(f"own:{corpus.sha256 if corpus else ''}", "your text", corpus=corpus)
