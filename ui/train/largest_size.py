"""Draw the largest vocabulary size that a corpus can reach."""

from __future__ import annotations

import streamlit as st

from bpe_core.runs.largest_size import LargestSize
from bpe_core.types import TrainingConfig
from ui.run import corpus_summary
from ui.train.size_field import MAX_SIZE


def show_largest_size(training: corpus_summary.CorpusPart, config: TrainingConfig) -> str | None:
    """Show the largest vocabulary this corpus can fill, if known.

    Return a sentence on where training will stop if the chosen size is larger.
    """
    with st.spinner("Finding the largest size"):
        found = corpus_summary.largest_size(training, config)
    if found is None:
        return None
    st.markdown(f":gray[:small[{largest_sentence(found)}]]")
    return early_stop_sentence(found, config.vocab_size)


def largest_sentence(found: LargestSize) -> str:
    """Return a sentence on the largest vocabulary this corpus can fill.

    >>> largest_sentence(LargestSize(286, is_exact=True))
    'This text reaches 286.'
    >>> largest_sentence(LargestSize(39_728, is_exact=False))
    'This text reaches fewer than 39,729.'
    >>> largest_sentence(LargestSize(1_331_650, is_exact=False))
    'This text is large enough for any size.'
    """
    if found.size >= MAX_SIZE:
        return "This text is large enough for any size."
    if found.is_exact:
        return f"This text reaches {found.size:,}."
    return f"This text reaches fewer than {found.size + 1:,}."


def early_stop_sentence(found: LargestSize | None, wanted: int) -> str | None:
    """Return where training will stop before the wanted size; None unless that is certain.

    >>> early_stop_sentence(LargestSize(286, is_exact=True), 4_096)
    'Training will stop at 286 tokens: then no pair is left that may merge.'
    >>> early_stop_sentence(LargestSize(286, is_exact=True), 286)
    """
    if found is None or wanted <= found.size:
        return None
    where = f"at {found.size:,}" if found.is_exact else f"before {found.size + 1:,}"
    return f"Training will stop {where} tokens: then no pair is left that may merge."
