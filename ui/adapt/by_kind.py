"""Draw what new tokens gain by kind: words, numbers, punctuation, white space."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.adapting.gains import KindGain, gain_by_kind
from ui.adapt.size_part import Cut
from ui.components.figures import FigureRow, figure_table
from ui.look.labels import share_text
from ui.storage.run_store import StoredRun


def draw_kinds(stored: StoredRun, cut: Cut) -> None:
    """Draw the kinds of the new tokens of a cut run; nothing without any."""
    if cut.kept:
        gains = gain_by_kind(stored.run, cut.domain.tokens, cut.kept)
        draw_kind_gains(gains, cut.domain.title)


def draw_kind_gains(
    gains: Sequence[KindGain], where: str, removed: tuple[int, int] | None = None
) -> None:
    """Draw a table of the kinds of new tokens, with what each saves on a text.

    `removed` are the number of removed tokens and how many tokens that costs.
    """
    total = sum(gain.saved for gain in gains)
    rows = [
        FigureRow(
            gain.kind[0].upper() + gain.kind[1:],
            (
                f"{gain.n_tokens:,}",
                f"{gain.saved:,}",
                share_text(gain.saved, total) if total else "–",
            ),
        )
        for gain in gains
    ]
    if removed is not None:
        n, more = removed
        rows.append(FigureRow("Removed tokens", (f"−{n:,}", f"{-more:,}".replace("-", "−"), "–")))
    st.subheader("What is gained, by kind", anchor=False)
    figure_table(
        ["New tokens", "Tokens saved", "Share"],
        rows,
        caption=f"Tokens saved on {where}, by the kind of the new tokens",
        key="adapt_kinds",
    )
    st.markdown(
        f":small[:gray[On {where}. A new token with a letter counts as a word, whatever else it "
        "holds.]]"
    )
