"""Draw the figures of a comparison as a table and a chart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

import bpe_core
from bpe_core.comparison import Comparison, TokenizerMetrics
from ui.compare.charts import kind_bars
from ui.compare.compared import ComparedText
from ui.compare.definitions import COVERED_BYTES, COVERED_CHARACTERS, FIGURES
from ui.components import ChartPicture, FigureRow, figure_row, figure_table, format_figures
from ui.look import CONFIG, counted
from ui.run import csv_table, offer_csv, offer_pictures
from ui.shell import frame
from ui.storage import StoredRun
from ui.tokenizers import Member, add_button

_MEANINGS = {definition.name: definition.line for definition in FIGURES}
_MAX_ROWS_NEXT_TO_CHART = 4
KINDS = ("words and numbers", "punctuation", "white space")


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
