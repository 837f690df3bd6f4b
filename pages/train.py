"""Train: choose a corpus and settings, start a training, watch it, and take the result home."""

from __future__ import annotations

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.types import TrainingConfig
from ui.look.labels import plain_markdown
from ui.shell import frame, workspace
from ui.train import corpus_form, settings_form
from ui.train.corpus_form import ChosenCorpus
from ui.train.result_card import show_result
from ui.train.training_card import watch_training
from ui.work import jobs
from ui.work.background import UnknownWorkError
from ui.work.jobs import JobStatus


def show_forms(*, is_training: bool) -> None:
    chosen, figures = corpus_form.choose_corpus()
    config = settings_form.choose_settings(chosen.training if chosen else None)
    counted = False
    if chosen is not None:
        with figures:
            counted = corpus_form.show_corpus(chosen, config.pretokenizer if config else None)
    with st.container(horizontal=True):
        ready = counted and config is not None and not is_training
        if (
            st.button("Train", type="primary", key="train", disabled=not ready)
            and chosen
            and config
        ):
            start(chosen, config)
        st.button("Reset", key="reset", on_click=reset)


def start(chosen: ChosenCorpus, config: TrainingConfig) -> None:
    try:
        job_id = jobs.manager().submit(
            chosen.corpus, config, title=chosen.title, held_out_share=chosen.held_out_share
        )
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return
    workspace.update(job_id=job_id)
    # The address goes first when the page looks for its training: the one before must not stay.
    frame.set_query(job=job_id)
    st.rerun()


def reset() -> None:
    workspace.forget_widgets(corpus_form.KEYS, settings_form.KEYS)
    for key, value in (corpus_form.FIRST | settings_form.FIRST).items():
        workspace.set_widget(key, value)
    workspace.update(corpus=None, corpus_title="", corpus_source=())


def job_of_address() -> JobStatus | None:
    """The training that the address names, else the one that this session started last."""
    job_id = frame.query_text("job", longest=64) or workspace.current().job_id
    if job_id is None:
        return None
    try:
        return jobs.manager().status(job_id)
    except UnknownWorkError as error:
        workspace.update(job_id=None)
        frame.set_query(job=None)
        st.warning(plain_markdown(str(error), 600))
        return None


job = job_of_address() if workspace.navigation_is_drawn() else None
if job is not None and job.run_id is not None:
    workspace.update(job_id=None)
    frame.set_query(job=None)
    frame.open_run(job.run_id)
    job = None
has_learned_nothing = job is not None and job.state == "cancelled"
if has_learned_nothing:
    workspace.update(job_id=None)
    frame.set_query(job=None)
    job = None
shown = frame.page_frame(
    "Train",
    "Choose a text and how far to go. Training repeats one step: fuse the most frequent pair of "
    "neighbours.",
)
if job is not None:
    workspace.update(job_id=job.id)
    frame.set_query(job=job.id)
forms, _, result = st.columns([24, 1, 16])
# The result first: it is read and waits for nothing, while a corpus may take its time.
with result:
    # Each card has a place of its own: in one place, parts of the card before would stand between
    # the new one's until the script has ended.
    if job is not None and job.is_live:
        watch_training(job.id)
        st.empty()
    else:
        st.empty()
        if has_learned_nothing:
            st.info("The training was cancelled before its first merge. It learned nothing.")
        if job is not None and job.error is not None:
            st.error(f"Training failed. {plain_markdown(job.error, 1_000)}")
        if shown is not None:
            show_result(shown, after_failure=job is not None and job.error is not None)
with forms:
    show_forms(is_training=job is not None and job.is_live)
