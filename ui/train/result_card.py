"""Draw the card of a finished run on Train: figures, curve, downloads and links."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.checks import times
from bpe_core.trainers import TrainingRun
from ui.components import ChartPicture, draw_chart_pictures
from ui.look import CONFIG, charts, counted, file_stem, plain_markdown
from ui.run import draw_run_ribbons, offer_downloads, run_curves, show_composition
from ui.shell import frame
from ui.storage import SAMPLE_RUN_ID, StoredRun

IN_MEMORY_ALONE = (
    "The training is complete, but this run is not saved: it will be lost when the server restarts "
    "or soon after you close this tab. Download the tokenizer now."
)


def show_result(stored: StoredRun) -> DeltaGenerator:
    """Draw a finished run; return the place of its heading, for `show_heading`."""
    run, is_sample = stored.run, stored.id == SAMPLE_RUN_ID
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(border=True, key="result_card"):
        heading = st.container(gap="xsmall")
        title = plain_markdown(stored.title)
        st.markdown(
            f"Sample: {title}, {counted(len(run.merges), 'merge')}."
            if is_sample
            else f"{title}: {result_sentence(run)}"
        )
        if run.config.ways:
            st.markdown(f":gray[Trained with {run.config.ways}.]")
        if run.parity is not None:
            st.markdown(f":gray[{run.parity.sentence()}]")
        for cost in run.terms:
            if cost.token is None:
                text = f"“{cost.term}” did not become a token. {cost.reason or ''}"
                st.markdown(f":orange[{plain_markdown(text, 300)}]")
        st.page_link(
            "pages/merge_loop.py",
            label="▸ Watch it learn",
            query_params={} if is_sample else {"run": stored.id},
        )
        if stored.not_kept:
            st.warning(f"{stored.not_kept} {IN_MEMORY_ALONE}")
            _offer_downloads(stored, expanded=True)
        _show_figures(stored)
        never_seen = "Never seen", stored.held_out.documents
        draw_run_ribbons(stored.id, never_seen, key="result_ribbons")
        st.plotly_chart(
            charts.tokens_over_merges(run.tokens_after, theme=frame.theme_type(), height=200),
            theme=None,
            config=CONFIG,
            key="result_curve",
        )
        if not stored.not_kept:
            _offer_downloads(stored)
        with st.expander("Its text and chart", type="compact"):
            if stored.compositions is not None:
                show_composition(*stored.compositions, key="result_composition")
            title = "Tokens in the corpus over merges"
            file = f"{file_stem(stored.title)}-corpus-tokens.png"
            draw_chart_pictures(
                [ChartPicture("result_curve", "PNG", title, stored.title, file)],
                key="result_pictures",
            )
    return heading


def show_heading(
    place: DeltaGenerator, stored: StoredRun, changes: str, *, after_failure: bool
) -> None:
    """Head the card of a run, whose form was read meanwhile.

    `changes` is a sentence on what differs in the form, empty if nothing does. After a failed
    training, the run is labelled as the one that was open before. The sample is an example,
    whatever the form holds.
    """
    is_sample = stored.id == SAMPLE_RUN_ID
    with place:
        with st.container(horizontal=True, vertical_alignment="center"):
            title = "Example" if is_sample else _title(changes, after_failure=after_failure)
            st.header(title, anchor=False, width="content")
            st.space("stretch")
            if is_sample:
                st.badge("not yours yet", color="gray")
            elif changes or after_failure:
                st.badge("trained before", color="gray")
            elif stored.run.stop_reason == "cancelled":
                st.badge("stopped early", color="orange")
            else:
                st.badge("✓ finished", color="green")
        if changes and not is_sample:
            st.markdown(f":gray[{changes}]")


def _title(changes: str, *, after_failure: bool) -> str:
    if after_failure:
        return "The open run"
    return "Previous run" if changes else "Trained"


def result_sentence(run: TrainingRun) -> str:
    """Return how many merges a training run learned, why it stopped, and in which state."""
    n = len(run.merges)
    if run.stop_reason == "vocab-size":
        end = f" The last pair still occurred {times(run.merges[-1].count or 0)}." if n else ""
    else:
        end = f" The vocabulary has {counted(run.tokenizer.vocab_size, 'token')}."
    stages = ""
    if run.config.superwords_from is not None and run.base is not None:
        stages = f" that may join words, after {counted(run.base.n_merges, 'merge')} within words"
    if run.tokenizer.table.removals:
        stages = f", and {counted(len(run.tokenizer.table.removals), 'removal')} of tokens"
    return f"{counted(n, 'merge')}{stages}. {run.stop_sentence}{end}"


def _show_figures(stored: StoredRun) -> None:
    curves = run_curves(stored.id)
    figures = st.grid(2, min_column_width=130)
    with figures.cell(), st.container(gap="xxsmall"):
        st.metric("Bytes per token", f"{curves.training[-1]:.2f}")
        if curves.held_out is not None:
            how = stored.held_out.how
            on_new = f":gray[:small[{curves.held_out[-1]:.2f} on text it never saw]]"
            st.markdown(on_new, help=(how and how.flattery) or None)
        elif stored.held_out.n_bytes:
            st.markdown(":gray[:small[not measured on new text]]")
        else:
            st.markdown(":gray[:small[no text kept aside to check it on]]")
    with figures.cell(), st.container(gap="xxsmall"):
        n_bytes = stored.run.corpus_bytes
        st.metric(
            "Tokens in the corpus",
            f"{int(stored.run.tokens_after[-1]):,}",
            help=f"From {counted(n_bytes, 'byte')}.",
        )
    if by_heart := stored.run.by_heart_sentence(curves.gap):
        st.markdown(by_heart)


def _offer_downloads(stored: StoredRun, *, expanded: bool = False) -> None:
    with st.expander("For engineers: download the tokenizer", type="compact", expanded=expanded):
        offer_downloads(stored.run.tokenizer, stored, key="download", says_next=True)
