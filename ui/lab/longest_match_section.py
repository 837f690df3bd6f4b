"""Draw the words of a text that longest match cuts differently from BPE."""

from __future__ import annotations

import streamlit as st

from bpe_core.tokenizer.tokenizer import Tokenizer
from ui.components.symbol_rows import symbol_rows
from ui.lab import words
from ui.look.glossary import explain
from ui.tokenizers.longest_match import longest_match_differences


def draw_longest_match(text: str, tokenizer: Tokenizer) -> None:
    """Draw the most frequent words that are cut differently, with both cuts."""
    st.header("Longest match is not BPE", anchor=False)
    found = longest_match_differences(text, tokenizer.fingerprint, tokenizer)
    st.markdown(words.differing_sentence(found), help=explain("Pre-token"))
    rows = words.differing_rows(found, tokenizer)
    if rows:
        symbol_rows(
            rows,
            key="differing_words",
            caption="Words as cut by the merges and by longest match",
            columns=("By the merges", "By longest match"),
        )
    if len(found.words) > len(rows):
        st.markdown(f":gray[{len(rows)} of {len(found.words):,} words, most frequent first.]")
