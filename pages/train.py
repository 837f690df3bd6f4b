"""Train: choose a corpus and settings, watch the training, and download its tokenizer."""

from __future__ import annotations

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.types import TrainingConfig
from ui.look.glossary import explain
from ui.look.labels import plain_markdown
from ui.shell import frame, workspace
from ui.storage.run_store import StoredRun
from ui.train import corpus_form, settings_form
from ui.train.corpus_form import ChosenCorpus
from ui.train.page_state import (
    CancelledWithoutRun,
    Failed,
    Finished,
    Live,
    NoTraining,
    PageState,
    Unknown,
    page_state,
)
from ui.train.result_card import show_result
from ui.train.training_card import watch_training
from ui.work import jobs


def current_state() -> PageState:
    """Return the state of the training in the address, else of this session's last training."""
    if not workspace.navigation_is_drawn():
        return NoTraining()
    job_id = frame.query_text("job", longest=64) or workspace.current().job_id
    return page_state(job_id, jobs.manager().status)


def follow(state: PageState) -> None:
    """Keep the training in the address while the page shows it, and open its run at the end."""
    match state:
        case Live(job_id) | Failed(job_id):
            note_training(job_id)
        case Finished(run_id):
            note_training(None)
            frame.open_run(run_id)
        case CancelledWithoutRun() | Unknown():
            note_training(None)
        case NoTraining():
            pass


def note_training(job_id: str | None) -> None:
    workspace.update(job_id=job_id)
    frame.set_query(job=job_id)


def show_outcome(state: PageState, open_run: StoredRun | None) -> None:
    # The card of a training and the result have separate places: in a shared one, Streamlit would
    # show parts of the old card among those of the new one until the script has ended.
    if isinstance(state, Live):
        watch_training(state.job_id)
        st.empty()
        return
    st.empty()
    match state:
        case Failed(error=error):
            st.error(f"Training failed. {plain_markdown(error, 1_000)}")
        case CancelledWithoutRun():
            st.info("Training was cancelled before the first merge, so nothing was learned.")
        case Unknown(problem):
            st.warning(plain_markdown(problem, 600))
        case NoTraining() | Finished():
            pass
    if open_run is not None:
        show_result(open_run, after_failure=isinstance(state, Failed))


def show_forms(*, can_train: bool) -> None:
    chosen, figures = corpus_form.choose_corpus()
    config = settings_form.choose_settings(chosen.training if chosen else None)
    counted = False
    if chosen is not None:
        with figures:
            counted = corpus_form.show_corpus(chosen, config.pretokenizer if config else None)
    with st.container(horizontal=True):
        is_ready = counted and config is not None and can_train
        is_pressed = st.button("Train", type="primary", key="train", disabled=not is_ready)
        if is_pressed and chosen and config:
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
    note_training(job_id)
    st.rerun()


def reset() -> None:
    workspace.forget_widgets(corpus_form.KEYS, settings_form.KEYS)
    for key, value in (corpus_form.FIRST | settings_form.FIRST).items():
        workspace.set_widget(key, value)
    workspace.update(corpus=None, corpus_title="", corpus_source=())


state = current_state()
follow(state)
open_run = frame.page_frame(
    "Train",
    "Choose a text and how far to go. Training repeats one step: fuse the most frequent pair of "
    "neighbours.",
    help=explain("Merge"),
)
forms, _, result = st.columns([24, 1, 16])
# The result is drawn first, because it is quick while reading a corpus may take time.
with result:
    show_outcome(state, open_run)
with forms:
    show_forms(can_train=not isinstance(state, Live))
