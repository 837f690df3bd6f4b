"""Compare what tokenizers cost at the visitor's own price, context window and model width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import streamlit as st

from bpe_core.comparison import Comparison, Rates, Usage, embedding_rows
from ui.compare.figures import text_size
from ui.compare.verdict_words import HELD_OUT
from ui.components import FigureRow, figure_table
from ui.host import cached
from ui.look import counted, plain_markdown
from ui.run import csv_table, offer_csv
from ui.storage import StoredRun
from ui.tokenizers import (
    COSTS_SAY,
    GPT2,
    Member,
    add_button,
    ask_for_rates,
    corpus_rows,
    embedding_table_rows,
    money,
    text_rows,
    window_rows,
)

_TRAINING = "the training text"
COLUMNS: Final = (1, 3)
"""The fields and the table, in this part of the page."""


class CostTable(NamedTuple):
    """The costs as the page shows them."""

    rows: Sequence[FigureRow]
    note: str
    """The rates that were typed, and which texts were counted."""


def costs_part(
    comparison: Comparison, members: Sequence[Member], stored: StoredRun, where: str
) -> None:
    """Draw the fields and the table of costs."""
    left, right = st.columns(COLUMNS, gap="large")
    with left:
        header = st.container()
        rates = ask_for_rates()
    table = cost_table(comparison, members, stored, where, rates)
    header.header(
        "What it costs",
        anchor=False,
        help="No prices are built in: enter your model’s. What you leave empty is not shown. "
        f"{plain_markdown(table.note, 2_000)}",
    )
    names = [member.name for member in members]
    with right:
        figure_table(names, table.rows, caption="What it costs", key="compare_costs")
        with st.container(horizontal=True):
            offer_csv(
                lambda: csv_table(["", *names], [[row.name, *row.figures] for row in table.rows]),
                "costs.csv",
                key="compare_costs_csv",
                help="The rows of this table.",
            )
            st.space("stretch")
            add_button(stored)


def cost_table(
    comparison: Comparison, members: Sequence[Member], stored: StoredRun, where: str, rates: Rates
) -> CostTable:
    """Return the costs of the text compared, and of the training text for your tokenizer.

    What the corpus costs is estimated if the text compared is a part of it that was held out.
    """
    measured = comparison.rows
    usages = [
        Usage(row.n_tokens, row.n_bytes - row.unknown_bytes, _embedding_rows(member.encoder))
        for row, member in zip(measured, members, strict=True)
    ]
    fair = not any(row.uncovered_bytes for row in measured)
    # A share of a window is saved only by a tokenizer that spells the same text.
    comparable = [
        None if row.unknown_bytes else usage for row, usage in zip(measured, usages, strict=True)
    ]
    place = next((i for i, member in enumerate(members) if member.key == GPT2), 1)
    other = comparable[place]
    training = [int(stored.run.tokens_after[-1]), *[None] * (len(members) - 1)]
    corpus_bytes = stored.run.corpus_bytes + stored.held_out.n_bytes
    complete = [
        None if row.uncovered_bytes else usage for row, usage in zip(measured, usages, strict=True)
    ]
    how = stored.held_out.how
    is_held_out = where.endswith(HELD_OUT) and (how is None or how.by != "file")
    rows = [
        *text_rows(where, [usage.n_tokens for usage in usages], rates, fair=fair),
        *text_rows(_TRAINING, training, rates, fair=False),
        *(corpus_rows(complete, corpus_bytes, rates, fair=fair) if is_held_out else ()),
        *window_rows(
            comparable,
            rates,
            None if other is None else (members[place].name, other),
            fair=fair,
        ),
        *embedding_table_rows([usage.embedding_rows for usage in usages], rates),
    ]
    texts = (
        f"{where[0].upper()}{where[1:]}: {text_size(comparison)}. The training text has "
        f"{counted(stored.run.corpus_bytes, 'byte')}; its tokens are known from training, so only "
        "for your tokenizer."
    )
    if is_held_out and rates.price is not None:
        texts += (
            " The corpus, training and held-out text together, has "
            f"{counted(corpus_bytes, 'byte')}; its cost is estimated from {where}."
        )
    unfair = "" if fair else " A tokenizer leaves text out, so no cost is marked as the best."
    return CostTable(rows, f"{rates_words(rates)}{texts} {COSTS_SAY}{unfair}")


def rates_words(rates: Rates) -> str:
    """Return the rates that the costs are for; empty without any.

    >>> rates_words(Rates(price=2.5, context_window=8_000))
    'At 2.50 per million tokens, a context window of 8,000 tokens. '
    """
    parts: list[str] = []
    if rates.price is not None:
        parts.append(f"{money(rates.price)} per million tokens")
    if rates.context_window is not None:
        parts.append(f"a context window of {rates.context_window:,} tokens")
    if rates.model_width is not None:
        parts.append(f"a model width of {rates.model_width:,}")
    return f"At {', '.join(parts)}. " if parts else ""


_embedding_rows = cached()(embedding_rows)
