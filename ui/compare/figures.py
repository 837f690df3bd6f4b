"""Draw the figures of a comparison as tables and a chart, and what tokenizers cost.

Costs are at the visitor's own price, context window and model width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

import bpe_core
from bpe_core.comparison import Comparison, Rates, TokenizerMetrics, Usage, embedding_rows
from ui.compare.compared import ComparedText
from ui.compare.comparison_charts import kind_bars
from ui.compare.wording import COVERED_BYTES, COVERED_CHARACTERS, FIGURES, HELD_OUT
from ui.components import ChartPicture, FigureRow, figure_row, figure_table, format_figures
from ui.host import cached
from ui.look import CONFIG, counted, plain_markdown
from ui.run import csv_table, offer_csv, offer_pictures
from ui.shell import frame
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

_MEANINGS = {definition.name: definition.line for definition in FIGURES}
_MAX_ROWS_NEXT_TO_CHART = 4
KINDS = ("words and numbers", "punctuation", "white space")

_TRAINING = "the training text"
COLUMNS: Final = (1, 3)
"""The fields and the table, in this part of the page."""
_embedding_rows = cached()(embedding_rows)


def figure_rows(comparison: Comparison) -> list[FigureRow]:
    """Return the figures of all tokenizers, marking the best one of each row."""
    rows = [
        _row("Tokens", comparison, lambda m: m.n_tokens, "{:,}", -1),
        *_per_token(comparison),
        _row("Tokens per word", comparison, lambda m: m.tokens_per_word, "{:.3f}", -1),
        _row("Words kept whole", comparison, lambda m: m.share_of_words_whole, "{:.1%}", 1),
        _row("Rényi efficiency", comparison, lambda m: m.renyi_efficiency, "{:.3f}", 0),
        _row("Vocabulary", comparison, lambda m: m.vocab_size, "{:,}", 0),
        _row("Only in this vocabulary", comparison, lambda m: m.n_exclusive, "{:,}", 0),
        _row("Uses of those tokens", comparison, lambda m: m.n_tokens_exclusive, "{:,}", 0),
    ]
    if any(m.uncovered_bytes for m in comparison.rows):
        rows.append(_row("Bytes in no token", comparison, lambda m: m.uncovered_bytes, "{:,}", -1))
    return rows


def _per_token(comparison: Comparison) -> list[FigureRow]:
    """Return the rows per token: of all text, or of covered text if some is left out."""
    if any(m.uncovered_bytes for m in comparison.rows):
        return [
            _row(COVERED_BYTES, comparison, lambda m: m.covered_bytes_per_token, "{:.2f}", 1),
            _row(
                COVERED_CHARACTERS,
                comparison,
                lambda m: m.covered_characters_per_token,
                "{:.2f}",
                1,
            ),
        ]
    return [
        _row("Bytes per token", comparison, lambda m: m.bytes_per_token, "{:.2f}", 1),
        _row("Characters per token", comparison, lambda m: m.characters_per_token, "{:.2f}", 1),
    ]


def text_size(comparison: Comparison) -> str:
    """Return how much text the figures are based on."""
    n = comparison.n_documents
    documents = f"{n:,} {'document' if n == 1 else 'documents'}, " if n else ""
    return f"{documents}{counted(comparison.n_bytes, 'byte')}"


def shared_sentence(comparison: Comparison) -> str:
    """Return how many tokens all vocabularies share, as a sentence."""
    n, all_of_them = comparison.n_shared, "both" if len(comparison.rows) == 2 else "all"
    tokens = "token is" if n == 1 else "tokens are"
    return f"{n:,} {tokens} in {all_of_them} vocabularies, special tokens not counted."


def _row(
    name: str,
    comparison: Comparison,
    figure: Callable[[TokenizerMetrics], float],
    shape: str,
    direction: int,
) -> FigureRow:
    figures = format_figures(map(figure, comparison.rows), shape)
    # A smaller count is not better if it leaves text out.
    is_fair = name == "Bytes in no token" or not any(m.uncovered_bytes for m in comparison.rows)
    return figure_row(name, figures, direction if is_fair else 0, _MEANINGS[name])


def figures_part(
    stored: StoredRun, compared: ComparedText, members: Sequence[Member], where: str
) -> None:
    """Draw the figures, and where the tokens go."""
    comparison, names = compared.comparison, [member.name for member in members]
    if comparison is None:
        return
    if len(members) > _MAX_ROWS_NEXT_TO_CHART:
        left, right = st.container(), st.container()
    else:
        left, right = st.columns([3, 2], gap="large")
    whole = "all " if compared.pending is None else ""
    with left:
        st.header(
            f"On {whole}{where}",
            anchor=False,
            help=f"{text_size(comparison)}. {shared_sentence(comparison)}",
        )
        figure_table(
            names,
            figure_rows(comparison),
            caption="Figures of the tokenizers",
            key="compare_figures",
        )
    with right:
        st.header("Where the tokens go", anchor=False)
        kinds = [tuple(row.kinds) for row in comparison.rows]
        figure = kind_bars(KINDS, list(zip(names, kinds, strict=True)), theme=frame.theme_type())
        st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_kinds")
    with st.container(horizontal=True):
        offer_csv(
            lambda: figures_csv(comparison, members, compared.corpus.sha256),
            "figures.csv",
            key="compare_figures_csv",
            help="One line per tokenizer, with every count and ratio, and the text’s SHA-256.",
        )
        picture = ChartPicture(
            "compare_kinds", "PNG", "Where the tokens go", f"On {whole}{where}", "token-kinds.png"
        )
        offer_pictures([picture], key="compare_kinds_picture")
        st.space("stretch")
        add_button(stored)


def figures_csv(comparison: Comparison, members: Sequence[Member], text_sha256: str) -> bytes:
    """Return every figure of each tokenizer as CSV, one line each."""
    figures = [row.to_dict() for row in comparison.rows]
    return csv_table(
        ["tokenizer", "fingerprint", "text sha256", *figures[0], "bpe_core"],
        [
            [
                member.name,
                member.encoder.fingerprint,
                text_sha256,
                *row.values(),
                bpe_core.__version__,
            ]
            for member, row in zip(members, figures, strict=True)
        ],
    )


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
