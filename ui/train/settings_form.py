"""The second part of Train: how to train, as a preset or field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from bpe_core.alphabet import GrowingVocabulary
from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError
from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.training import check_config
from bpe_core.types import TrainingConfig
from ui.components.pretoken_strip import pretoken_strip
from ui.corpus_summary import symbols_seen
from ui.labels import plain_markdown
from ui.train.custom_fields import EMPTY_REGEX, custom_fields

_PRESETS = {
    "GPT-2 style": "All 256 bytes, cut as GPT-2 cuts text; ties go to the lower ids, as in Hugging "
    "Face’s trainer.",
    "Classroom": "The characters of the corpus and an end-of-word marker, cut at white space; ties "
    "go to the pair met first.",
    "GPT-4 style": "As GPT-2 style, but cut as GPT-4 cuts text: numbers three digits at a time.",
    "Custom": "Every setting on its own, your own regular expression too.",
}
_CLASSROOM = TrainingConfig(
    pretokenizer="whitespace",
    base="characters",
    alphabet="seen",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)
_BYTE_SIZES = (
    *(257, 300, 400, 512, 768, 1_024, 1_536, 2_048, 3_072, 4_096),
    *(6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 50_257),
)
_BYTE_SIZE = 4_096
_CLASSROOM_MERGES = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_CLASSROOM_MERGE_COUNT = 15
_LINE = "for i in range(10):\n   print(i)"
_LONGEST_LINE = 400
# The sentence above the sliders says their value already; four presets fit a phone.
_SLIDER_STYLE = """<style>
[class*="st-key-settings_"] [data-testid="stSliderThumbValue"] { display: none; }
@media (max-width: 640px) {
  .st-key-settings_preset button, .st-key-corpus_source button { padding-inline: 0.55rem; }
}
</style>"""
KEYS = "settings_"
"""What the keys of this form's widgets start with."""
FIRST: dict[str, str | int] = {"settings_preset": "GPT-2 style", "settings_byte_size": _BYTE_SIZE}
"""What those of them show first that are on the page at first."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The tokens that a vocabulary has before the first merge."""

    n_base: int
    n_special: int
    n_marker: int

    @property
    def total(self) -> int:
        return self.n_base + self.n_special + self.n_marker


def choose_settings(training: Corpus | None) -> TrainingConfig | None:
    """Draws the settings; None where they cannot work, which the page says then."""
    st.html(_SLIDER_STYLE)
    st.header("Settings", anchor=False)
    preset = st.segmented_control(
        "Preset",
        list(_PRESETS),
        default="GPT-2 style",
        required=True,
        key="settings_preset",
        label_visibility="collapsed",
        persist_state="session",
    )
    st.markdown(f":gray[:small[{_PRESETS[preset]}]]")
    if preset == "Custom":
        config = custom_fields()
    elif preset == "Classroom":
        config = _CLASSROOM
    else:
        config = TrainingConfig(pretokenizer="cl100k" if preset == "GPT-4 style" else "gpt2")
    seen = _symbols_seen(config, training)
    start = _start_of(config, seen)
    room = st.container(gap="xsmall")
    config = replace(config, vocab_size=_choose_size(preset, start))
    fits = True
    try:
        check_config(config)
        GrowingVocabulary(config, seen)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        fits = False
    else:
        room.markdown(_size_sentence(config, start), width="content")
    works = _show_cuts(config.pretokenizer, training, preset == "Custom")
    return config if works and fits else None


def _symbols_seen(config: TrainingConfig, training: Corpus | None) -> frozenset[bytes]:
    """The base symbols that the corpus decides on: none where all bytes are taken."""
    if training is None or (config.base == "bytes" and config.alphabet == "full"):
        return frozenset()
    return symbols_seen(training, training.sha256, config.base)


def _start_of(config: TrainingConfig, seen: frozenset[bytes]) -> _Start:
    n_base = 256 if config.base == "bytes" and config.alphabet == "full" else len(seen)
    return _Start(n_base, len(config.special_tokens), int(config.end_of_word is not None))


def _choose_size(preset: str, start: _Start) -> int:
    label = "Vocabulary size"
    if preset == "Custom":
        return int(
            st.number_input(
                label,
                1,
                1_000_000,
                _BYTE_SIZE,
                key="settings_vocab_size",
                help="All that has an id: base symbols, special tokens, the marker, and merges.",
                persist_state="session",
            )
        )
    if preset == "Classroom":
        sizes = [start.total + merges for merges in _CLASSROOM_MERGES]
        first = start.total + _CLASSROOM_MERGE_COUNT
        # The choices depend on the corpus, and so must the identity of the slider.
        return _slide(label, sizes, first, key=f"settings_classroom_size_{start.total}")
    return _slide(label, _BYTE_SIZES, _BYTE_SIZE, key="settings_byte_size")


def _slide(label: str, sizes: Sequence[int], first: int, *, key: str) -> int:
    with st.container(gap=None):
        size = st.select_slider(
            label,
            sizes,
            first,
            format_func=lambda size: f"{size:,}",
            key=key,
            label_visibility="collapsed",
            persist_state="session",
        )
        with st.container(horizontal=True):
            st.markdown(f":gray[:small[{sizes[0]:,}]]", width="content")
            st.space("stretch")
            st.markdown(f":gray[:small[{sizes[-1]:,}]]", width="content")
    return size


def _size_sentence(config: TrainingConfig, start: _Start) -> str:
    kind = "bytes" if config.base == "bytes" else "characters"
    parts = [f"{start.n_base:,} {kind}"]
    if start.n_special:
        parts.append(f"{start.n_special:,} special")
    if start.n_marker:
        parts.append("1 end-of-word marker")
    parts.append(f"{max(0, config.vocab_size - start.total):,} merges")
    return f"Vocabulary size **{config.vocab_size:,}** :gray[= {' + '.join(parts)}]"


def _show_cuts(pretokenizer: str, training: Corpus | None, is_custom: bool) -> bool:
    st.markdown("Cuts made before training. No merge crosses a gap.")
    if pretokenizer == EMPTY_REGEX:
        st.error("Write a pattern, or choose none.")
        return False
    try:
        cutter = get_pretokenizer(pretokenizer)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return False
    if training is not None and training.word_counts is not None:
        pretoken_strip(key="cuts", pretokens=list(training.word_counts)[:16])
        st.markdown(":gray[:small[Weighted words are pre-tokens already: none is cut.]]")
        return True
    line = _LINE
    if is_custom:
        line = (
            st.text_area(
                "A line to try the cuts on",
                _LINE,
                key="settings_line",
                height=80,
                max_chars=_LONGEST_LINE,
                persist_state="session",
            )
            or ""
        )
    try:
        pretokens = cutter.split(line)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return False
    pretoken_strip(key="cuts", pretokens=pretokens)
    if cutter.drops_text:
        st.markdown(":gray[:small[White space is left out, and no token holds it.]]")
    return True
