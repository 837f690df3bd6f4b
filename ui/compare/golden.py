"""Show the golden texts behind GPT-2's badge, each with its ids and their source."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bpe_core.tokenizer.gpt2 import GoldenCase, gpt2, gpt2_golden_cases
from ui.components.symbol_rows import SymbolRow, Tile, Tiles, symbol_rows
from ui.look.labels import plain_markdown

_MOST_TILES = 16


def golden_part() -> None:
    """Draw how many golden texts are exact, and all of them in an expander."""
    cases = gpt2_golden_cases()
    exact = sum(case.is_exact for case in cases)
    with st.expander(f"GPT-2 exact: {exact} of {len(cases)} golden texts, computed here"):
        for number, (provenance, n) in enumerate(provenances(cases).items(), start=1):
            texts = "text" if n == 1 else "texts"
            st.markdown(f"**[{number}]** {n} {texts}: {plain_markdown(provenance, 400)}.")
        symbol_rows(
            golden_rows(cases),
            key="compare_golden",
            caption="Golden texts in GPT-2’s tokens, with their ids",
            columns=("The text in its tokens",),
        )


def provenances(cases: Sequence[GoldenCase]) -> dict[str, int]:
    """Return each source of ids with its number of texts."""
    counts: dict[str, int] = {}
    for case in cases:
        counts[case.provenance] = counts.get(case.provenance, 0) + 1
    return counts


def golden_rows(cases: Sequence[GoldenCase]) -> list[SymbolRow]:
    """Return a row per text: its published ids as tiles and numbers, and whether they match."""
    vocab = gpt2().vocab
    numbers = {provenance: n for n, provenance in enumerate(provenances(cases), start=1)}
    rows: list[SymbolRow] = []
    for case in cases:
        shown = case.ids[:_MOST_TILES]
        left = len(case.ids) - len(shown)
        ids = " ".join(map(str, shown)) + (f" and {left:,} more" if left else "")
        rows.append(
            SymbolRow(
                label=f"{'✓' if case.is_exact else '✗'} {case.group} [{numbers[case.provenance]}]",
                cells=(Tiles(tuple(Tile(vocab[id], id) for id in shown)),),
                note=ids,
            )
        )
    return rows
