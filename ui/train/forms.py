"""Draw both forms of Train with their buttons, set them back, and fill them from a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError, ConfigError
from bpe_core.formats import read_config
from bpe_core.trainers import LargestSize, TrainingRun, check_config
from bpe_core.types import Characters, TrainingConfig
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
from ui.look import plain_markdown, tooltip
from ui.run import HERE, find_alphabet
from ui.shell import (
    Unread,
    action_row,
    heading_row,
    note_unread,
    show_missing,
    show_unread,
    take_given,
    workspace,
)
from ui.storage import SAMPLE_RUN_ID, StoredRun
from ui.train import presets
from ui.train.custom_fields import custom_fields, custom_widgets
from ui.train.cuts import show_best_cut, show_cuts
from ui.train.presets import (
    CONFIGS,
    CUSTOM,
    DIVISIONS,
    EXPLAINED,
    HOW_FAR,
    Start,
    early_stop_sentence,
    show_largest_size,
    with_cut,
)

FIRST_SETTINGS = replace(CONFIGS["GPT-2"], vocab_size=presets.FIRST_SIZE)
"""The settings that a new visitor sees."""
KEYS = "settings_"
"""The prefix of this form's widget keys."""
FIRST: dict[str, str | float] = {"settings_preset": "GPT-2", **presets.FIRST}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """The valid settings last shown."""

    config: TrainingConfig | None = None


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """Valid settings, and places for what is known of them only with the text."""

    config: TrainingConfig
    write_size: Callable[[LargestSize | None], object]
    beside_size: DeltaGenerator
    below_size: DeltaGenerator


def choose_settings(
    training: Corpus | None, example: Corpus | None, filled: TrainingConfig
) -> ChosenSettings | None:
    """Draw the settings and return them; if they are invalid, show why and return None.

    The address keeps them if they differ from those that a reload fills the form with.
    """
    heading = heading_row("settings_heading")
    with heading:
        st.header("How far to go", anchor=False, width="content", help=HOW_FAR)
    unread, sizes = st.container(), st.container()
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="settings_size_line"
    ):
        sentence, beside_size = st.empty(), st.container(width="content")
    division = DIVISIONS[workspace.widget_text("settings_preset") or "GPT-2"]
    folded = row.popover(f"First divided: {division}", type="tertiary", key="settings_cuts")
    below_size = row.container(horizontal=True, vertical_alignment="center", gap="small")
    with folded:
        preset = st.radio(
            "How the text is divided before any pair is joined",
            [*CONFIGS, CUSTOM],
            format_func=DIVISIONS.__getitem__,
            key="settings_preset",
            persist_state="session",
            on_change=_begin_custom_as_shown,
            help=f"{EXPLAINED}\n\n{tooltip('Tie', 'Byte fallback')}",
        )
    custom_place = st.container()
    are_complete = True
    cut = None if training is None else training.cut_by
    if preset == CUSTOM:
        with custom_place:
            custom = custom_fields(cut)
        config, are_complete = custom.config, custom.is_complete
    else:
        config = CONFIGS[preset]
    shown = config
    if cut is not None and config.pretokenizer != cut:
        config = with_cut(config, cut)
        st.markdown(
            f":gray[:small[The words of this corpus were cut by {plain_markdown(cut, 100)}, so "
            "that is the pre-tokenizer, whatever the preset says.]]"
        )
    start = find_start(config, training)
    with sizes:
        size = presets.size_field(preset, start, heading)

    def write_size(found: LargestSize | None) -> None:
        if size is not None:
            removes = config.picky is not None
            text = presets.size_sentence(size, start, found, removes=removes)
            sentence.markdown(text, width="content", help=tooltip("Token", "Special token"))

    is_custom = preset == CUSTOM
    with custom_place if is_custom else folded:
        works = show_cuts(config.pretokenizer, example, is_custom=is_custom)
    if size is not None and works:  # a pattern that does not work is told of there
        config = replace(config, vocab_size=size)
        try:
            if config.superwords_from is not None and config.superwords_from < start.total:
                raise ConfigError(
                    f"Words cannot join before the vocabulary has {start.total:,} tokens: it "
                    f"starts with {' + '.join(start.parts)}."
                )
            check_config(config)
        except BpeError as error:
            st.error(plain_markdown(str(error), 600))
            size = None
        else:
            shown = replace(shown, vocab_size=size)
            workspace.update(ShownSettings, config=shown)
            settings_to_address(shown, start.total, filled)
            write_size(None)
    with unread:
        show_unread(_NAME, shown)
    is_valid = works and are_complete and size is not None
    return ChosenSettings(config, write_size, beside_size, below_size) if is_valid else None


def widget_values(config: TrainingConfig, start_total: int) -> dict[str, str | float]:
    """Return the values of the widgets that choose these settings, by preset if there is one.

    `start_total` is the number of tokens before the first merge.

    >>> widget_values(replace(CONFIGS["GPT-4"], vocab_size=4_096), 257)["settings_preset"]
    'GPT-4'
    >>> widget_values(TrainingConfig(4_096, min_frequency=3), 257)["settings_min_frequency"]
    3.0
    """
    size = config.vocab_size
    fitting = [name for name, own in CONFIGS.items() if replace(own, vocab_size=size) == config]
    preset = fitting[0] if fitting else CUSTOM
    fields = {} if fitting else custom_widgets(config)
    sizes = presets.size_widgets(preset, size, start_total)
    return {"settings_preset": preset, **fields, **sizes}


