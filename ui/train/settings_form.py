"""Draw the second part of Train: the settings, as a preset or field by field."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.errors import BpeError
from bpe_core.runs.check_config import check_config
from bpe_core.types import TrainingConfig
from ui.look.glossary import tooltip
from ui.look.labels import plain_markdown
from ui.run.corpus_summary import CorpusPart, find_alphabet
from ui.shell import workspace
from ui.shell.action_row import heading_row
from ui.train import size_field
from ui.train.custom_fields import custom_fields, custom_widgets
from ui.train.cuts import show_cuts
from ui.train.presets import CONFIGS, CUSTOM, EXPLAINED, with_cut
from ui.train.settings_address import settings_to_address
from ui.train.size_field import Start

FIRST_SETTINGS = replace(CONFIGS["GPT-2"], vocab_size=size_field.FIRST_SIZE)
"""The settings that a new visitor sees."""
KEYS = "settings_"
"""The prefix of this form's widget keys."""
FIRST: dict[str, str | float] = {"settings_preset": "GPT-2", **size_field.FIRST}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """The valid settings last shown."""

    config: TrainingConfig | None = None


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """Valid settings, and places for what is known of them only with the text."""

    config: TrainingConfig
    beside_size: DeltaGenerator
    below_size: DeltaGenerator


def choose_settings(
    training: CorpusPart | None, example: CorpusPart | None, filled: TrainingConfig
) -> ChosenSettings | None:
    """Draw the settings and return them; if they are invalid, show why and return None.

    The address keeps them if they differ from those that a reload fills the form with.
    """
    with heading_row("settings_heading"):
        explained = f"{EXPLAINED}\n\n{tooltip('Tie', 'Byte fallback')}"
        st.header("How far to go", anchor=False, width="content", help=explained)
        preset = st.segmented_control(
            "Preset",
            [*CONFIGS, CUSTOM],
            default="GPT-2",
            required=True,
            key="settings_preset",
            label_visibility="collapsed",
            persist_state="session",
            on_change=_begin_custom_as_shown,
        )
    are_complete = True
    cut = None if training is None else training.cut_by
    if preset == CUSTOM:
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
    with st.container():
        size = size_field.size_field(preset, start)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="settings_size_line"
    ):
        sentence, beside_size = st.empty(), st.container(width="content")
    row = st.container(horizontal=True, vertical_alignment="center", gap="small")
    below_size = row.container(horizontal=True, vertical_alignment="center", gap="small")
    is_custom = preset == CUSTOM
    cuts = (
        st.container() if is_custom else row.popover("Cuts", type="tertiary", key="settings_cuts")
    )
    with cuts:
        works = show_cuts(config.pretokenizer, example, is_custom=is_custom)
    if size is not None and works:  # a pattern that does not work is told of there
        config = replace(config, vocab_size=size)
        try:
            check_config(config)
        except BpeError as error:
            st.error(plain_markdown(str(error), 600))
            size = None
        else:
            shown = replace(shown, vocab_size=size)
            workspace.update(ShownSettings, config=shown)
            settings_to_address(shown, start.total, filled)
            sentence.markdown(
                size_field.size_sentence(size, start),
                width="content",
                help=tooltip("Token", "Special token"),
            )
    is_valid = works and are_complete and size is not None
    return ChosenSettings(config, beside_size, below_size) if is_valid else None


def widget_values(config: TrainingConfig, start_total: int) -> dict[str, str | float]:
    """Return the values of the widgets that choose these settings, by preset if there is one.

    `start_total` is the number of tokens before the first merge.

    >>> widget_values(TrainingConfig(4_096, pretokenizer="cl100k"), 257)["settings_preset"]
    'GPT-4'
    >>> widget_values(TrainingConfig(4_096, min_frequency=2), 257)["settings_min_frequency"]
    2.0
    """
    size = config.vocab_size
    fitting = [name for name, own in CONFIGS.items() if replace(own, vocab_size=size) == config]
    preset = fitting[0] if fitting else CUSTOM
    fields = {} if fitting else custom_widgets(config)
    sizes = size_field.size_widgets(preset, size, start_total)
    return {"settings_preset": preset, **fields, **sizes}


def _begin_custom_as_shown() -> None:
    """Give Custom's fields the settings that were shown when it was chosen."""
    shown = workspace.get(ShownSettings).config
    if workspace.widget_text("settings_preset") != CUSTOM or shown is None:
        return
    sizes = size_field.size_widgets(CUSTOM, shown.vocab_size, 0)
    for key, value in (custom_widgets(shown) | sizes).items():
        workspace.set_widget(key, value)


def find_start(config: TrainingConfig, training: CorpusPart | None) -> Start:
    """Return the number of tokens before the first merge on this training text.

    >>> find_start(TrainingConfig(), None).total
    257
    """
    all_bytes = config.base == "bytes" and config.alphabet == "full"
    n_base = 256 if all_bytes else 0 if training is None else len(find_alphabet(training, config))
    n_marker = int(config.end_of_word is not None)
    n_bytes = 256 if config.byte_fallback else 0
    return Start(config.base, n_base, len(config.special_tokens), n_marker, n_bytes)
