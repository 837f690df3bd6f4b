"""Start: tokens of the visitor's sentence, and the scenes that carry it on to what a model sees."""

from dataclasses import asdict
from pathlib import Path
from typing import Final

import streamlit as st

from ui.components import Door, draw_start_loop, draw_story, send_reading
from ui.corpus import set_own_text
from ui.host import fragment
from ui.shell import frame, workspace
from ui.tokenizers import read_as_model

SENTENCE = "how much wood would a woodchuck chuck if a woodchuck could chuck wood"
TRAIN: Final = "train"
GPT2: Final = "token_boundaries"
DOORS: Final = (
    Door(
        "Train on a whole text",
        "A story, your notes: a tokenizer in seconds.",
        TRAIN,
    ),
    Door(
        "What does GPT-2 do to it?",
        "Your sentence, cut with 50,000 merges.",
        GPT2,
    ),
    Door("Lessons", "Short lessons that ask before they tell.", "lessons"),
)
LAST_DOORS: Final = (
    Door(
        "Train on a whole text",
        "Begin with one in your sentence’s language.",
        TRAIN,
    ),
    Door("Lessons", "They ask before they tell.", "lessons"),
    Door("Compare", "Which tokenizer needs the fewest tokens?", "compare"),
)


@fragment()
def draw_scenes() -> None:
    wanted, opened = draw_story(SENTENCE, LAST_DOORS, key="story")
    if wanted is not None:
        send_reading(asdict(read_as_model(wanted)), key="story_reading")
    if opened is not None and opened.path == TRAIN:
        # Train reads it like any address: a sample that it doesn't have is ignored.
        st.switch_page(f"pages/{TRAIN}.py", query_params={"sample": opened.sample})
    elif opened is not None:
        st.switch_page(f"pages/{opened.path}.py")


with st.container(key="start_page"):
    frame.plain_page_frame(
        "A language model reads tokens, not words",
        "A token is a piece of text with a number. One rule learns them all: join the two "
        "neighbours that occur together most often, and repeat.",
        page="Start",
    )
    # This address belongs to no run: the browser's Back can leave one in it.
    workspace.set_query(run=None, job=None)
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
