"""The settings of Train one by one, for whoever wants none of the presets."""

from __future__ import annotations

import streamlit as st

from bpe_core.pretokenizers import PRETOKENIZER_NAMES
from bpe_core.types import TrainingConfig

_CUSTOM_REGEX = "your own regular expression"
EMPTY_REGEX = "regex:"
"""What a pre-tokenizer is called whose pattern has not been written yet."""


def custom_fields() -> TrainingConfig:
    """Draws a field for each setting save the size; the configuration that they make."""
    left, right = st.columns(2)
    with left:
        name = st.selectbox(
            "Pre-tokenizer",
            [*PRETOKENIZER_NAMES, _CUSTOM_REGEX],
            key="settings_pretokenizer",
            help="Where the text is cut before training. No merge crosses a cut.",
            persist_state="session",
        )
        base = st.segmented_control(
            "Base symbols",
            ("bytes", "characters"),
            default="bytes",
            required=True,
            key="settings_base",
            help="Bytes can spell any text; characters only those that the corpus has.",
            persist_state="session",
        )
        tie_break = st.segmented_control(
            "Ties go to",
            ("smallest-pair", "first-seen"),
            default="smallest-pair",
            required=True,
            key="settings_tie_break",
            help="Among pairs that occur equally often: the lower ids, as Hugging Face does, or "
            "the pair met first.",
            persist_state="session",
        )
        min_frequency = st.number_input(
            "Least count of a pair",
            0,
            1_000_000_000,
            0,
            key="settings_min_frequency",
            help="Training ends when no pair occurs so often. 0 and 1: any pair that occurs.",
            persist_state="session",
        )
    with right:
        special = st.text_area(
            "Special tokens, one a line",
            "<|endoftext|>",
            key="settings_special_tokens",
            height=68,
            help="They take the first ids and are never merged.",
            persist_state="session",
        )
        alphabet = st.segmented_control(
            "Byte alphabet",
            ("full", "seen"),
            default="full",
            required=True,
            key="settings_alphabet",
            help="All 256 bytes, or only those that the corpus has.",
            disabled=base == "characters",
            persist_state="session",
        )
        end_of_word = st.text_input(
            "End-of-word marker",
            key="settings_end_of_word",
            placeholder="none",
            help="A symbol added to each pre-token, such as </w>. Leave empty for none.",
            persist_state="session",
        )
        max_token_bytes = st.number_input(
            "Longest token, in bytes",
            0,
            1_000_000,
            0,
            key="settings_max_token_bytes",
            help="Pairs that would make a longer token are passed over. 0: no limit.",
            persist_state="session",
        )
    if name == _CUSTOM_REGEX:
        pattern = st.text_input(
            "Regular expression",
            r"\p{L}+|\p{N}{1,3}|\s+",
            key="settings_pattern",
            help="Each match is a pre-token; so is the text between two matches.",
            persist_state="session",
        )
        name = f"{EMPTY_REGEX}{pattern or ''}"
    return TrainingConfig(
        pretokenizer=name,
        base="characters" if base == "characters" else "bytes",
        alphabet="seen" if alphabet == "seen" or base == "characters" else "full",
        end_of_word=end_of_word or None,
        special_tokens=tuple(line for line in (special or "").split("\n") if line),
        min_frequency=int(min_frequency),
        tie_break="first-seen" if tie_break == "first-seen" else "smallest-pair",
        max_token_bytes=int(max_token_bytes) or None,
    )