def _begin_custom_as_shown() -> None:
    """Give Custom's fields the settings that were shown when it was chosen."""
    shown = workspace.get(ShownSettings).config
    if workspace.widget_text("settings_preset") != CUSTOM or shown is None:
        return
    sizes = presets.size_widgets(CUSTOM, shown.vocab_size, 0)
    workspace.set_widgets(custom_widgets(shown) | sizes)


def find_start(config: TrainingConfig, training: Corpus | None) -> Start:
    """Return the number of tokens before the first merge on this training text.

    >>> find_start(TrainingConfig(), None).total
    257
    """
    if config.alphabet == "bytes":
        n_base = 256
    else:
        n_base = 0 if training is None else len(find_alphabet(training, config))
    n_marker = int(config.end_of_word is not None)
    n_bytes = 256 if isinstance(config.alphabet, Characters) else 0
    return Start(config.base, n_base, len(config.special_tokens), n_marker, n_bytes)


_NAME: Final = "settings"
_START: Final = "start"
_MAX_CHARACTERS: Final = 2_000
"""Longer special tokens and patterns are not kept: proxies limit the length of an address."""


def settings_to_address(config: TrainingConfig, start_total: int, filled: TrainingConfig) -> None:
    """Put settings in the address, unless the form is filled with them anyway.

    `start_total` is the number of tokens before the first merge.
    """
    text = settings_text(config, start_total)
    is_kept = config != filled and len(text) <= _MAX_CHARACTERS
    workspace.set_query(**{_NAME: text if is_kept else None})


def read_address_settings() -> tuple[TrainingConfig, int] | None:
    """Return the settings in the address and the tokens before the first merge, or None.

    What could not be read is noted.
    """
    if not workspace.has_query(_NAME):
        return None
    try:
        return read_settings(workspace.query_text(_NAME, _MAX_CHARACTERS))
    except BpeError as error:
        note_unread(_NAME, f"The settings in this address were not used. {error}")
        return None


def settings_text(config: TrainingConfig, start_total: int) -> str:
    """Return the settings that differ from the defaults, and the tokens before the first merge.

    >>> settings_text(TrainingConfig(300, "cl100k"), 257)
    '{"vocab_size":300,"pretokenizer":"cl100k","start":257}'
    """
    usual = TrainingConfig().to_dict()
    own = {name: value for name, value in config.to_dict().items() if value != usual[name]}
    return json.dumps({**own, _START: start_total}, separators=(",", ":"))


def read_settings(text: str | None) -> tuple[TrainingConfig, int]:
    """Return what `settings_text` wrote; raise BpeError, with what was not understood.

    >>> config, start_total = read_settings('{"vocab_size":300,"start":257}')
    >>> config.vocab_size, start_total
    (300, 257)
    >>> read_settings('{"size":300,"start":257}')
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: There is no setting 'size'.
    """
    if text is None:
        raise ConfigError(f"They have more than {_MAX_CHARACTERS:,} characters.")
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(f"They are not JSON: {text!r:.60}.") from None
    if not isinstance(found, dict):
        raise ConfigError(f"Expected names and values, got {text!r:.60}.")
    fields = cast("dict[str, Any]", found)
    start_total = fields.pop(_START, None)
    if unknown := sorted(fields.keys() - TrainingConfig().to_dict().keys()):
        raise ConfigError(f"There is no setting {unknown[0]!r:.60}.")
    if type(start_total) is not int:
        raise ConfigError(f"Expected an integer as {_START}, got {start_total!r:.60}.")
    fields.setdefault("special_tokens", list(TrainingConfig().special_tokens))
    try:
        return read_config(fields), start_total
    except BpeError:
        raise
    except (ValueError, TypeError) as error:  # a value of another type, deep within
        raise ConfigError(f"A value has the wrong type: {error!s:.60}.") from None


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
        settings = choose_settings(*texts, filled)
    config = settings.config if settings else None
    counted = False
    if chosen is not None:
        with figures:
            counted = corpus_form.show_corpus(chosen, config.pretokenizer if config else None)
    early_stop = None
    if counted and chosen and settings:
        with settings.beside_size:
            found = show_largest_size(chosen.training, settings.config)
        settings.write_size(found)
        early_stop = early_stop_sentence(found, settings.config)
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
            with st.container(width="content", key="early_stop"):
                st.markdown(f":orange[{early_stop}]", width="content")
    return chosen, config


def reset() -> None:
    """Set every widget of both forms to its first value, and forget uploads and pastes."""
    close_own_files("held_file")
    workspace.forget_widgets(corpus_form.KEYS, KEYS)
    workspace.set_widgets(corpus_form.FIRST | FIRST)
    workspace.forget(ReadUploads, Unread, presets.ShownSize)
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
    filled = filled_settings(stored)
    settings = read_address_settings() or (filled, start_total)
    workspace.set_widgets(corpus | widget_values(*settings))


def filled_settings(stored: StoredRun | None) -> TrainingConfig:
    """Return the settings that the form is filled with if the address names no others.

    They are those of the open run. Of a tokenizer that extends another, which Train cannot make,
    and of the sample, they are what a new visitor sees.
    """
    if stored is None or stored.id == SAMPLE_RUN_ID or stored.run.given_base is not None:
        return FIRST_SETTINGS
    return stored.run.config


def _are_filled_first(*, is_given: bool = False) -> bool:
    """Return whether the forms are to be filled now, and note that they were shown.

    They are filled again if a corpus of the visitor `is_given` and they are unchanged.
    """
    if workspace.get(CorpusForm).is_filled and not is_given:
        return False
    workspace.update(CorpusForm, is_filled=True)
    return workspace.widgets_hold(corpus_form.FIRST | FIRST)


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
