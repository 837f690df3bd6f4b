"""Start: what a token is, on the visitor's own sentence, and three ways on."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

import streamlit as st

from ui.components import Door, draw_start_loop, draw_story, send_reading
from ui.corpus import set_own_text
from ui.host import fragment
from ui.shell import address, frame
from ui.tokenizers import read_as_model

SENTENCE = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"
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


@fragment()
def draw_scenes() -> None:
    wanted = draw_story(SENTENCE, key="story")
    if wanted is not None:
        send_reading(asdict(read_as_model(wanted)), key="story_reading")


with st.container(key="start_page"):
    frame.plain_page_frame(
        "A language model reads tokens, not words",
        "Tokens are pieces of text, learned by one rule: join the two neighbours that occur "
        "together most often, and repeat.",
        page="Start",
    )
    # This address belongs to no run: the browser's Back can leave one in it.
    address.set_query(run=None, job=None)
    st.html(Path(__file__).with_suffix(".css"))
    opened = draw_start_loop(SENTENCE, DOORS, key="start_loop")
    draw_scenes()

if opened is not None:
    if opened.path == GPT2:
        set_own_text(opened.sentence)
    st.switch_page(
        f"pages/{opened.path}.py",
        query_params={"tokenizer": "GPT-2"} if opened.path == GPT2 else None,
    )
