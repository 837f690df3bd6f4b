"""Help to choose the vocabulary size: one run, cut at any number of merges."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bpe_core.runs.pair_statistics import gain_of_further
from ui.components.chart_pictures import ChartPicture
from ui.failures.error_boundary import fragment
from ui.look import charts
from ui.look.chart_style import CONFIG
from ui.look.glossary import explain
from ui.look.labels import file_stem
from ui.pair_frequencies.costs import draw_costs
from ui.pair_frequencies.other_text import OtherText, ask_for_other_text
from ui.run import results
from ui.run.page_parts import draw_figure, offer_pictures
from ui.shell import address, frame, workspace
from ui.storage.run_store import StoredRun

# Here most curves have bent but still rise, so both sides of the cut are worth seeing.
_FIRST_CUT_PERCENT = 40
_HELD_OUT = "Held-out text"


@fragment()
def draw_vocabulary_size(stored: StoredRun) -> None:
    """Draw bytes per token over merges, a slider that cuts the run, and what the cut costs."""
    curves = results.run_curves(stored.id)
    n_merges = len(stored.run.merges)
    other: OtherText | None = None
    key, usual = f"merges_kept_{stored.id}", n_merges * _FIRST_CUT_PERCENT // 100
    kept = workspace.start_widget(key, address.query_int("merges", usual, 0, n_merges))
    address.set_query(merges=kept if kept != usual else None)
    controls, picture = st.columns([2, 3], gap="large", vertical_alignment="center")
    with controls:
        st.header("How large should the vocabulary be?", anchor=False)
        st.markdown(":small[:gray[Cut this run after any merge, without training again.]]")
        size = curves.vocab_size[kept]
        st.markdown(f":small[Merges kept **{kept:,}** :gray[vocabulary {size:,}]]")
        if n_merges:
            st.slider(
                "Merges kept",
                0,
                n_merges,
                key=key,
                format="localized",
                label_visibility="collapsed",
            )
        figures = st.container()
        if n_merges:
            other = ask_for_other_text(stored)
        if other is not None:
            curves = replace(curves, held_out=other.bytes_per_token)
        with figures:
            _draw_cut(curves, kept, _held_out_words(stored, other))
    with picture:
        if not n_merges:
            st.info("This run learned no merge, so there is nothing to cut.")
            st.page_link("pages/train.py", label="Train with a larger vocabulary")
            return
        st.plotly_chart(
            charts.bytes_per_token_curves(
                curves.drawn,
                curves.training[curves.drawn],
                None if curves.held_out is None else curves.held_out[curves.drawn],
                held_out_name="held out" if other is None else "your text",
                marked=(kept, float(curves.training[kept])),
                theme=frame.theme_type(),
            ),
            key="bytes_per_token",
            theme=None,
            config=CONFIG,
            alt=f"Bytes per token over merges, from {curves.training[0]:.2f} without a merge "
            f"to {curves.training[-1]:.2f} after all {n_merges:,}.",
        )
        held_out = f", and {'held-out' if other is None else 'another'} text"
        held_out = "" if curves.held_out is None else held_out
        offer_pictures(
            [
                ChartPicture(
                    chart="bytes_per_token",
                    button="PNG",
                    title="Bytes per token over merges",
                    what=f"{stored.title}{held_out}; cut at {kept:,} merges",
                    file_name=f"{file_stem(stored.title)}-bytes-per-token.png",
                )
            ],
            key="size_pictures",
        )
    draw_costs(stored, curves.vocab_size, kept, other)


def _held_out_words(stored: StoredRun, other: OtherText | None) -> tuple[str, str, str]:
    """Return the second text's heading, its name in a sentence, and why it has no figure."""
    if other is not None:
        return "Your text", "your", "not measured"
    missing = "not measured" if stored.held_out.n_bytes else "nothing held out"
    return _HELD_OUT, "held-out", missing


def _draw_cut(curves: results.RunCurves, kept: int, words: tuple[str, str, str]) -> None:
    name, short, missing = words
    measured = curves.training if curves.held_out is None else curves.held_out
    further, gain = gain_of_further(measured, kept)
    with st.container(horizontal=True, horizontal_alignment="distribute"):
        draw_figure(
            "Training text",
            f"{curves.training[kept]:.2f}",
            "bytes per token",
            width=128,
            help=explain("Token"),
        )
        if curves.held_out is None:
            draw_figure(name, "–", missing)
        else:
            help = explain("Held-out text") if name == _HELD_OUT else None
            value = f"{curves.held_out[kept]:.2f}"
            draw_figure(name, value, "bytes per token", width=128, help=help)
        if further:
            where = "training" if curves.held_out is None else short
            draw_figure(
                f"Next {further:,} merge{'s' * (further > 1)}",
                f"{gain:+.2f}",
                f"on {where} text",
                width=124,
            )
        else:
            draw_figure("Further merges", "–", "this is the whole run", width=124)
