"""Compare languages: what the same sentences cost in each, and which scripts got the merges."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from bpe_core.comparison import LanguageCosts, ScriptMerges, TokenizerMetrics
from bpe_core.corpus import ParallelText, parallel_texts
from bpe_core.errors import BpeError
from bpe_core.trainers import steps_to_draw
from ui.compare import comparison_charts
from ui.compare.compared import (
    NEEDS_WHOLE,
    cached_language_costs,
    compare_languages_on,
    whole_text_card,
)
from ui.compare.wording import FAIRNESS, SCRIPTS
from ui.components import ChartPicture, FigureRow, figure_row, figure_table, format_figures
from ui.host import cached, errors_shown
from ui.look import CONFIG, counted, plain_markdown, plain_text
from ui.run import csv_table, offer_csv, offer_pictures
from ui.shell import (
    LIMIT,
    bound,
    choose_one,
    counted_as_kept,
    frame,
    submitted_files,
    upload_files,
    workspace,
)
from ui.storage import StoredRun, keep_sentences, load_sentences
from ui.tokenizers import Member, add_button, shelf

PARITY: Final = "Parity"
_MAX_NAMED: Final = 6
_N_STEPS: Final = 4
_MEANINGS: Final = {definition.name: definition.line for definition in FAIRNESS}

TOKENS: Final = "Tokens"
cached_script_merges = cached(spinner="Counting the merges of each script")(ScriptMerges.of)
_MAX_DRAWN = 60
_FIRST_REFERENCE = "English"
_REFERENCE_KEY = "reference"
_MERGES = "Merges of scripts"
Costs = tuple[Sequence[ParallelText], Sequence[LanguageCosts]]


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure of each language: how to get it, format it and explain it."""

    figure: Callable[[LanguageCosts, int], float]
    shape: str
    lead: str
    is_ratio: bool = False
    """Drawn on an axis of factors, with a line at 1."""


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
        f"{totals[place]:,} with {shelf.in_sentence(names[place])}"
        for place in fewest_first[:_MAX_NAMED]
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
        f"The lowest ratios are with {shelf.in_sentence(names[most_even])}, but "
        f"{shelf.in_sentence(names[fewest])} needs fewer tokens, or as many, in {n:,} of "
        f"{len(texts):,} languages: {warning}."
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
    """Return parallel sentences as a table for `ParallelText.read`, one column per language."""
    columns = [text.sentences for text in texts]
    return csv_table([text.name for text in texts], zip(*columns, strict=True))


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


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """The visitor's own parallel sentences."""

    id: str | None = None
    """Empty for the sample, None before the page is opened."""


class LanguageChoice(NamedTuple):
    """Which sentences are compared, and against which language; both are a visitor's own words."""

    sentences: str
    """Their id; empty for the sample."""
    reference: str


def chosen_languages() -> LanguageChoice:
    """Return what is chosen, though the part may not be drawn."""
    kept = workspace.get(OwnSentences).id
    sentences = (workspace.query_text("sentences") or "") if kept is None else kept
    return LanguageChoice(sentences, workspace.widget_text(_REFERENCE_KEY))


def compared_languages(choice: LanguageChoice, members: Sequence[Member]) -> Costs | None:
    """Return the chosen sentences and their costs; None if they cannot be compared."""
    try:
        texts = load_sentences(choice.sentences) if choice.sentences else parallel_texts()
        reference = _list_names(texts)
        name = choice.reference if choice.reference in reference else reference[0]
        return texts, cached_language_costs(texts, [member.encoder for member in members], name)
    except BpeError:
        return None


def languages_part(stored: StoredRun, members: Sequence[Member]) -> None:
    """Draw what each language costs under the tokenizers, or the merges of each script."""
    kept = _kept_sentences()
    texts = _texts(kept)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        names = _list_names(texts)
        box = partial(st.selectbox, "Compared with", names, format_func=plain_text, width=200)
        reference = bound(box, key=_REFERENCE_KEY, usable={*names, *map(plain_text, names)})
        besides = [title for title in MEASURES if title != TOKENS]
        beside = choose_one("Second chart", [*besides, _MERGES], key="measure", shows_label=True)
        st.space("stretch")
        with st.popover("Your own sentences", width="content"):
            _own_sentences(kept)
    found = compare_languages_on(texts, [member.encoder for member in members], reference)
    texts, costs = found.texts, found.costs
    if found.pending is not None:
        whole_text_card(found.pending)
    pictures = _costs(texts, costs, members, beside)
    names = [member.name for member in members]
    with st.container(horizontal=True):
        offer_csv(
            lambda: language_csv(texts, costs, names),
            "languages.csv",
            key="compare_languages_csv",
            help="One line per language and tokenizer, with all measures; figures that cannot "
            "be computed are empty."
            if found.pending is None
            else NEEDS_WHOLE,
            disabled=found.pending is not None,
        )
        offer_pictures(pictures, key="compare_languages_pictures")
        st.space("stretch")
        add_button(stored)
    _tables(texts, costs, members, TOKENS if beside == _MERGES else beside)


def _list_names(texts: Sequence[ParallelText]) -> list[str]:
    """Return the names of the languages, the first reference first."""
    return sorted((text.name for text in texts), key=lambda name: name != _FIRST_REFERENCE)


