"""Draw the figures of a comparison as tables and a chart, and what tokenizers cost.

Costs are at the visitor's own price, context window and model width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import streamlit as st

import bpe_core
from bpe_core.comparison import (
    Comparison,
    Rates,
    Structure,
    TokenizerMetrics,
    Usage,
    embedding_rows,
    structure,
)
from bpe_core.corpus import load_sample
from ui.compare.compared import ComparedText
from ui.compare.comparison_charts import kind_bars
from ui.compare.wording import COVERED_BYTES, COVERED_CHARACTERS, FIGURES, HELD_OUT
from ui.components import (
    ChartPicture,
    FigureRow,
    SymbolRow,
    Tile,
    Tiles,
    draw_symbol_rows,
    figure_row,
    figure_table,
    format_figures,
)
from ui.host import cached
from ui.look import CONFIG, counted, plain_markdown, plain_text
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
    shelf,
    text_rows,
    window_rows,
)
from ui.work import Progress, Status, Task, WorkKind, queue, show_work

STRUCTURE: Final = WorkKind[Progress, Mapping[str, Structure]]("structure", max_per_visitor=4)
_STRUCTURE_SAMPLE: Final = "multilingual"
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


def structure_section(members: Sequence[Member]) -> None:
    """Draw how the tokenizers cut numbers, code and characters."""
    st.header(
        "How numbers, code and characters are cut",
        anchor=False,
        help="These figures describe a tokenizer and rank none: a model can learn most cuts that "
        "are always the same. The numbers and the code are the same for all, and the characters "
        "are those of a sample of many languages.",
    )
    status = measure_structures(members)
    show_work(status, unit="Tokenizers", what="measurement", key="structure")
    if status.result is None:
        return
    names = [member.name for member in members]
    found = [status.result[member.encoder.fingerprint] for member in members]
    figure_table(
        names, structure_rows(found), caption="How what has a structure is cut", key="structure"
    )
    st.markdown(":gray[The first number and the first name that each of them cuts:]")
    rows = [
        SymbolRow(plain_text(name), (Tiles(tuple(Tile(part.encode()) for part in parts)),))
        for name, each in zip(names, found, strict=True)
        for parts in _first_examples(each)
    ]
    draw_symbol_rows(rows, key="structure_examples", caption="Numbers and names that are cut")


def _first_examples(found: Structure) -> list[tuple[str, ...]]:
    """Return the parts of the first number and of the first name that are cut."""
    first: dict[bool, tuple[str, ...]] = {}
    for text, parts in found.examples:
        first.setdefault(text.isdecimal(), parts)
    return [*first.values()]


def measure_structures(
    members: Sequence[Member],
) -> Status[Progress, Mapping[str, Structure]]:
    """Return the status of the measurement, starting it if needed; results are by fingerprint."""
    encoders = {member.encoder.fingerprint: member.encoder for member in members}

    def work(task: Task[Progress]) -> Mapping[str, Structure] | None:
        found: dict[str, Structure] = {}
        for fingerprint, encoder in encoders.items():
            task.report(Progress(len(found), len(encoders)))
            if task.is_cancelled:
                return None
            found[fingerprint] = structure(encoder, _sample_text())
        return found

    return queue.begin(STRUCTURE, _id_of(members), work)


def measured_structures(members: Sequence[Member]) -> Mapping[str, Any] | None:
    """Return the figures by the names of the tokenizers; None if they were not measured."""
    status = queue.find(STRUCTURE, _id_of(members))
    if status is None or status.result is None:
        return None
    return {each.name: status.result[each.encoder.fingerprint].to_dict() for each in members}


def _id_of(members: Sequence[Member]) -> str:
    return " ".join(dict.fromkeys(member.encoder.fingerprint for member in members))


@cache
def _sample_text() -> str:
    return "".join(load_sample(_STRUCTURE_SAMPLE).documents)


def structure_rows(found: Sequence[Structure]) -> list[FigureRow]:
    """Return the figures on structure, none of which is better than another."""

    def row(name: str, values: Iterable[float | None], shape: str, meaning: str) -> FigureRow:
        numbers = (math.nan if value is None else value for value in values)
        return figure_row(name, format_figures(numbers, shape), 0, meaning)

    return [
        row(
            "Ways to cut 0 to 9999",
            (each.number_cuts for each in found),
            "{:,}",
            "By the lengths of the parts; 4 if all numbers with the same count of digits are cut "
            "alike.",
        ),
        row(
            "Numbers in groups of three",
            (each.groups_of_three for each in found),
            "{:.0%}",
            "Of 600 numbers of 4 to 9 digits, those cut where commas would be, and nowhere else.",
        ),
        row(
            "Agreement with those groups",
            (each.group_f1 for each in found),
            "{:.0%}",
            "The harmonic mean of the share of borders that are such places, and of the share of "
            "such places that are borders.",
        ),
        row(
            "Names in code kept whole",
            (each.identifiers_whole for each in found),
            "{:.0%}",
            "Names of at least two characters that are one token, with a space before or not.",
        ),
        row(
            "Indentations kept whole",
            (each.indentation_whole for each in found),
            "{:.0%}",
            "The last space may go with the word after it.",
        ),
        row(
            "Characters cut",
            (each.characters_cut for each in found),
            "{:.0%}",
            "Of the characters beyond ASCII in a sample of many languages, those that a border "
            "cuts.",
        ),
    ]


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
    """Return the costs of the text compared, and of the training text for the run's own tokenizer.

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
        f"for {shelf.in_sentence(members[0].name)}."
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
