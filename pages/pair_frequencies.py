"""Pair frequencies: the counts by which BPE chooses, and the value of a larger vocabulary."""

import streamlit as st

from ui.host.error_boundary import fragment
from ui.look.glossary import tooltip
from ui.pair_frequencies.life import draw_life, shown_pair
from ui.pair_frequencies.sample_part import draw_sample_check
from ui.pair_frequencies.size import draw_vocabulary_size
from ui.pair_frequencies.step import choose_step, draw_pictures, draw_whole_run
from ui.run import results
from ui.shell import address, frame
from ui.shell.form_fields import choose_part
from ui.storage.run_store import StoredRun


@fragment()
def draw_merge(stored: StoredRun) -> None:
    step = choose_step(stored)
    picture = results.pair_picture(stored.id, step)
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
    is_cut = address.query_int("merges", -1, 2**31) >= 0
    if choose_part(["Pairs", "How large?"], "How large?" if is_cut else None) == "Pairs":
        draw_merge(stored)
    else:
        draw_vocabulary_size(stored)
        if stored.run.merges:
            st.divider()
            draw_sample_check(stored)


frame.show_page(
    draw,
    "Pair frequencies",
    "BPE is counting. These are the counts, and what each merge saves.",
    help=tooltip("Merge"),
)
