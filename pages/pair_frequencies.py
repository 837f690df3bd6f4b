"""Pair frequencies: the counts by which BPE chooses, and the value of a larger vocabulary."""

import streamlit as st

from ui.host import fragment
from ui.look import tooltip
from ui.pair_frequencies import (
    choose_step,
    draw_life,
    draw_pictures,
    draw_sample_check,
    draw_vocabulary_size,
    draw_whole_run,
    shown_pair,
)
from ui.run import run_figures
from ui.shell import choose_part, frame, workspace
from ui.storage import StoredRun


@fragment()
def draw_merge(stored: StoredRun) -> None:
    step = choose_step(stored)
    picture = run_figures.pair_picture(stored.id, step)
    pair = shown_pair(stored, step)
    if picture.top:
        draw_pictures(stored, picture, pair)
    else:
        st.info("No pairs left to merge: every pre-token is a single token.")
    if pair is not None:
        st.divider()
        draw_life(stored, step, pair)
    if stored.run.merges:
        st.divider()
        draw_whole_run(stored, step)


def draw(stored: StoredRun) -> None:
    names_pairs = workspace.has_query("step", "pair")
    if choose_part(["How large?", "Pairs"], "Pairs" if names_pairs else None) == "Pairs":
        draw_merge(stored)
    else:
        draw_vocabulary_size(stored)
        if stored.run.merges:
            st.divider()
            draw_sample_check(stored)


frame.show_page(
    draw,
    "Pair frequencies",
    "How many merges are enough? And which pairs did they join?",
    help=tooltip("Merge"),
)
