"""Draw the second part of Train: the settings, as a preset or field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import BpeError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.runs.check_config import check_config
from bpe_core.types import Base, TrainingConfig
from ui.components.pretoken_strip import pretoken_strip
from ui.look.glossary import TOKEN, explain
from ui.look.labels import plain_markdown
from ui.run.corpus_summary import symbols_seen
from ui.train.custom_fields import EMPTY_REGEX, custom_fields
from ui.train.number_field import Limits, whole_number

_PRESETS = {
    "GPT-2 style": "All 256 bytes, cut as GPT-2 cuts text; ties go to the lower ids, as in Hugging "
    "Face’s trainer.",
    "Classroom": "The characters of the corpus and an end-of-word marker, cut at white space; ties "
    "go to the pair seen first.",
    "GPT-4 style": "As GPT-2 style, but cut as GPT-4 cuts text: numbers three digits at a time.",
    "Custom": "Choose every setting yourself, including your own regular expression.",
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
_LARGEST_SIZE = 1_000_000
_CLASSROOM_MERGES = (0, 1, 2, 3, 5, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1_000, 2_000, 5_000)
_CLASSROOM_MERGE_COUNT = 15
_LINE = "for i in range(10):\n   print(i)"
_LONGEST_LINE = 400
# Hide the sliders' value, which the sentence above them shows; make four presets fit on a phone.
_SLIDER_STYLE = """<style>
[class*="st-key-settings_"] [data-testid="stSliderThumbValue"] { display: none; }
@media (max-width: 640px) {
  .st-key-settings_preset button, .st-key-corpus_source button { padding-inline: 0.55rem; }
}
</style>"""
KEYS = "settings_"
"""The prefix of this form's widget keys."""
FIRST: dict[str, str | int] = {"settings_preset": "GPT-2 style", "settings_byte_size": _BYTE_SIZE}
"""The first values of the widgets that a new visitor sees."""


@dataclass(frozen=True, slots=True)
class _Start:
    """The number of tokens in a vocabulary before the first merge, by kind."""

    base: Base
    n_base: int
    n_special: int
    n_marker: int

    @property
    def total(self) -> int:
        return self.n_base + self.n_special + self.n_marker

    @property
    def parts(self) -> list[str]:
        """The number of each kind, in words.

        >>> _Start("bytes", 256, 1, 0).parts
        ['256 bytes', '1 special']
        """
        parts = [f"{self.n_base:,} {self.base}"]
        if self.n_special:
            parts.append(f"{self.n_special:,} special")
        if self.n_marker:
            parts.append("1 end-of-word marker")
        return parts


def choose_settings(training: Corpus | None) -> TrainingConfig | None:
    """Draw the settings and return them; if they are invalid, show why and return None."""
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
    st.markdown(f":gray[:small[{_PRESETS[preset]}]]", help=explain("Tie"))
    are_complete = True
    if preset == "Custom":
        custom = custom_fields()
        config, are_complete = custom.config, custom.is_complete
    elif preset == "Classroom":
        config = _CLASSROOM
    else:
        config = TrainingConfig(pretokenizer="cl100k" if preset == "GPT-4 style" else "gpt2")
    start = _start_of(config, training)
    room = st.container(gap="xsmall")
    size = _choose_size(preset, start)
    if size is not None:
        config = replace(config, vocab_size=size)
        try:
            check_config(config)
        except BpeError as error:
            st.error(plain_markdown(str(error), 600))
            size = None
        else:
            room.markdown(
                _size_sentence(size, start), width="content", help=explain("Token", "Special token")
            )
    works = _show_cuts(config.pretokenizer, training, preset == "Custom")
    return config if works and are_complete and size is not None else None


def _symbols_seen(config: TrainingConfig, training: Corpus | None) -> frozenset[bytes]:
    if training is None:
        return frozenset()
    return symbols_seen(training, training.sha256, config.base)


def _start_of(config: TrainingConfig, training: Corpus | None) -> _Start:
    all_bytes = config.base == "bytes" and config.alphabet == "full"
    n_base = 256 if all_bytes else len(_symbols_seen(config, training))
    n_marker = int(config.end_of_word is not None)
    return _Start(config.base, n_base, len(config.special_tokens), n_marker)


def _choose_size(preset: str, start: _Start) -> int | None:
    label = "Vocabulary size"
    if preset == "Custom":
        limits = Limits(
            least=start.total,
            most=_LARGEST_SIZE,
            why_least=f"A vocabulary starts with {' + '.join(start.parts)}; each merge adds one.",
            why_most="The pages show vocabularies up to this size, four times the largest in use. "
            "`python -m bpe_core train` can train larger ones.",
        )
        return whole_number(
            label,
            limits,
            _BYTE_SIZE,
            key="settings_vocab_size",
            help="The number of tokens: base symbols, special tokens, the marker, and one for "
            f"each merge. {TOKEN}",
        )
    if preset == "Classroom":
        sizes = [start.total + merges for merges in _CLASSROOM_MERGES]
        first = start.total + _CLASSROOM_MERGE_COUNT
        # The choices depend on the corpus, so the slider's key does too.
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


def _size_sentence(size: int, start: _Start) -> str:
    parts = " + ".join([*start.parts, f"{size - start.total:,} merges"])
    return f"Vocabulary size **{size:,}** :gray[= {parts}]"


def _show_cuts(pretokenizer: str, training: Corpus | None, is_custom: bool) -> bool:
    st.markdown("Cuts made before training. No merge crosses a gap.", help=explain("Pre-token"))
    if pretokenizer == EMPTY_REGEX:
        st.error("Write a pattern, or choose the pre-tokenizer “none”.")
        return False
    try:
        cutter = get_pretokenizer(pretokenizer)
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
        return False
    if training is not None and training.word_counts is not None:
        pretoken_strip(key="cuts", pretokens=list(training.word_counts)[:16])
        st.markdown(":gray[:small[Weighted words are already pre-tokens, so they are not cut.]]")
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
        st.markdown(":gray[:small[White space is left out, so no token contains it.]]")
    return True
