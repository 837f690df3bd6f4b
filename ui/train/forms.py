"""Draw both forms of Train with their buttons, set them back, and fill them from a run."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from bpe_core.runs import TrainingRun
from bpe_core.types import TrainingConfig
from ui.corpus import (
    ChosenCorpus,
    CorpusForm,
    ReadUploads,
    close_own_files,
    corpus_form,
    corpus_or,
    fill_from_address,
    fill_from_browser,
    fill_from_run,
    set_own_text,
)
from ui.run import HERE
from ui.shell import action_row, show_missing, take_given, workspace
from ui.storage import SAMPLE_RUN_ID, StoredRun
from ui.train import settings_form
from ui.train.cuts import show_best_cut
from ui.train.settings_form import read_address_settings
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
        texts = (chosen.training, chosen.corpus) if chosen else (None, None)
        settings = settings_form.choose_settings(*texts, filled)
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
    workspace.set_widgets(corpus_form.FIRST | settings_form.FIRST)
    workspace.forget(ReadUploads)
    for key in ("corpus_pasted", "corpus_words"):
        set_own_text("", key)
    workspace.update(CorpusForm, missing_corpus="")


def fill_forms_once(stored: StoredRun) -> None:
    """Fill the forms from the open run if this session shows them for the first time.

    With the sample run open, the corpus is the one that the browser remembers, once it is known.
    Forms that the visitor has changed meanwhile stay as they are.
    """
    given = take_given()
    if not _are_filled_first(is_given=given is not None):
        return
    is_sample = stored.id == SAMPLE_RUN_ID
    corpus = fill_from_address()
    if not is_sample:
        corpus = corpus_or(corpus, lambda: fill_from_run(stored))
    elif given is not None:
        corpus = corpus_or(corpus, lambda: fill_from_browser(*given))
    start_total = stored.run.tokenizer.vocab_size - len(stored.run.merges)
    settings = read_address_settings() or (filled_settings(stored), start_total)
    workspace.set_widgets(corpus | settings_form.widget_values(*settings))


def filled_settings(stored: StoredRun | None) -> TrainingConfig:
    """Return the settings that the form is filled with if the address names no others.

    They are those of the open run. Of a tokenizer that extends another, which Train cannot make,
    and of the sample, they are what a new visitor sees.
    """
    if stored is None or stored.id == SAMPLE_RUN_ID or stored.run.given_base is not None:
        return settings_form.FIRST_SETTINGS
    return stored.run.config


def _are_filled_first(*, is_given: bool = False) -> bool:
    """Return whether the forms are to be filled now, and note that they were shown.

    They are filled again if a corpus of the visitor `is_given` and they are unchanged.
    """
    if workspace.get(CorpusForm).is_filled and not is_given:
        return False
    workspace.update(CorpusForm, is_filled=True)
    return workspace.widgets_hold(corpus_form.FIRST | settings_form.FIRST)


def form_changes(
    run: TrainingRun, training_sha256: str | None, config: TrainingConfig | None
) -> str:
    """Return a sentence on how the form differs from a run; empty if it does not.

    `training_sha256` is the digest of the form's training text, None if it has none; `config` are
    its settings, None if they are invalid.

    >>> from bpe_core import Corpus, train
    >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(300))
    >>> form_changes(run, run.corpus_sha256, TrainingConfig(300))
    ''
    >>> form_changes(run, None, TrainingConfig(400))
    'The form now has other settings and no text.'
    """
    parts: list[str] = []
    if config is None:
        parts.append("invalid settings")
    elif config != run.config:
        parts.append("other settings")
    if training_sha256 is None:
        parts.append("no text")
    elif training_sha256 != run.corpus_sha256:
        parts.append("another training text")
    return f"The form now has {' and '.join(parts)}." if parts else ""
