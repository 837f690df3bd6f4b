"""Choose how many of the new tokens to keep, and draw what they gain, on which text and by kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.adapting.gains import KindGain, gain_by_kind
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
from ui.components.figures import FigureRow, figure_table
from ui.corpus.own_text_field import own_text, text_field
from ui.look.labels import share_text
from ui.shell import address, workspace
from ui.storage.run_store import StoredRun

_OWN_TEXT: Final = "Your text"
_FIRST_TEXT: Final = "Write or paste a text here that is outside your domain."


def choose_general(
    usual: str, on_sample: Callable[[str], Gain], on_text: Callable[[Corpus], Gain], *, key: str
) -> Gain:
    """Draw the choice, which begins with the sample `usual`; return what is gained on it."""
    titles = {**general_titles(), _OWN_TEXT: _OWN_TEXT}
    picked = st.selectbox(
        "General text",
        [usual, *(id for id in titles if id != usual)],
        format_func=titles.__getitem__,
        key=f"{key}_general_{usual}",
        help="A text outside your domain: what the base already does well should not get worse.",
    )
    if picked != _OWN_TEXT:
        return on_sample(picked)
    text = own_text(_FIRST_TEXT)
    text_field(text, first=_FIRST_TEXT, key=f"{key}_text")
    return on_text(Corpus.from_text(text)) if text else on_sample(usual)


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
            cut.domain,
            cut.general,
            kept,
            base=base_name(stored),
            title=stored.title,
            entries=steps_to_draw(n),
        )
    return cut


def draw_costs(stored: StoredRun, cut: Cut) -> None:
    """Draw what the cut costs and saves, next to the base and the whole run."""
    n = len(stored.run.merges)
    steps = (0, cut.kept, n)
    draw_gain_costs(
        [base_name(stored), f"With {cut.kept:,} more", f"With all {n:,}"],
        cut.domain,
        cut.general,
        steps,
        [rows_of_cut(stored.run, step) for step in steps],
    )


def _choose_general(stored: StoredRun) -> Gain:
    return choose_general(
        usual_general(stored.title),
        lambda sample_id: general_gain(stored.id, sample_id),
        lambda corpus: own_gain(stored.id, corpus.sha256, corpus),
        key="adapt",
    )


def draw_kinds(stored: StoredRun, cut: Cut) -> None:
    """Draw the kinds of the new tokens of a cut run; nothing without any."""
    if cut.kept:
        gains = gain_by_kind(stored.run, cut.domain.tokens, cut.kept)
        draw_kind_gains(gains, cut.domain.title)


def draw_kind_gains(
    gains: Sequence[KindGain], where: str, removed: tuple[int, int] | None = None
) -> None:
    """Draw a table of the kinds of new tokens, with what each saves on a text.

    `removed` are the number of removed tokens and how many tokens that costs.
    """
    total = sum(gain.saved for gain in gains)
    rows = [
        FigureRow(
            gain.kind[0].upper() + gain.kind[1:],
            (
                f"{gain.n_tokens:,}",
                f"{gain.saved:,}",
                share_text(gain.saved, total) if total else "–",
            ),
        )
        for gain in gains
    ]
    if removed is not None:
        n, more = removed
        rows.append(FigureRow("Removed tokens", (f"−{n:,}", f"{-more:,}".replace("-", "−"), "–")))
    st.subheader("What is gained, by kind", anchor=False)
    figure_table(
        ["New tokens", "Tokens saved", "Share"],
        rows,
        caption=f"Tokens saved on {where}, by the kind of the new tokens",
        key="adapt_kinds",
    )
    st.markdown(
        f":small[:gray[On {where}. A new token with a letter counts as a word, whatever else it "
        "holds.]]"
    )
