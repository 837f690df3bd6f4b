"""Help to choose how many tokens are worth adding: one run, cut at any number of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.corpus.corpus import Corpus
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
from ui.adapt.general_texts import general_titles
from ui.adapt.result import base_name
from ui.own_text.field import own_text, text_field
from ui.shell import address, workspace
from ui.storage.run_store import StoredRun

_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is not of your domain."


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
            "below follow.]]"
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
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    usual = usual_general(stored.title)
    ids = [usual, *(id for id in titles if id != usual)]
    picked = st.selectbox(
        "General text",
        ids,
        format_func=titles.__getitem__,
        key=f"adapt_general_{usual}",
        help="A text that is not of your domain: what the base already does well should stay so.",
    )
    if picked != _OWN_TEXT:
        return general_gain(stored.id, picked)
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key="adapt_text")
    if not text:
        return general_gain(stored.id, usual)
    corpus = Corpus.from_text(text)
    return own_gain(stored.id, corpus.sha256, corpus)
