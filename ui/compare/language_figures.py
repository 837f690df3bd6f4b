"""Describe what languages cost, in sentences and table rows; the core computes the figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from bpe_core.comparison import LanguageCosts, ScriptMerges, TokenizerMetrics, merges_per_script
from bpe_core.corpus import ParallelText
from ui.compare.definitions import FAIRNESS
from ui.components import FigureRow, figure_row, format_figures
from ui.host import cached
from ui.look import counted
from ui.run import csv_table

PARITY: Final = "Parity"
_MAX_NAMED: Final = 6
_N_STEPS: Final = 4
_MEANINGS: Final = {definition.name: definition.line for definition in FAIRNESS}


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of each language: how to get it, format it and explain it."""

    figure: Callable[[LanguageCosts, int], float]
    shape: str
    lead: str
    is_ratio: bool = False
    """Drawn on an axis of factors, with a line at 1."""


TOKENS: Final = "Tokens"
MEASURES: Final[Mapping[str, Measure]] = {
    TOKENS: Measure(
        lambda costs, place: costs.metrics[place].n_tokens or math.nan,
        "{:,.0f}",
        "Tokens for the same sentences: fewer is better.",
    ),
    PARITY: Measure(
        lambda costs, place: costs.parity[place] or math.nan,
        "{:.2f}",
        "Tokens for the same sentences, divided by the tokens that {reference} needs. At 2 a "
        "language pays twice.",
        is_ratio=True,
    ),
    "Tokens per word": Measure(
        lambda costs, place: costs.metrics[place].tokens_per_word,
        "{:.2f}",
        "The average number of tokens in a word. In scripts without spaces, such as Thai, a word "
        "here is a whole phrase.",
    ),
    "Bytes per token": Measure(
        lambda costs, place: costs.metrics[place].bytes_per_token,
        "{:.2f}",
        "Bytes of the sentences divided by tokens. Scripts differ in bytes per letter: compare "
        "only within one.",
    ),
}


def cheapest_first(costs: LanguageCosts) -> list[int]:
    """Return the places of the languages, the cheapest first."""
    counts = [metrics.n_tokens for metrics in costs.metrics]
    return sorted(range(len(counts)), key=lambda place: counts[place])


def cannot_spell(metrics: TokenizerMetrics) -> bool:
    """Return True if some text is in no token, or only in one that means "unknown"."""
    return metrics.unknown_bytes > 0


def tokens_sentence(costs: Sequence[LanguageCosts], names: Sequence[str]) -> str:
    """Return the tokens for all sentences, in the order of the tokens; names may be hostile."""
    totals = [one.n_tokens for one in costs]
    fewest_first = sorted(range(len(costs)), key=lambda place: totals[place])
    parts = [
        f"{totals[place]:,} with {in_sentence(names[place])}" for place in fewest_first[:_MAX_NAMED]
    ]
    if others := [totals[place] for place in fewest_first[_MAX_NAMED:]]:
        parts.append(in_others(others))
    return f"Tokens for the same sentences in all languages: {', '.join(parts)}."


def parity_warning(
    texts: Sequence[ParallelText], costs: Sequence[LanguageCosts], names: Sequence[str]
) -> str:
    """Return what the ratios hide: a tokenizer that serves the reference badly has low ones."""
    reference = texts[costs[0].reference].name
    warning = f"a ratio to a badly served {reference} flatters"
    places = range(len(costs))
    most_even = min(places, key=lambda place: costs[place].mean_parity)
    fewest = min(places, key=lambda place: costs[place].n_tokens)
    if most_even == fewest:
        return f"Mind that {warning}."
    pairs = zip(costs[fewest].metrics, costs[most_even].metrics, strict=True)
    n = sum(one.n_tokens <= other.n_tokens for one, other in pairs)
    return (
        f"The lowest ratios are with {in_sentence(names[most_even])}, but "
        f"{in_sentence(names[fewest])} needs fewer tokens, or as many, in {n:,} of {len(texts):,} "
        f"languages: {warning}."
    )


