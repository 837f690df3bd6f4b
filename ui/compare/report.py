"""Write a comparison as one HTML file to keep, send or print.

The page is built as an element tree, so that no visitor's name or text can become markup. It runs
no script and loads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from xml.etree import ElementTree as ET

import numpy as np

import bpe_core
from bpe_core.comparison.alignment import differing_columns
from bpe_core.comparison.comparison import Comparison
from bpe_core.comparison.interval_words import division_words, method_words
from bpe_core.comparison.languages import LanguageCosts, ScriptMerges
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.samples import ParallelText
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.segment_arrays import Boundaries, boundaries
from ui.compare.costs_part import CostTable
from ui.compare.definitions import FIGURES, LANGUAGES, SCRIPTS, Definition
from ui.compare.figures_part import figure_rows, shared_sentence, text_size
from ui.compare.language_figures import (
    MEASURES,
    language_rows,
    language_sentence,
    script_rows,
    script_steps,
    summary_rows,
)
from ui.compare.part_figures import COLUMNS, TITLES, part_rows, shown_parts
from ui.compare.report_elements import add, add_costs, add_rows, add_table, add_terms
from ui.compare.terms_part import Terms
from ui.compare.verdict_part import Judged, rival_rows
from ui.components.figures import FigureRow
from ui.components.share_bars import ShareBar
from ui.look.chart_style import PALETTES
from ui.look.labels import plain_text, token_label

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
_KINDS: Final = ("words and numbers", "punctuation", "white space")
MAX_DISAGREEMENTS: Final = 60
_MAX_TOKENS = 12


@dataclass(frozen=True, slots=True)
class Compared:
    """One of the tokenizers, as named in the report."""

    name: str
    facts: str
    note: str
    encoder: Encoder


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The content of a report; names, titles and texts may come from a visitor."""

    title: str
    made_on: str
    """The date, formatted."""
    where: str
    """Which text was compared, such as "held-out text"."""
    text_sha256: str
    judged: Judged
    compared: Sequence[Compared]
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
    add(body, "p", f"{plain_text(report.title, 80)}, {report.made_on}", **{"class": "lead"})
    verdict = add(body, "blockquote")
    line = add(verdict, "p")
    for text, is_bold in report.judged.sentence:
        add(line, "b" if is_bold else "span", text)
    add(verdict, "p", report.judged.aside, **{"class": "aside"})
    names = [one.name for one in report.compared]
    _parts(body, report, names)
    _tokenizers(body, report)
    _figures(body, report, names)
    add_costs(body, names, report.costs)
    blocks = report.comparison.blocks
    _compositions(body, report.compositions, None if blocks is None else blocks.how)
    _disagreements(body, report, names)
    add_terms(body, names, report.terms)
    if report.languages is not None:
        _languages(body, *report.languages, names)
    _scripts(body, report.scripts)
    _repeating(body, report.runs)
    _definitions(body, (*FIGURES, *(LANGUAGES if report.languages else (SCRIPTS,))))
    markup = ET.tostring(page, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{markup}\n".encode("utf-8", "replace")


def _tokenizers(body: ET.Element, report: ComparisonReport) -> None:
    add(body, "h2", "Tokenizers")
    rows = [
        (one.name, (f"{one.encoder.vocab_size:,}", one.facts, one.note, one.encoder.fingerprint))
        for one in report.compared
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
    for k, kind in enumerate(_KINDS):
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
    rows = rival_rows(report.comparison, judged.gains, names)
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
    add(body, "p", "Negative figures are more tokens.", **{"class": "aside"})
    for division, _ in judged.gain.divisions:
        add(body, "h3", TITLES[division])
        columns = [names[0], other, *COLUMNS]
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


def _disagreements(body: ET.Element, report: ComparisonReport, names: Sequence[str]) -> None:
    text = report.passage
    found = [boundaries(text, one.encoder) for one in report.compared]
    differing = differing_columns([each.byte_ends for each in found], text)
    with_words = np.flatnonzero(differing.has_word)
    add(body, "h2", "Where they differ")
    if not len(with_words):
        same = "On this passage all words get the same tokens."
        add(body, "p", same, **{"class": "aside"})
        return
    shown = with_words[:MAX_DISAGREEMENTS].tolist()
    n = len(with_words)
    which = f"The first {len(shown)} of {n:,}" if len(shown) < n else f"All {n:,}"
    add(
        body,
        "p",
        f"{which} stretches with letters or numbers in {plain_text(report.passage_name, 80)} on "
        "which the tokenizers differ. ␣ stands for a space.",
        **{"class": "aside"},
    )
    data = text.encode()
    rows: list[tuple[str, list[str]]] = []
    for place in shown:
        start, end = int(differing.byte_starts[place]), int(differing.byte_ends[place])
        cells = [
            _tokens_between(data, own, one.encoder, start, end)
            for own, one in zip(found, report.compared, strict=True)
        ]
        stretch = text[differing.starts[place] : differing.ends[place]]
        rows.append((token_label(stretch.encode()), cells))
    add_table(body, names, rows, kind="tokens")


def _tokens_between(data: bytes, own: Boundaries, encoder: Encoder, start: int, end: int) -> str:
    """Return the tokens that begin between two bytes; text in no token is shown unchanged."""
    first, last = np.searchsorted(own.byte_ends, [start, end - 1], side="right")
    labels: list[str] = []
    for place in range(int(first), min(int(last) + 1, int(first) + _MAX_TOKENS)):
        token_id, token_end = int(own.ids[place]), int(own.byte_ends[place])
        token = encoder.vocab[token_id] if token_id >= 0 else data[start:token_end]
        labels.append(token_label(token))
        start = token_end
    return " | ".join(labels) + (" …" if last - first >= _MAX_TOKENS else "")


def _languages(
    body: ET.Element,
    texts: Sequence[ParallelText],
    costs: Sequence[LanguageCosts],
    names: Sequence[str],
) -> None:
    add(body, "h2", "Languages")
    add(body, "p", language_sentence(texts, costs, names))
    n = len(texts[0].sentences)
    sentences = f"{n:,} {'sentence' if n == 1 else 'sentences'}"
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


def _repeating(body: ET.Element, runs: Sequence[tuple[str, Mapping[str, Any]]]) -> None:
    """Append what the runs can be repeated with."""
    add(body, "h2", "How to repeat this")
    add(body, "p", f"Measured with bpe_core {bpe_core.__version__}.", **{"class": "aside"})
    if not runs:
        return
    lead = (
        "Corpus.split with the share and the seed gives the training text of a corpus, and train "
        "with the settings gives the tokenizer again: compare the SHA-256 and the fingerprint."
    )
    add(body, "p", lead, **{"class": "aside"})
    found = [dict(_record_rows(record)) for _, record in runs]
    keys = dict.fromkeys(key for rows in found for key in rows)
    rows = [(key, [rows.get(key, "") for rows in found]) for key in keys]
    add_table(body, [name for name, _ in runs], rows, kind="facts")


def _definitions(body: ET.Element, definitions: Iterable[Definition]) -> None:
    add(body, "h2", "What the figures mean")
    listed = add(body, "dl")
    for definition in definitions:
        add(listed, "dt", definition.name)
        add(listed, "dd", definition.line)


def _record_rows(record: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what `TrainingRun.to_dict` returned as rows of a name and a value, for tables.

    >>> _record_rows({"bpe_core": "0.1.0", "config": {"vocab_size": 260}, "split": None})
    [('bpe_core', '0.1.0'), ('vocab_size', '260'), ('split', 'None')]
    """
    rows: list[tuple[str, str]] = []
    for name, value in record.items():
        if name == "split" and value is not None:
            rows.append(("held_out_share", str(value["held_out_share"])))
            rows.append(("held_out_by", value["by"]))
            rows.append(("held_out_seed", str(value["seed"])))
            rows.append(("whole_corpus_sha256", value["corpus_sha256"]))
        elif isinstance(value, dict):
            settings = cast("dict[str, object]", value)
            rows += [(key, str(each)) for key, each in settings.items()]
        else:
            rows.append((name, str(value)))
    return rows
