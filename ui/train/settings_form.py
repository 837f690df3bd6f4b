"""Draw the second part of Train: the settings, as a preset or field by field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bpe_core.errors import BpeError
from bpe_core.runs.check_config import check_config
from bpe_core.types import TrainingConfig
from ui.look.glossary import tooltip
from ui.look.labels import plain_markdown
from ui.run.corpus_summary import CorpusPart, symbols_seen
from ui.shell import workspace
from ui.train import size_field
from ui.train.custom_fields import custom_fields, custom_widgets
from ui.train.cuts import show_cuts
from ui.train.settings_address import settings_to_address
from ui.train.size_field import Start

_PRESETS = {
    "GPT-2 style": "All 256 bytes, cut as GPT-2 cuts text; ties go to the lower ids, as in Hugging "
    "Face’s trainer.",
    "Classroom": "The characters of the corpus and an end-of-word marker, cut at white space; ties "
    "go to the pair seen first.",
    "GPT-4 style": "Like GPT-2 style, but cut as GPT-4 cuts text: numbers three digits at a time.",
    "Custom": "Choose every setting yourself, including your own regular expression.",
}
_CONFIGS = {
    "GPT-2 style": TrainingConfig(pretokenizer="gpt2"),
    "Classroom": TrainingConfig(
        pretokenizer="whitespace",
        base="characters",
        alphabet="seen",
        end_of_word="</w>",
        special_tokens=(),
        tie_break="first-seen",
    ),
    "GPT-4 style": TrainingConfig(pretokenizer="cl100k"),
}
"""The settings of each preset but Custom; the size is chosen apart from them."""
FIRST_SETTINGS = replace(_CONFIGS["GPT-2 style"], vocab_size=size_field.FIRST_SIZE)
"""The settings that a new visitor sees."""
KEYS = "settings_"
"""The prefix of this form's widget keys."""
FIRST: dict[str, str | float] = {"settings_preset": "GPT-2 style", **size_field.FIRST}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class ShownSettings:
    """The valid settings last shown."""

    config: TrainingConfig | None = None


@dataclass(frozen=True, slots=True)
class ChosenSettings:
    """Valid settings, and a container below their size for what the corpus allows."""

    config: TrainingConfig
    below_size: DeltaGenerator


def choose_settings(
    training: CorpusPart | None, example: CorpusPart | None, filled: TrainingConfig
) -> ChosenSettings | None:
    """Draw the settings and return them; if they are invalid, show why and return None.

    The address keeps them if they differ from those that a reload fills the form with.
    """
    st.html(Path(__file__).with_suffix(".css"))
    st.header("Settings", anchor=False)
    preset = st.segmented_control(
        "Preset",
        list(_PRESETS),
        default="GPT-2 style",
        required=True,
        key="settings_preset",
        label_visibility="collapsed",
        persist_state="session",
        on_change=_begin_custom_as_shown,
    )
    st.markdown(f":gray[:small[{_PRESETS[preset]}]]", help=tooltip("Tie"))
    are_complete = True
    cut = None if training is None else training.cut_by
    if preset == "Custom":
        custom = custom_fields(cut)
        config, are_complete = custom.config, custom.is_complete
    else:
        config = _CONFIGS[preset]
    shown = config
    if cut is not None and config.pretokenizer != cut:
        config = replace(config, pretokenizer=cut)
        st.markdown(
            f":gray[:small[The words of this corpus were cut by {plain_markdown(cut, 100)}, so "
            "that is the pre-tokenizer, whatever the preset says.]]"
        )
    start = find_start(config, training)
    room = st.container(gap="xsmall")
    with st.container():
        size = size_field.size_field(preset, start)
    below_size = st.container()
    if size is not None:
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
            room.markdown(
                size_field.size_sentence(size, start),
                width="content",
                help=tooltip("Token", "Special token"),
            )
    works = show_cuts(config.pretokenizer, example, is_custom=preset == "Custom")
    is_valid = works and are_complete and size is not None
    return ChosenSettings(config, below_size) if is_valid else None


def widget_values(config: TrainingConfig, start_total: int) -> dict[str, str | float]:
    """Return the values of the widgets that choose these settings, by preset if there is one.

    `start_total` is the number of tokens before the first merge.

    >>> widget_values(TrainingConfig(4_096, pretokenizer="cl100k"), 257)["settings_preset"]
    'GPT-4 style'
    >>> widget_values(TrainingConfig(4_096, min_frequency=2), 257)["settings_min_frequency"]
    2.0
    """
    size = config.vocab_size
    fitting = [name for name, own in _CONFIGS.items() if replace(own, vocab_size=size) == config]
    preset = fitting[0] if fitting else "Custom"
    fields = {} if fitting else custom_widgets(config)
    sizes = size_field.size_widgets(preset, size, start_total)
    return {"settings_preset": preset, **fields, **sizes}


def _begin_custom_as_shown() -> None:
    """Give Custom's fields the settings that were shown when it was chosen."""
    shown = workspace.get(ShownSettings).config
    if workspace.widget_text("settings_preset") != "Custom" or shown is None:
        return
    sizes = size_field.size_widgets("Custom", shown.vocab_size, 0)
    for key, value in (custom_widgets(shown) | sizes).items():
        workspace.set_widget(key, value)


def _symbols_seen(config: TrainingConfig, training: CorpusPart | None) -> frozenset[bytes]:
    if training is None:
        return frozenset()
    return symbols_seen(training, config.base)


def find_start(config: TrainingConfig, training: CorpusPart | None) -> Start:
    """Return the number of tokens before the first merge on this training text.

    >>> find_start(TrainingConfig(), None).total
    257
    """
    all_bytes = config.base == "bytes" and config.alphabet == "full"
    n_base = 256 if all_bytes else len(_symbols_seen(config, training))
    n_marker = int(config.end_of_word is not None)
    return Start(config.base, n_base, len(config.special_tokens), n_marker)
