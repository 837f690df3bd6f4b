"""Help to choose how many tokens are worth adding: one run, cut at any number of them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.runs.pair_statistics import steps_to_draw
from ui.adapt.figures import (
    Gain,
    domain_gain,
    general_gain,
    own_gain,
    rows_of_cut,
    usual_general,
)
from ui.adapt.gain_parts import draw_gain_costs, draw_gain_curves, draw_gain_figures
from ui.adapt.general_choice import choose_general
from ui.adapt.result import base_name
from ui.shell import address, workspace
from ui.storage.run_store import StoredRun


@dataclass(frozen=True, slots=True)
class Cut:
    """A run cut at a number of new tokens, with its figures."""

    kept: int
    domain: Gain
    general: Gain


def choose_cut(stored: StoredRun) -> Cut:
    """Draw the slider, its figures and the curves; return the cut."""
    n = len(stored.run.merges)
    key = f"tokens_kept_{stored.id}"
    kept = workspace.start_widget(key, address.query_int("merges", n, 0, n))
    address.set_query(merges=kept if kept != n else None)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How many tokens are worth adding?", anchor=False)
        st.markdown(
            ":small[:gray[Cut this run after any token, without extending again. The downloads "
            "below follow the slider.]]"
        )
        st.markdown(
            f":small[Tokens added **{kept:,}** :gray[of {n:,}, "
            f"{stored.run.tokenizer.vocab_size - (n - kept):,} in all]]"
        )
        st.slider("Tokens added", 0, n, key=key, format="localized", label_visibility="collapsed")
        cut = Cut(kept, domain_gain(stored), _choose_general(stored))
        draw_gain_figures(cut.domain, cut.general, kept)
    with picture:
        draw_gain_curves(
            *(cut.domain, cut.general, kept),
            base=base_name(stored),
            title=stored.title,
            entries=steps_to_draw(n),
        )
    return cut


def draw_costs(stored: StoredRun, cut: Cut) -> None:
    """Draw what the cut costs and saves, beside the base and the whole run."""
    n = len(stored.run.merges)
    steps = (0, cut.kept, n)
    draw_gain_costs(
        [base_name(stored), f"With {cut.kept:,} more", f"With all {n:,}"],
        *(cut.domain, cut.general, steps),
        [rows_of_cut(stored.run, step) for step in steps],
    )


def _choose_general(stored: StoredRun) -> Gain:
    return choose_general(
        usual_general(stored.title),
        lambda sample_id: general_gain(stored.id, sample_id),
        lambda corpus: own_gain(stored.id, corpus.sha256, corpus),
        key="adapt",
    )
