"""Start: what a token is, on the visitor's own sentence, and three ways on."""

import streamlit as st

from ui.components.start_loop import start_loop
from ui.shell import address, frame
from ui.start.doors import draw_doors, style_page

SENTENCE = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"

with st.container(key="start_page"):
    frame.plain_page_frame(
        "A language model reads tokens, not words",
        "Tokens are pieces of text, learned by one rule: join the two neighbours that occur "
        "together most often, and repeat. Watch it on a sentence, then train a tokenizer on your "
        "own text.",
        page="Start",
    )
    # This address belongs to no run: the browser's Back can leave one in it.
    address.set_query(run=None, job=None)
    style_page()
    start_loop(SENTENCE, key="start_loop")
    draw_doors()
