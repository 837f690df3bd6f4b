"""Write a comparison as one HTML file to keep, send or print.

The page is built as an element tree, so that no visitor's name or text can become markup. It runs
no script and loads nothing.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import streamlit as st

import bpe_core
from bpe_core.comparison import (
    N_RESAMPLES,
    SEED,
    Comparison,
    LanguageCosts,
    Rates,
    ScriptMerges,
    division_words,
    method_words,
)
from bpe_core.corpus import HeldOut, ParallelText
from bpe_core.tokenizer import gpt2_golden_result
from ui.compare.compared import NEEDS_WHOLE, ComparedText
from ui.compare.costs import CostTable, cost_table
from ui.compare.definitions import FIGURES, LANGUAGES, SCRIPTS, Definition
from ui.compare.evaluation import Evaluation
from ui.compare.figures import KINDS, figure_rows, shared_sentence, text_size
from ui.compare.language_figures import (
    MEASURES,
    cached_script_merges,
    language_rows,
    parity_warning,
    script_rows,
    script_steps,
    summary_rows,
    tokens_sentence,
)
from ui.compare.languages import chosen_languages, report_languages
from ui.compare.passage import choose_passage
from ui.compare.report_elements import (
    add,
    add_costs,
    add_disagreements,
    add_rows,
    add_table,
    add_terms,
    record_rows,
)
from ui.compare.terms import Terms, chosen_terms, report_terms
from ui.compare.verdict import (
    PART_COLUMNS,
    TITLES,
    Judged,
    describe_member,
    part_rows,
    rival_rows,
    shown_parts,
)
from ui.components import FigureRow, ShareBar
from ui.look import PALETTES, counted, plain_text
from ui.run import composition_groups
from ui.storage import StoredRun
from ui.tokenizers import Member, known_rates, shelf

_COLOURS: Final = "".join(
    f".series-{place} {{ --series: light-dark({light}, {dark}); }}\n"
    for place, (light, dark) in enumerate(
        zip(PALETTES["light"].series, PALETTES["dark"].series, strict=True)
    )
)
_N_COLOURS: Final = len(PALETTES["light"].series)
_STYLE: Final = (Path(__file__).parent / "report.css").read_text(encoding="utf-8") + _COLOURS
# A second defence, should markup ever slip in.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The content of a report; names, titles and texts may come from a visitor."""

    title: str
    made_on: date
    where: str
    """Which text was compared, such as "held-out text"."""
    text_sha256: str
    judged: Judged
    members: Sequence[Member]
    comparison: Comparison
    passage: str
    passage_name: str
    golden: tuple[int, int]
    """How many of GPT-2's golden texts are exact, and how many there are."""
    scripts: Sequence[tuple[str, ScriptMerges]]
    """Merges per script for each tokenizer with known merges, by name; not empty."""
    languages: tuple[Sequence[ParallelText], Sequence[LanguageCosts]] | None = None
    compositions: Sequence[tuple[str, Sequence[ShareBar]]] = ()
    """The shares of training and held-out text, such as "By script"; empty for another text."""
    costs: CostTable | None = None
    """What the tokenizers cost, if a price, a width or a window was typed."""
    terms: Terms | None = None
    """The visitor's own terms."""
    runs: Sequence[tuple[str, Mapping[str, Any]]] = ()
    """The record of each run among the tokenizers, by the name of its tokenizer."""


