"""The report holds the comparison's figures, and a visitor's text never becomes markup."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser

import pytest

import bpe_core
import bpe_core as bpe
from bpe_core.comparison import (
    LanguageCosts,
    ScriptMerges,
    compute_gain,
    cut_terms,
    merges_per_script,
    terms_by_loss,
)
from bpe_core.corpus import load_sample, parallel_texts
from bpe_core.tokenizer import gpt2_golden_result
from tests import foreign_models as models
from tests.foreign_models import library_encoder
from tests.language_costs import compare_languages
from ui.compare.costs import CostTable
from ui.compare.definitions import FIGURES, LANGUAGES
from ui.compare.figures import figure_rows
from ui.compare.report import ComparisonReport, report_html
from ui.compare.report_elements import MAX_DISAGREEMENTS, MAX_TERMS_IN_REPORT
from ui.compare.terms import Terms, term_rows
from ui.compare.verdict import Judged, rival_rows
from ui.compare.verdict_words import interval_ends, uncovered_words, verdict_sentence
from ui.components import FigureRow
from ui.run import composition_groups
from ui.storage.run_store import compose_both
from ui.tokenizers import Member

HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\u202e"
OWN = bpe.train(load_sample("multilingual"), bpe.TrainingConfig(400)).tokenizer
FOREIGN = library_encoder(models.described(models.word_piece()))


class Parsed(HTMLParser):
    """The contents of the file: its tags, its texts, and the rows of its tables."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.in_cell = False
        self.feed(markup)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td"):
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self.in_cell:
            self.rows[-1][-1] += data


def judged(comparison: bpe.Comparison, name: str) -> Judged:
    gains = tuple(compute_gain(comparison, 0, place) for place in range(1, len(comparison.rows)))
    return Judged(
        place=1,
        gains=gains,
        sentence=verdict_sentence(comparison, gains[0], "On held-out text", other=name),
        aside=uncovered_words(comparison, other=name),
        has_verdict=gains[0].has_enough_text,
    )


@cache
def report(name: str = "GPT-2", passage: str = "the iterable, naïve café") -> ComparisonReport:
    corpus = bpe.Corpus.from_documents([passage, "and the rest"])
    comparison = bpe.compare(corpus, [OWN, bpe.gpt2(), FOREIGN])
    return ComparisonReport(
        title=name,
        made_on=date(2031, 5, 3),
        where="held-out text",
        text_sha256=corpus.sha256,
        judged=judged(comparison, name),
        members=[
            Member("own", "Yours", OWN, name),
            Member("gpt2", name, bpe.gpt2(), ""),
            Member("file-1", "third", FOREIGN, name),
        ],
        comparison=comparison,
        passage=passage,
        passage_name=name,
        golden=gpt2_golden_result(),
        scripts=[("Yours", scripts()[0]), (name, scripts()[1])],
        languages=(parallel_texts(), languages()),
    )


@cache
def scripts() -> tuple[ScriptMerges, ScriptMerges]:
    return merges_per_script(OWN), merges_per_script(bpe.gpt2())


@cache
def languages() -> tuple[LanguageCosts, ...]:
    return compare_languages(parallel_texts(), [OWN, bpe.gpt2(), FOREIGN], "English")


def parsed(one: ComparisonReport) -> Parsed:
    return Parsed(report_html(one).decode())


@cache
def plain() -> Parsed:
    """Return the contents of the report that most tests read."""
    return parsed(report())


def test_the_report_has_the_shares_of_training_and_held_out_text() -> None:
    texts = [("hug pug\n" if n % 2 else "да нет\n") * (900 + n) for n in range(15)]
    names = [f"{n}.{'txt' if n % 3 else 'md'}" for n in range(15)]
    corpus = bpe.Corpus.from_documents(texts, names)
    training, held_out = (part.composition() for part in corpus.split(0.1))
    one = replace(report(), compositions=composition_groups(training, held_out))
    rows = parsed(one).rows
    assert ["", "Training text", "Held out"] in rows
    of_held_out = {part.name: part.share for found in held_out for part in found}
    for of_training in (training.files[:12], training.types, training.scripts):
        for name, _, share in of_training:
            assert [name, f"{share:.1%}", f"{of_held_out.get(name, 0):.1%}"] in rows
    others = [sum(part.share for part in training.files[12:])]
    others.append(sum(of_held_out.get(part.name, 0) for part in training.files[12:]))
    assert ["other files", *(f"{share:.1%}" for share in others)] in rows


