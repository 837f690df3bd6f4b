"""Detective: infer what a tokenizer was trained on."""

import streamlit as st

from ui.detective import choose_samples, draw_limits, draw_mixture, infer
from ui.look import plain_markdown
from ui.shell import frame
from ui.storage import StoredRun
from ui.tokenizers import add_button, choose_tokenizer, draw_shelf_problems


def draw_detective(stored: StoredRun) -> None:
    with st.container(
        horizontal=True, vertical_alignment="center", gap="medium", key="detective_choice"
    ):
        chosen = choose_tokenizer(stored, key="detective_tokenizer")
        add_button(stored)
    draw_shelf_problems()
    draw_limits(chosen)
    samples = choose_samples()
    tokenizer = chosen.encoder.merged_by
    if tokenizer is None or not tokenizer.merges:
        st.info(
            f"The merges of {plain_markdown(chosen.name)} are not known here, and their order is "
            "what is read. Choose another tokenizer."
        )
    elif samples is not None:
        draw_mixture(chosen.name, samples, infer(tokenizer, samples))


frame.show_page(
    draw_detective,
    "Detective",
    "What a tokenizer was trained on: each merge joined the most frequent pair of that text, so "
    "their order betrays its kinds.",
)