def summary_rows(costs: Sequence[LanguageCosts]) -> list[FigureRow]:
    """Return the tokens for all languages, and then how evenly each tokenizer charges them.

    Only counts of tokens mark a best figure: a tokenizer that needs many tokens in every language
    is even, too, and that makes it no better.
    """
    by_language = zip(*(one.metrics for one in costs), strict=True)
    fewest = [min(metrics.n_tokens for metrics in column) for column in by_language]
    n_fewest = [
        sum(metrics.n_tokens == least for metrics, least in zip(one.metrics, fewest, strict=True))
        for one in costs
    ]
    rows = [
        _row("Tokens in all languages", [one.n_tokens for one in costs], "{:,}", -1),
        _row("Languages with the fewest tokens", n_fewest, "{:,}", 1),
        _row("Mean parity", [one.mean_parity for one in costs], "{:.2f}"),
        _row("Highest parity", [max(one.parity) for one in costs], "{:.2f}"),
        _row("Gini coefficient", [one.gini for one in costs], "{:.3f}"),
        _row("Rényi efficiency", [one.renyi_efficiency for one in costs], "{:.3f}"),
    ]
    if any(cannot_spell(metrics) for one in costs for metrics in one.metrics):
        # A tokenizer that leaves text out needs fewer tokens, which does not make it better.
        rows = [replace(row, better=()) for row in rows]
        n = [sum(cannot_spell(metrics) for metrics in one.metrics) for one in costs]
        name = "Languages it cannot spell"
        rows.append(FigureRow(name, tuple(map(str, n)), meaning=_MEANINGS[name]))
    return rows


def in_others(counts: Sequence[int]) -> str:
    """Return the end of a sentence on figures with several tokenizers: those that are not named.

    >>> in_others([7]), in_others([7, 5, 6])
    ('7 with one more', '5 to 7 with 3 more')
    """
    if len(counts) == 1:
        return f"{counts[0]:,} with one more"
    return f"{min(counts):,} to {max(counts):,} with {len(counts)} more"


def in_sentence(name: str) -> str:
    """Return a tokenizer's name as it stands within a sentence."""
    return "your tokenizer" if name == "Your tokenizer" else name


def _row(name: str, values: Sequence[float], shape: str, direction: int = 0) -> FigureRow:
    return figure_row(name, format_figures(values, shape), direction, _MEANINGS[name])


def language_rows(
    texts: Sequence[ParallelText], costs: Sequence[LanguageCosts], measure: Measure
) -> list[FigureRow]:
    """Return rows with one measure of every language under every tokenizer."""
    return [
        figure_row(
            text.name, format_figures((measure.figure(c, place) for c in costs), measure.shape)
        )
        for place, text in enumerate(texts)
    ]


def language_csv(
    texts: Sequence[ParallelText], costs: Sequence[LanguageCosts], names: Sequence[str]
) -> bytes:
    """Return all measures as CSV, one line per language and tokenizer."""
    # A reader of the file must know the reference language of the parity.
    parity = f"parity: tokens for each token of {texts[costs[0].reference].name}"
    titles = [parity if title == PARITY else title.lower() for title in MEASURES]
    return csv_table(
        ["language", "scripts", "tokenizer", "bytes", *titles],
        [
            [
                text.name,
                " ".join(text.scripts),
                name,
                one.metrics[place].n_bytes,
                *(float(measure.figure(one, place)) for measure in MEASURES.values()),
            ]
            for place, text in enumerate(texts)
            for one, name in zip(costs, names, strict=True)
        ],
    )


def parallel_table(texts: Sequence[ParallelText]) -> bytes:
    """Return parallel sentences as a table that `read_parallel` reads, one column per language."""
    columns = [text.sentences for text in texts]
    return csv_table([text.name for text in texts], zip(*columns, strict=True))


cached_script_merges = cached(spinner="Counting the merges of each script")(merges_per_script)


def scripts_csv(spent: ScriptMerges) -> bytes:
    """Return one tokenizer's merges per script by quarter of training as CSV."""
    n_merges = spent.after.shape[1] - 1
    steps = sorted({n_merges * part // _N_STEPS for part in range(1, _N_STEPS + 1)} - {0})
    return csv_table(
        ["script", *(f"after {counted(step, 'merge')}" for step in steps)],
        [
            [name, *after[steps].tolist()]
            for name, after in zip(spent.names, spent.after, strict=True)
        ],
    )