def test_the_shares_of_a_stored_run_with_many_files_add_up_to_one() -> None:
    corpus = bpe.Corpus.from_documents(
        [f"hug {n}\n" for n in range(300)], [f"{n}.py" for n in range(300)]
    )
    compositions = compose_both(*corpus.split(0.4))
    assert compositions is not None
    (_, bars) = composition_groups(*compositions)[-1]
    for bar in bars:
        assert sum(share for _, share in bar.shares) == pytest.approx(1)


def test_the_report_has_every_figure_under_its_tokenizer() -> None:
    one = report()
    rows = plain().rows
    for row in figure_rows(one.comparison):
        assert [row.name, *row.figures] in [
            [cell.removesuffix(" ●") for cell in written] for written in rows
        ]
    assert one.languages is not None
    texts, costs = one.languages
    parity = [f"{each.parity[6] or float('nan'):.2f}" for each in costs]
    assert [texts[6].name, *parity] in rows


def test_the_report_has_the_verdict_the_golden_cases_and_all_definitions() -> None:
    one = report()
    said = "".join(plain().texts)
    assert "".join(text for text, _ in one.judged.sentence) in said
    assert one.judged.aside in said
    exact, of = gpt2_golden_result()
    assert f"{exact} of {of} golden texts" in said
    for definition in (*FIGURES, *LANGUAGES):
        assert definition.meaning in said
        assert definition.source in said
    assert bpe.gpt2().fingerprint in said


def test_the_report_says_what_its_runs_can_be_repeated_with() -> None:
    training, _ = load_sample("multilingual").split(0.1, seed=7)
    run = bpe.train(training, bpe.TrainingConfig(300, pretokenizer=f"regex:{re.escape('<b>')}|."))
    one = replace(report(), runs=[("Yours", run.to_dict())])
    rows = {row[0]: row[1:] for row in parsed(one).rows if row}
    assert rows["vocab_size"] == ["300"]
    assert rows["held_out_seed"] == ["7"]
    assert rows["whole_corpus_sha256"] == [load_sample("multilingual").sha256]
    assert rows["tokenizer_fingerprint"] == [run.tokenizer.fingerprint]
    assert rows["pretokenizer"] == ["regex:<b>|."]
    assert set(parsed(one).tags) == set(plain().tags)


def test_the_report_names_settings_versions_and_how_to_cite() -> None:
    found = plain()
    rows = {row[0]: row[1:] for row in found.rows if row}
    assert rows["bpe_core"] == [bpe_core.__version__]
    assert rows["encoders"] == [f"bpe_core, {FOREIGN.engine}"]
    assert rows["intervals"] == ["95%, 2,000 resamples, seed 0"]
    assert rows["reference language"] == ["English"]
    said = "".join(found.texts)
    assert f"BPE Explorer, version {bpe_core.__version__} (2031)." in said
    assert f"version = {{{bpe_core.__version__}}}" in said


def test_the_report_has_the_merges_of_each_script_by_tokenizer_and_over_training() -> None:
    one = report()
    rows = plain().rows
    for k, (_, spent) in enumerate(one.scripts):
        place = spent.names.index("Latin")
        latin = int(spent.after[place, -1])
        share = latin / (spent.after.shape[1] - 1)
        told = next(row for row in rows if row and row[0] == "Latin")
        assert told[1 + k] == f"{latin:,} ({share:.1%})"
    assert any(cell.endswith(" (<0.1%)") for row in rows for cell in row)
    assert not any("(0.0%)" in cell for row in rows for cell in row)
    _, own = one.scripts[0]
    n_merges = own.after.shape[1] - 1
    place = rows.index(["", *(f"after {n_merges * part // 4:,} merges" for part in range(1, 5))])
    latin_over_training = next(row for row in rows[place:] if row[0] == "Latin")
    assert latin_over_training[2] == f"{int(own.after[own.names.index('Latin'), n_merges // 2]):,}"


def test_the_tokens_of_a_stretch_are_listed_side_by_side() -> None:
    rows = parsed(report(passage="the iterable")).rows
    # "able" is a token of all three, so the stretch ends before it.
    (line,) = [row for row in rows if row and row[0] == "␣iter"]
    assert line[1:] == ["␣ | it | er", "␣iter", "␣ | it | ##er"]


