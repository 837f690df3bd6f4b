"""Adapt: extend, shrink or replace the vocabulary of an existing tokenizer."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from ui.adapt import draw_extending, draw_replacing, draw_shrinking
from ui.corpus import fill_corpus_once
from ui.look import tooltip
from ui.shell import choose_one, follow, followed_job, frame
from ui.storage import StoredRun
from ui.work import Training

EXTEND, SHRINK, REPLACE = "Extend", "Shrink", "Replace"
WHAT: Final = {
    EXTEND: "More tokens for your text. Those of the base keep their ids.",
    SHRINK: "Fewer tokens: those that your text uses least are removed.",
    REPLACE: "Some tokens exchanged for new ones: the vocabulary keeps its size.",
}


def draw(stored: StoredRun, job: Training | None) -> None:
    fill_corpus_once(stored)
    mode = choose_one("What to do", list(WHAT), key="adapt")
    st.markdown(f":gray[:small[{WHAT[mode]}]]")
    if mode == SHRINK:
        draw_shrinking(stored)
    elif mode == REPLACE:
        draw_replacing(stored)
    else:
        draw_extending(stored, job)


job = followed_job()
follow(job)
frame.show_page(
    partial(draw, job=job),
    "Adapt",
    "Fit an existing tokenizer to your text, and keep what the model knows.",
    help=tooltip("Token", "Merge"),
)
