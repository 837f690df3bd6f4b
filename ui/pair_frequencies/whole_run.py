"""Show the whole run: how often the winners occurred, and how short the corpus became."""

from __future__ import annotations

import streamlit as st

from ui.components.chart_pictures import ChartPicture
from ui.look import charts
from ui.look.chart_style import CONFIG
from ui.look.labels import file_stem
from ui.pair_frequencies.table import RUN_CSV_SAYS, run_csv
from ui.run import results
from ui.run.page_parts import draw_title, offer_csv, offer_pictures
from ui.shell import frame
from ui.storage.run_store import StoredRun


def draw_whole_run(stored: StoredRun, step: int) -> None:
    """Draw two curves over all merges, with `step` marked on them."""
    curves, theme = results.run_curves(stored.id), frame.theme_type()
    tokens, n_merges = stored.run.tokens_after, len(stored.run.merges)
    st.header("Over the whole run", anchor=False)
    winners, lengths = st.columns(2, gap="large")
    with winners:
        draw_title("The winning pair", "How often the pair occurs that each merge joins.")
        st.plotly_chart(
            charts.winner_counts_curve(
                curves.drawn_winners,
                curves.winner_counts[curves.drawn_winners],
                n_merges=n_merges,
                marked=(step, float(curves.winner_counts[step])) if step < n_merges else None,
                theme=theme,
            ),
            key="winner_counts",
            theme=None,
            config=CONFIG,
            alt="Count of the winning pair over merges.",
        )
    with lengths:
        bend = curves.elbow
        draw_title(
            "The corpus",
            "Each merge shortens it by the number of occurrences it joins."
            if bend is None
            else f"Elbow at {bend:,} merges: furthest from the straight line between the ends.",
        )
        st.plotly_chart(
            charts.tokens_over_merges(
                tokens[curves.drawn],
                merges=curves.drawn,
                marked=(step, float(tokens[step])),
                bend=None if bend is None else (bend, float(tokens[bend])),
                theme=theme,
            ),
            key="corpus_tokens",
            theme=None,
            config=CONFIG,
            alt=f"Tokens in the corpus over merges, from {tokens[0]:,} to {tokens[-1]:,}.",
        )
    stem = f"{file_stem(stored.title)}-run"
    with st.container(horizontal=True, vertical_alignment="center"):
        offer_csv(lambda: run_csv(curves, tokens), f"{stem}.csv", key="run_csv", help=RUN_CSV_SAYS)
        offer_pictures(
            [
                ChartPicture(
                    "winner_counts",
                    "PNG: winners",
                    "The count of the winning pair",
                    stored.title,
                    f"{stem}-winners.png",
                ),
                ChartPicture(
                    "corpus_tokens",
                    "PNG: corpus",
                    "Tokens in the corpus",
                    stored.title,
                    f"{stem}-corpus.png",
                ),
            ],
            key="run_pictures",
        )
