"""Start: what a token is, on the visitor's own sentence, and three ways on."""

import streamlit as st

from ui.components.start_loop import start_loop
from ui.corpus.own_text_field import set_own_text
from ui.shell import address, frame
from ui.start.doors import DOORS, GPT2, style_page

SENTENCE = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"

with st.container(key="start_page"):
    frame.plain_page_frame(
        "A language model reads tokens, not words",
        "Tokens are pieces of text, learned by one rule: join the two neighbours that occur "
        "together most often, and repeat.",
        page="Start",
    )
    # This address belongs to no run: the browser's Back can leave one in it.
    address.set_query(run=None, job=None)
    style_page()
    opened = start_loop(SENTENCE, DOORS, key="start_loop")

if opened is not None:
    if opened.path == GPT2:
        set_own_text(opened.sentence)
    st.switch_page(
        f"pages/{opened.path}.py",
        query_params={"tokenizer": "GPT-2"} if opened.path == GPT2 else None,
    )
