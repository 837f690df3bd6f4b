"""The words that longest match cuts otherwise than a tokenizer's merges, looked for once."""

from __future__ import annotations

import streamlit as st

from bpe_core.lab.contenders import Differences, differences
from bpe_core.tokenizer.tokenizer import Tokenizer


@st.cache_resource(max_entries=8, show_spinner="Looking for words that longest match cuts apart")
def longest_match_differences(text: str, fingerprint: str, _tokenizer: Tokenizer) -> Differences:
    """Return where longest match departs from the merges; kept by text and tokenizer."""
    return differences(_tokenizer, text)
