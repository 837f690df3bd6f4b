"""Train: choose a corpus and settings, watch the training, and download its tokenizer."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.look import tooltip
from ui.run import show_failure, training_outcome, watch_training
from ui.shell import follow, followed_job, frame
from ui.storage import StoredRun
from ui.train import (
    fill_forms_once,
    filled_settings,
    form_changes,
    show_forms,
    show_heading,
    show_result,
)
from ui.work import Training


def show_outcome(job: Training | None, open_run: StoredRun | None) -> DeltaGenerator | None:
    """Draw the training or its result; return the place of the result's heading."""
    # The card of a training and the result have separate places: in a shared one, Streamlit would
    # show parts of the old card among those of the new one until the script has ended.
    if job is not None and job.is_live:
        watch_training(job.id)
        st.empty()
        return None
    st.empty()
    show_failure(
        job,
        failed="Training failed.",
        cancelled="Training was cancelled before the first merge, so nothing was learned.",
    )
    return show_result(open_run) if open_run is not None else None


job = followed_job()
follow(job)
live = job if job is not None and job.is_live else None
open_run = frame.page_frame(
    "Train",
    "Join the most frequent pair of neighbours, and repeat.",
    help=tooltip("Merge"),
    names_run=True,
)
if open_run is not None:
    fill_forms_once(open_run)
forms, _, result = st.columns([24, 1, 16])
# The result is drawn first, because it is quick while reading a corpus may take time.
with result, training_outcome(is_live=live is not None):
    heading = show_outcome(job, open_run)
with forms:
    chosen, config = show_forms(can_train=live is None, filled=filled_settings(open_run))
if heading is not None and open_run is not None:
    changes = form_changes(open_run.run, chosen.training.sha256 if chosen else None, config)
    show_heading(
        heading, open_run, changes, after_failure=job is not None and job.state == "failed"
    )