def report_html(report: ComparisonReport) -> bytes:
    """Return the whole file in UTF-8."""
    page = ET.Element("html", lang="en")
    head = add(page, "head")
    add(head, "meta", charset="utf-8")
    add(head, "meta", **{"http-equiv": "Content-Security-Policy", "content": _POLICY})
    add(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    add(head, "title", f"Tokenizers compared: {plain_text(report.title, 80)}")
    add(head, "style").text = _STYLE
    body = add(add(page, "body"), "main")
    add(body, "h1", "Tokenizers compared")
    add(
        body,
        "p",
        f"{plain_text(report.title, 80)}, {report.made_on:%-d %B %Y}",
        **{"class": "lead"},
    )
    verdict = add(body, "blockquote")
    line = add(verdict, "p")
    for text, is_bold in report.judged.sentence:
        add(line, "b" if is_bold else "span", text)
    add(verdict, "p", report.judged.aside, **{"class": "aside"})
    names = [member.name for member in report.members]
    _parts(body, report, names)
    _tokenizers(body, report)
    _figures(body, report, names)
    add_costs(body, names, report.costs)
    blocks = report.comparison.blocks
    _compositions(body, report.compositions, None if blocks is None else blocks.how)
    add_disagreements(body, report.passage, report.passage_name, report.members)
    add_terms(body, names, report.terms)
    if report.languages is not None:
        _languages(body, *report.languages, names)
    _scripts(body, report.scripts)
    _repeating(body, report)
    _citation(body, report)
    _definitions(body, (*FIGURES, *(LANGUAGES if report.languages else (SCRIPTS,))))
    markup = ET.tostring(page, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{markup}\n".encode("utf-8", "replace")


def _tokenizers(body: ET.Element, report: ComparisonReport) -> None:
    add(body, "h2", "Tokenizers")
    rows = [
        (
            one.name,
            (
                f"{one.encoder.vocab_size:,}",
                describe_member(one),
                one.note,
                one.encoder.fingerprint,
            ),
        )
        for one in report.members
    ]
    add_table(body, ("tokens", "encoded by", "source", "fingerprint"), rows, kind="facts")
    exact, of = report.golden
    add(
        body,
        "p",
        f"GPT-2 here gives the published ids on {exact} of {of} golden texts, computed for this "
        "report.",
        **{"class": "aside"},
    )


def _figures(body: ET.Element, report: ComparisonReport, names: Sequence[str]) -> None:
    comparison = report.comparison
    add(body, "h2", f"On all {report.where}")
    size = f"{text_size(comparison)}, SHA-256 {report.text_sha256}. The dot marks the best figure."
    add(body, "p", size, **{"class": "aside"})
    add_rows(body, names, figure_rows(comparison))
    add(body, "p", shared_sentence(comparison), **{"class": "aside"})
    add(body, "h3", "Where the tokens go")
    highest = max(max(row.kinds) for row in comparison.rows) or 1
    for k, kind in enumerate(KINDS):
        add(body, "p", kind, **{"class": "label"})
        for place, (name, row) in enumerate(zip(names, comparison.rows, strict=True)):
            _bar(body, place, name, row.kinds[k], highest)


def _parts(body: ET.Element, report: ComparisonReport, names: Sequence[str]) -> None:
    judged = report.judged
    if not judged.gain.has_enough_text:
        return
    add(body, "h2", "Against each other tokenizer")
    if report.comparison.blocks is not None:
        add(body, "p", method_words(report.comparison.blocks), **{"class": "aside"})
    rows = rival_rows(report.members, report.comparison, judged.gains)
    add_table(
        body,
        ("vocabulary", "tokens", f"{names[0]} needs", "95% interval"),
        [(row.name, (row.vocabulary, row.tokens, row.figure, row.interval)) for row in rows],
        kind="facts",
    )
    if not judged.has_verdict:
        return
    other = names[judged.place]
    add(body, "h2", f"The difference to {other} by part")
    for division, _ in judged.gain.divisions:
        add(body, "h3", TITLES[division])
        columns = [names[0], other, *PART_COLUMNS]
        add_rows(body, columns, part_rows(shown_parts(judged.gain, division)))


def _bar(body: ET.Element, place: int, name: str, count: int, highest: int) -> None:
    line = add(body, "div", **{"class": f"bar series-{place % _N_COLOURS}"})
    add(line, "i", style=f"width: {70 * count / highest:.2f}%")
    add(line, "span", f"{count:,} {name}")


def _compositions(
    body: ET.Element, groups: Sequence[tuple[str, Sequence[ShareBar]]], how: HeldOut | None
) -> None:
    if not groups:
        return
    add(body, "h2", "What the texts consist of")
    if lead := division_words(how):
        add(body, "p", lead, **{"class": "aside"})
    for title, bars in groups:
        add(body, "h3", title)
        shares = [dict(bar.shares) for bar in bars]
        names = list(dict.fromkeys(name for found in shares for name in found))
        rows = [
            FigureRow(name, tuple(f"{found.get(name, 0):.1%}" for found in shares))
            for name in names
        ]
        add_rows(body, [bar.text for bar in bars], rows)


def _languages(
    body: ET.Element,
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    names: Sequence[str],
) -> None:
    add(body, "h2", "Languages")
    add(body, "p", f"{tokens_sentence(costs, names)} {parity_warning(texts, costs, names)}")
    sentences = counted(len(texts[0].sentences), "sentence")
    size = f"Across {len(texts)} languages, with the same {sentences} in each."
    add(body, "p", size, **{"class": "aside"})
    add_rows(body, names, summary_rows(costs))
    for title in ("Tokens", "Parity", "Tokens per word"):
        measure = MEASURES[title]
        add(body, "h3", f"{title} of every language")
        lead = measure.lead.format(reference=texts[costs[0].reference].name)
        add(body, "p", lead, **{"class": "aside"})
        add_rows(body, names, language_rows(texts, costs, measure))


def _scripts(body: ET.Element, scripts: Sequence[tuple[str, ScriptMerges]]) -> None:
    add(body, "h2", "Where the merges went")
    lead = "How many merges made a token of each script, and their share."
    add(body, "p", lead, **{"class": "aside"})
    add_rows(body, [name for name, _ in scripts], script_rows([spent for _, spent in scripts]))
    own, spent = scripts[0]
    add(body, "h3", f"{own}, over training")
    add_rows(body, *script_steps(spent))


def _repeating(body: ET.Element, report: ComparisonReport) -> None:
    """Append the settings, the versions, and what the runs can be repeated with."""
    add(body, "h2", "How to repeat this")
    settings = [
        ("bpe_core", bpe_core.__version__),
        ("Python", platform.python_version()),
        ("encoders", ", ".join(sorted({one.encoder.engine for one in report.members}))),
        ("text compared", f"{report.where}, {text_size(report.comparison)}"),
        ("SHA-256 of the text", report.text_sha256),
        ("special tokens", "read as text"),
        ("intervals", f"95%, {N_RESAMPLES:,} resamples, seed {SEED}"),
    ]
    if report.languages is not None:
        texts, costs = report.languages
        settings.append(("reference language", texts[costs[0].reference].name))
    rows = [(name, [value]) for name, value in settings]
    add_table(body, ("settings and versions",), rows, kind="facts")
    if not report.runs:
        return
    lead = (
        "Corpus.split with the share and the seed gives the training text of a corpus, and train "
        "with the settings gives the tokenizer again: compare the SHA-256 and the fingerprint."
    )
    add(body, "p", lead, **{"class": "aside"})
    found = [dict(record_rows(record)) for _, record in report.runs]
    keys = dict.fromkeys(key for rows in found for key in rows)
    records = [(key, [rows.get(key, "") for rows in found]) for key in keys]
    add_table(body, [name for name, _ in report.runs], records, kind="facts")


def _citation(body: ET.Element, report: ComparisonReport) -> None:
    add(body, "h2", "How to cite")
    add(
        body,
        "p",
        f"The BPE Explorer authors. BPE Explorer, version {bpe_core.__version__} "
        f"({report.made_on.year}). Tokenizers compared on {report.made_on:%-d %B %Y}, on a text "
        f"with SHA-256 {report.text_sha256}. Name the tokenizers by their fingerprints, and cite "
        "the papers below for the figures that you use.",
    )
    add(
        body,
        "pre",
        "@software{bpe_explorer, title = {BPE Explorer}, "
        f"author = {{{{The BPE Explorer authors}}}}, year = {{{report.made_on.year}}}, "
        f"version = {{{bpe_core.__version__}}}}}",
    )


def _definitions(body: ET.Element, definitions: Iterable[Definition]) -> None:
    add(body, "h2", "What the figures mean")
    listed = add(body, "dl")
    for definition in definitions:
        add(listed, "dt", definition.name)
        add(listed, "dd", definition.line)


def report_button(
    stored: StoredRun,
    compared: ComparedText,
    judged: Judged,
    evaluation: Evaluation,
    members: Sequence[Member],
) -> None:
    """Draw the button that makes the report on click; it needs the figures of the whole text."""
    corpus, comparison, where = compared.corpus, compared.comparison, evaluation.where
    # Read here, because on the click there is no session to read from.
    rates, terms, languages = known_rates(), chosen_terms(), chosen_languages()

    def made_now() -> bytes:
        if comparison is None:
            return b""
        passage = choose_passage(members, evaluation, comparison)
        is_priced = rates != Rates()
        runs = ((member.name, shelf.trained_run(member, stored)) for member in members)
        return report_html(
            ComparisonReport(
                title=stored.title,
                made_on=datetime.now(UTC).date(),
                where=where,
                text_sha256=corpus.sha256,
                judged=judged,
                members=members,
                comparison=comparison,
                passage=passage.text,
                passage_name=passage.source,
                golden=gpt2_golden_result(),
                scripts=[
                    (member.name, cached_script_merges(member.merges_tokenizer))
                    for member in members
                    if member.merges_tokenizer is not None
                ],
                languages=report_languages(languages, members),
                compositions=composition_groups(*stored.compositions)
                if stored.compositions is not None and corpus == stored.held_out
                else (),
                costs=cost_table(comparison, members, stored, where, rates) if is_priced else None,
                terms=report_terms(terms, members),
                runs=[(name, run.to_dict()) for name, run in runs if run is not None],
            )
        )

    st.download_button(
        "Download the report",
        made_now,
        file_name="tokenizers-compared.html",
        mime="text/html",
        on_click="ignore",
        key="compare_report",
        disabled=compared.pending is not None,
        help=None if compared.pending is None else NEEDS_WHOLE,
    )
