"""Draw both forms of Train with their buttons, and set them back."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.types import TrainingConfig
from ui.corpus import corpus_form
from ui.corpus.corpus_form import ChosenCorpus
from ui.corpus.corpus_state import CorpusForm, ReadUploads
from ui.corpus.large_text_area import PastedTexts
from ui.corpus.own_files import close_own_files
from ui.run.corpus_summary import CorpusPart
from ui.run.training_card import HERE
from ui.shell import workspace
from ui.shell.action_row import action_row, show_missing
from ui.train import settings_form
from ui.train.best_cut import show_best_cut
from ui.train.size_field import show_largest_size


def show_forms(
    *, can_train: bool, filled: TrainingConfig
) -> tuple[ChosenCorpus | None, TrainingConfig | None]:
    """Draw the forms, and begin the training if Train is pressed and both are valid.

    `filled` are the settings that a reload fills the form with. Returns what the forms hold: None
    for no corpus, or for invalid settings.
    """
    st.html(Path(__file__).with_suffix(".css"))
    # Each part has its own place. If an error above the buttons moved them down, Streamlit
    # would show both pairs of buttons until the page is done.
    corpus_place, settings_place, buttons = st.container(), st.container(), action_row()
    with corpus_place:
        chosen, figures = corpus_form.choose_corpus(takes_counts=True)
    with settings_place:
        settings = settings_form.choose_settings(*_texts(chosen), filled)
    config = settings.config if settings else None
    counted = False
    if chosen is not None:
        with figures:
            counted = corpus_form.show_corpus(chosen, config.pretokenizer if config else None)
    early_stop = None
    if counted and chosen and settings:
        with settings.beside_size:
            early_stop = show_largest_size(chosen.training, settings.config)
        if can_train:
            with settings.below_size:
                show_best_cut(chosen, settings.config)
    with buttons:
        # Enabled even without a text or with a wrong number: the browser sends what was typed last
        # together with the press.
        is_pressed = st.button("Train", type="primary", key="train", disabled=not can_train)
        if is_pressed and chosen and config and counted:
            corpus_form.begin_training(chosen, config, chosen.title)
            is_pressed = False
        st.button("Reset", key="reset", on_click=reset)
        if is_pressed:
            show_missing(
                "Choose a text first." if chosen is None else "Correct the settings first."
            )
        if not can_train:
            # In a narrow window the training's card is far below this button.
            st.markdown(f":gray[Training now.] [See its progress]({HERE})", width="content")
        if early_stop:
            st.markdown(f":orange[{early_stop}]", width="content")
    return chosen, config


def reset() -> None:
    """Set every widget of both forms to its first value, and forget uploads and pastes."""
    close_own_files("held_file")
    workspace.forget_widgets(corpus_form.KEYS, settings_form.KEYS)
    for key, value in (corpus_form.FIRST | settings_form.FIRST).items():
        workspace.set_widget(key, value)
    workspace.forget(ReadUploads, PastedTexts)
    workspace.update(CorpusForm, missing_corpus="")


def _texts(chosen: ChosenCorpus | None) -> tuple[CorpusPart | None, CorpusPart | None]:
    """Return the training text, and the text whose beginning is shown: all of it, if in memory."""
    if chosen is None:
        return None, None
    return chosen.training, chosen.corpus if isinstance(chosen.corpus, Corpus) else chosen.training