def _costs(
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    members: Sequence[Member],
    beside: str,
) -> list[ChartPicture]:
    """Draw tokens and the chosen measure of each language; return the pictures to download."""
    names = [member.name for member in members]
    order = cheapest_first(costs[0])
    drawn = order[-_MAX_DRAWN:]
    # Their rows are at one height, whichever text is the longer.
    left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
    with left:
        st.markdown(
            plain_markdown(tokens_sentence(costs, names), 1_000),
            help=f"The same {counted(len(texts[0].sentences), 'sentence')} in {len(texts)} "
            "languages; fewer tokens are better.",
        )
        pictures = [_dots(TOKENS, texts, costs, names, drawn)]
    with right:
        if beside == _MERGES:
            _merges(members)
        else:
            lead = MEASURES[beside].lead.format(reference=texts[costs[0].reference].name)
            warning = f":orange[{plain_markdown(parity_warning(texts, costs, names), 600)}]"
            is_ratio = beside == PARITY
            st.markdown(
                warning if is_ratio else plain_markdown(lead, 600),
                help=plain_markdown(lead, 600) if is_ratio else None,
            )
            pictures.append(_dots(beside, texts, costs, names, drawn))
    notes = [f"The {len(drawn)} most expensive of {len(order):,} languages."] * (drawn != order)
    if any(cannot_spell(metrics) for one in costs for metrics in one.metrics):
        notes.append(
            "Hollow: the tokenizer cannot spell all of the sentences, so it needs fewer tokens."
        )
    if notes:
        st.markdown(f":gray[{' '.join(notes)}]")
    return pictures


def _tables(
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    members: Sequence[Member],
    title: str,
) -> None:
    names = [member.name for member in members]
    with st.expander("In tables"):
        figure_table(names, summary_rows(costs), caption="Fairness", key="compare_fairness")
        st.subheader(f"{title} of every language", anchor=False)
        figure_table(
            names,
            language_rows(texts, costs, MEASURES[title]),
            caption=f"{title} of every language",
            key="compare_language_rows",
        )


def _dots(
    title: str,
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    names: Sequence[str],
    drawn: Sequence[int],
) -> ChartPicture:
    """Draw a measure of each language, and return the picture to download."""
    measure = MEASURES[title]
    figure = comparison_charts.language_dots(
        [texts[place].name for place in drawn],
        [
            (
                name,
                [measure.figure(one, place) for place in drawn],
                [cannot_spell(one.metrics[place]) for place in drawn],
            )
            for name, one in zip(names, costs, strict=True)
        ],
        unit=title.lower(),
        shape=measure.shape,
        is_ratio=measure.is_ratio,
        theme=frame.theme_type(),
    )
    key = f"compare_languages_{'tokens' if title == TOKENS else 'beside'}"
    st.plotly_chart(figure, theme=None, config=CONFIG, key=key)
    lead = measure.lead.format(reference=texts[costs[0].reference].name)
    name = f"{title.lower().replace(' ', '-')}-of-languages.png"
    return ChartPicture(key, f"PNG: {title.lower()}", f"{title} of every language", lead, name)


def _merges(members: Sequence[Member]) -> None:
    """Draw the merges of each script, as a chart, a picture and a table to download."""
    # The names are distinct, and the run's own tokenizer is always among them.
    known = {m.name: merges for m in members if (merges := m.encoder.plain) is not None}
    name = st.selectbox(
        "Where the merges went",
        list(known),
        format_func=plain_text,
        width=320,
        key="compare_merges_of",
        help=SCRIPTS.meaning,
    )
    tokenizer = known[name]
    if not tokenizer.n_merges:
        st.markdown(":gray[This tokenizer has no merges.]")
        return
    spent, steps = cached_script_merges(tokenizer), steps_to_draw(tokenizer.n_merges)
    figure = comparison_charts.script_curves(
        steps, list(zip(spent.names, spent.after[:, steps], strict=True)), theme=frame.theme_type()
    )
    st.plotly_chart(figure, theme=None, config=CONFIG, key="compare_scripts")
    with st.container(horizontal=True):
        offer_csv(
            lambda: scripts_csv(spent),
            "merges-of-scripts.csv",
            key="compare_scripts_csv",
            label="CSV: merges",
            help="One line per script, with its merges after each quarter of training.",
        )
        picture = ChartPicture(
            "compare_scripts", "PNG: merges", "Merges of each script", name, "merges-of-scripts.png"
        )
        offer_pictures([picture], key="compare_scripts_picture")


def _own_sentences(kept: str) -> None:
    st.markdown(
        "A table with one column per language, named in the first row; or one text file per "
        "language, with one sentence per line. The n-th sentences must mean the same."
    )
    uploads = upload_files("CSV or TSV, or text files", key="parallel_upload")
    st.markdown(f":gray[:small[{LIMIT}]]")
    is_pressed = st.button("Compare these", key="own_sentences", disabled=not uploads)
    if is_pressed and (files := submitted_files(uploads)):
        with errors_shown():
            with counted_as_kept(sum(len(data) for _, data in files)):
                added = keep_sentences(files)
            workspace.update(OwnSentences, id=added)
            st.rerun()
    with st.container(horizontal=True):
        st.download_button(
            "The sample as a table",
            lambda: parallel_table(parallel_texts()),
            file_name="sentences.csv",
            mime="text/csv",
            on_click="ignore",
        )
        if kept and st.button("Back to the sample"):
            workspace.update(OwnSentences, id="")
            st.rerun()


def _kept_sentences() -> str:
    """Return the id of the visitor's sentences; at first, the one in the address."""
    kept = workspace.get(OwnSentences).id
    if kept is None:
        kept = workspace.query_text("sentences") or ""
        workspace.update(OwnSentences, id=kept)
    workspace.set_query(sentences=kept or None)
    return kept


def _texts(kept: str) -> Sequence[ParallelText]:
    """Return the sentences stored under an id, or the sample if there are none."""
    if kept:
        try:
            return load_sentences(kept)
        except BpeError as error:
            st.error(f"{plain_markdown(str(error), 600)} The sample is used instead.")
    return parallel_texts()
