"""Mark figures that are of a sample, and show the progress of the whole text."""

from __future__ import annotations

from typing import Final

import streamlit as st

from ui.compare.compared import ComparedText, works
from ui.look.labels import plain_markdown, size_text
from ui.work.background_card import show_ended, watch_work

NEEDS_WHOLE: Final = "Only with the figures of the whole text."


def whole_text_card(compared: ComparedText) -> None:
    """Mark the figures as those of a sample, and show the progress of the whole text."""
    with st.container(border=True, key="compare_whole"):
        status = compared.status
        if compared.comparison is not None:
            st.markdown(f"**First figure, {sample_words(compared)}.**")
        if status is None:
            st.markdown(f":gray[{plain_markdown(compared.problem, 600)}]")
        elif status.is_live:
            watch_work(works(), status.id, "Whole text", key="compare_whole", written=size_text)
        else:
            show_ended(works(), status, "comparison of the whole text", key="compare_whole")


def sample_words(compared: ComparedText) -> str:
    """Return the size of the sample and of the whole text."""
    return f"from a sample of {size_text(compared.corpus.n_bytes)} of {size_text(compared.n_bytes)}"
