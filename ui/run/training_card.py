"""Draw the card of a queued or running training: progress, speed and a button to cancel."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import streamlit as st

from bpe_core.runs import times
from bpe_core.types import TrainingProgress
from ui.components import end_in_view
from ui.host import fragment
from ui.look import CONFIG, charts, counted, plain_markdown, size_text
from ui.shell import frame
from ui.work import JobStatus, TrainingReport, duration, jobs

_SECONDS_BETWEEN_LOOKS = 0.5
_OUTCOME: Final = "training_outcome"
_ANCHOR = "training-progress"
HERE: Final = f"#{_ANCHOR}"
"""Where the card is on its page, as the target of a link."""


@contextmanager
def training_outcome(*, is_live: bool) -> Generator[None]:
    """Draw a training or what became of it in one place, which comes into view when it ends."""
    st.html(Path(__file__).with_suffix(".css"))
    with st.container(key=_OUTCOME):
        yield
        end_in_view(is_live=is_live, within=_OUTCOME, key="end_in_view")


def show_failure(job: JobStatus | None, *, failed: str, cancelled: str) -> None:
    """Draw why a training ended without a run, if it did, in the words for either case."""
    if job is None or job.run_id is not None:
        return
    if job.state == "failed":
        st.error(f"{failed} {plain_markdown(job.error or '', 1_000)}")
    elif job.state == "cancelled":
        st.info(cancelled)
    elif job.state == "unknown":
        st.warning(plain_markdown(job.error or "", 600))


@fragment(run_every=_SECONDS_BETWEEN_LOOKS)
def watch_training(job_id: str) -> None:
    """Redraw a live training twice a second, and the whole page once it has ended."""
    status = jobs.status(job_id)
    if not status.is_live:
        st.rerun()
    with st.container(border=True, key="training_card"):
        with st.container(horizontal=True, vertical_alignment="center"):
            heading = "Stopping…" if status.is_stopping else "Training"
            st.header(heading, anchor=_ANCHOR, width="content")
            st.space("stretch")
            st.button(
                "Cancel",
                on_click=jobs.cancel,
                args=(job_id,),
                key="cancel",
                disabled=status.is_stopping,
            )
        st.markdown(f":gray[{plain_markdown(status.title)}]")
        progress = status.report.progress
        if progress is None or progress.seconds_compiling is not None:
            st.progress(0.0)
            st.markdown(_before_first_merge(status, progress))
        else:
            _show_progress(status.report, progress)
        st.markdown(
            ":gray[You can leave this page. Training continues, and this address brings you back.]"
        )


def _before_first_merge(status: JobStatus, progress: TrainingProgress | None) -> str:
    if progress is not None:
        seconds = progress.seconds_compiling
        return f"Compiling the engine, once on this machine: {seconds:.0f} s so far."
    if status.state == "running":
        n_bytes = status.report.training_bytes
        size = f" of {size_text(n_bytes)}" if n_bytes else ""
        return f"Counting the pre-tokens{size}."
    others = status.queue_position
    if not others:
        return "Your training run is next."
    return f"Waiting: {counted(others, 'training run')} before yours."


def _show_progress(report: TrainingReport, progress: TrainingProgress) -> None:
    wanted = progress.merges_wanted
    st.progress(min(1.0, progress.merges_done / wanted) if wanted else 1.0)
    if report.is_saving:
        done = progress.merges_done
        st.markdown(
            f"{counted(done, 'merge')} learned. Encoding the held-out text and saving the run."
        )
    else:
        st.markdown(f"Merge {progress.merges_done:,} of {wanted:,}{_pace(report)}.")
    figures = st.grid(2, min_column_width=130)
    with figures.cell(), st.container(gap="xxsmall"):
        st.metric("Bytes per token so far", f"{report.bytes_per_token:.2f}")
        st.markdown(":gray[:small[held-out text is measured at the end]]")
    with figures.cell(), st.container(gap="xxsmall"):
        st.metric("Last pair occurred", times(progress.last_count))
        st.markdown(f":gray[:small[{counted(progress.corpus_tokens, 'token')} in the corpus]]")
    st.plotly_chart(
        charts.tokens_over_merges(
            [point.corpus_tokens for point in report.curve],
            merges=[point.merges_done for point in report.curve],
            merges_wanted=wanted,
            theme=frame.theme_type(),
        ),
        theme=None,
        config=CONFIG,
        key="training_curve",
    )


def _pace(report: TrainingReport) -> str:
    rate, seconds_left = report.merges_a_second, report.seconds_left
    if rate is None or seconds_left is None:
        return ""
    return f", {rate:,.0f} a second, about {duration(seconds_left)} left at this rate"
