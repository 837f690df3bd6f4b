"""Draw what new tokens gain by kind: words, numbers, punctuation, white space."""

from __future__ import annotations

import streamlit as st

from bpe_core.adapting.gains import gain_by_kind
from ui.adapt.size_part import Cut
from ui.components.figures import Row, figure_table
from ui.look.labels import share_text
from ui.storage.run_store import StoredRun


def draw_kinds(stored: StoredRun, cut: Cut) -> None:
    """Draw a table of the kinds of new tokens, with what each saves; nothing without any."""
    if not cut.kept:
        return
    gains = gain_by_kind(stored.run, cut.domain.tokens, cut.kept)
    total = sum(gain.saved for gain in gains)
    st.subheader("What is gained, by kind", anchor=False)
    figure_table(
        ["New tokens", "Tokens saved", "Share"],
        [
            Row(
                gain.kind[0].upper() + gain.kind[1:],
                (
                    f"{gain.n_tokens:,}",
                    f"{gain.saved:,}",
                    share_text(gain.saved, total) if total else "–",
                ),
            )
            for gain in gains
        ],
        caption=f"Tokens saved on {cut.domain.title}, by the kind of the new tokens",
        key="adapt_kinds",
    )
    st.markdown(
        f":small[:gray[On {cut.domain.title}. A new token with a letter counts as a word, whatever "
        "else it holds.]]"
    )