def test_a_visitors_text_never_becomes_markup_and_the_report_loads_nothing() -> None:
    usual, hostile = plain(), parsed(report(name=HOSTILE, passage=HOSTILE + "naïve"))
    assert set(hostile.tags) == set(usual.tags)
    assert not {"script", "img", "link", "iframe", "a"} & set(hostile.tags)
    assert not {name for name in hostile.attributes if name.startswith("on")}
    assert not {"src", "href"} & hostile.attributes
    assert "\u202e" not in "".join(hostile.texts)
    assert any("<script>" in text for text in hostile.texts)


def test_a_long_passage_is_shortened_with_a_note() -> None:
    words = " ".join(f"unbelievable{n}ness" for n in range(200))
    said = "".join(parsed(report(passage=words)).texts)
    assert f"The first {MAX_DISAGREEMENTS} of " in said


@pytest.mark.parametrize("passage", ["", "a", "\n"])
def test_a_passage_without_disagreements_has_a_note(passage: str) -> None:
    one = report()
    same = replace(one, passage=passage)
    assert "all words get the same tokens" in "".join(parsed(same).texts)


def test_the_parts_and_their_intervals_are_in_the_report() -> None:
    corpus = bpe.Corpus.from_documents(
        ["hug the pug\n" * (20 + n % 3) if n % 2 else "x = 1\n" * 30 for n in range(60)],
        [f"{'<i>' if n % 2 else 'b'}.csv row {n}" for n in range(60)],
    )
    comparison = bpe.compare(corpus, [OWN, bpe.gpt2()])
    one = replace(
        report(),
        comparison=comparison,
        judged=judged(comparison, "GPT-2"),
        members=report().members[:2],
        languages=None,
    )
    rows = parsed(one).rows
    for _, parts in one.judged.gain.divisions:
        for part in parts:
            (row,) = [row for row in rows if row[0] == part.name and len(row) == 6]
            assert row[1:3] == [f"{part.own:,}", f"{part.theirs:,}"]
            assert row[4] == interval_ends(part)
    (rival,) = rival_rows(one.members, comparison, one.judged.gains)
    assert ["GPT-2", rival.vocabulary, rival.tokens, rival.figure, rival.interval] in rows
    assert rival.interval
    texts = "".join(parsed(one).texts)
    assert "95% intervals over whole documents" in texts
    assert "The difference to GPT-2 by part" in texts
    assert "The difference to" not in "".join(plain().texts)


def own_terms(terms: list[str]) -> Terms:
    encoders = [OWN, bpe.gpt2(), FOREIGN]
    cuts = [[cut.in_text for cut in cut_terms(terms, encoder)] for encoder in encoders]
    found = terms_by_loss(terms, cuts)
    return Terms(term_rows(found, encoders), "1 of 2 terms", "After a space.", len(found))


def test_the_report_has_the_terms_with_their_cuts_in_colours() -> None:
    one = replace(report(), terms=own_terms(["hugging", HOSTILE]))
    markup = report_html(one).decode()
    found = Parsed(markup)
    assert "script" not in found.tags
    assert "img" not in found.tags
    [row] = [row for row in found.rows if row[:1] == ["hugging"]]
    assert row[3].startswith("1 ●␣hugging")
    assert re.search(r'<span class="tile slot-\d">␣hugging</span>', markup)
    assert plain().texts.count("Terms") == 0


def test_the_report_says_how_many_of_many_terms_it_shows() -> None:
    terms = [f"term {number}" for number in range(MAX_TERMS_IN_REPORT + 1)]
    found = parsed(replace(report(), terms=own_terms(terms)))
    assert sum(row[0].startswith("term ") for row in found.rows if row) == MAX_TERMS_IN_REPORT
    assert any("The first 200 are shown." in text for text in found.texts)


def test_the_report_has_the_costs_that_were_asked_for() -> None:
    rows = [FigureRow("Cost of held-out text", ("0.5", "0.7", "0.9"), (0,))]
    found = parsed(replace(report(), costs=CostTable(rows, "At 2.50 per million tokens.")))
    assert ["Cost of held-out text", "0.5 ●", "0.7", "0.9"] in found.rows
    assert "At 2.50 per million tokens." in found.texts
    assert "What it costs" not in plain().texts
