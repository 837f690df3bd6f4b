"""Pair frequencies: the counts that BPE chooses by, and what a larger vocabulary buys."""

import streamlit as st

from ui import frame, results
from ui.error_boundary import fragment
from ui.pairs.life import draw_life, shown_pair
from ui.pairs.size import draw_vocabulary_size
from ui.pairs.step import choose_step, draw_pictures
from ui.pairs.whole_run import draw_whole_run
from ui.run_store import StoredRun


@fragment()
def draw_merge(stored: StoredRun) -> None:
    step = choose_step(stored)
    picture = results.pair_picture(stored.id, step)
    pair = shown_pair(stored, step)
    if picture.top:
        draw_pictures(stored, picture, pair)
    else:
        st.info("No pair is left: every pre-token is a single token.")
    if pair is not None:
        st.divider()
        draw_life(stored, step, pair)
    if stored.run.merges:
        st.divider()
        draw_whole_run(stored, step)


shown = frame.page_frame(
    "Pair frequencies", "BPE is counting. These are the counts, and what each merge buys."
)
if shown is not None:
    draw_vocabulary_size(shown)
    st.divider()
    draw_merge(shown)
