"""The cost of languages on Compare: the core's figures, and no formula in the CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.comparison import LanguageMetrics
from bpe_core.corpus import ParallelText, parallel_texts
from tests.language_costs import compare_languages
from tests.waiting import OfKind, wait_until
from ui.compare import compared, comparison_charts
from ui.compare.compared import cached_language_costs, compare_languages_on, hash_sentences
from ui.compare.language_costs import (
    MEASURES,
    PARITY,
    cannot_spell,
    cheapest_first,
    language_csv,
    language_rows,
    parallel_table,
    parity_warning,
    summary_rows,
    tokens_sentence,
)
from ui.host import server_cache
from ui.work import Status

BYTES = bpe.gpt2().truncated(0)
# Bytes alone: 2, 6 and 4 tokens.
TEXTS = [
    ParallelText("", "A", ("Latin",), ("ab",)),
    ParallelText("", "=B()", ("Han",), ("漢字",)),
    ParallelText("", "C", ("Latin",), ("abcd",)),
]
COSTS = compare_languages(TEXTS, [BYTES, BYTES], "A")
SPELLS_ONLY_A = bpe.train(
    bpe.Corpus.from_word_counts({"ab": 3}),
    bpe.TrainingConfig(
        10, pretokenizer="none", base="characters", alphabet="seen", special_tokens=()
    ),
).tokenizer


def test_rows_hold_the_figures_of_each_language() -> None:
    rows = language_rows(TEXTS, COSTS, MEASURES[PARITY])
    assert [(row.name, row.figures) for row in rows] == [
        ("A", ("1.00", "1.00")),
        ("=B()", ("3.00", "3.00")),
        ("C", ("2.00", "2.00")),
    ]
    words = language_rows(TEXTS, COSTS, MEASURES["Tokens per word"])
    assert [row.figures[0] for row in words] == ["2.00", "6.00", "4.00"]


def test_the_summary_equals_that_worked_out_by_hand_and_ties_have_no_dot() -> None:
    rows = {row.name: row for row in summary_rows(COSTS)}
    assert rows["Mean parity"].figures == ("2.50", "2.50")
    assert rows["Highest parity"].figures == ("3.00", "3.00")
    # Of 2, 4 and 6: (2 × -2 + 6 × 2) / (3 × 12).
    assert rows["Gini coefficient"].figures == ("0.222", "0.222")
    assert all(row.better == () for row in rows.values())


def test_languages_are_ordered_by_their_tokens() -> None:
    assert cheapest_first(COSTS[0]) == [0, 2, 1]


def test_adding_a_tokenizer_or_another_reference_measures_no_other_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server_cache.forget()
    asked: list[str] = []
    measure = LanguageMetrics.measure

    def count(texts: Sequence[ParallelText], encoder: bpe.Encoder, _: object) -> LanguageMetrics:
        asked.append(encoder.fingerprint)
        return measure(texts, encoder)

    monkeypatch.setattr(LanguageMetrics, "measure", count)
    assert cached_language_costs(TEXTS, [BYTES], "A") == COSTS[:1]
    found = cached_language_costs(TEXTS, [BYTES, bpe.gpt2()], "C")
    assert asked == [BYTES.fingerprint, bpe.gpt2().fingerprint]
    monkeypatch.undo()
    assert found == compare_languages(TEXTS, [BYTES, bpe.gpt2()], "C")


def test_the_first_sentences_are_compared_while_all_of_them_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server_cache.forget()
    monkeypatch.setattr(compared, "SAMPLE_BYTES", 300)
    texts = [replace(text, sentences=text.sentences * 100) for text in TEXTS]
    encoders = [BYTES, bpe.gpt2()]
    first = compare_languages_on(texts, encoders, "A")
    assert first.pending is not None
    assert 100 < first.pending.sample_bytes <= 150 < first.pending.n_bytes == 1_200
    assert first.costs == compare_languages(first.texts, encoders, "A")
    assert isinstance(first.pending.status, Status)
    wait_until(OfKind(compared.COMPARE), first.pending.status.id)
    whole = compare_languages_on(texts, encoders, "C")
    assert whole.pending is None
    assert whole.costs == compare_languages(texts, encoders, "C")


def test_measuring_languages_stops_between_them() -> None:
    asked: list[tuple[int, int]] = []

    def should_stop(done: int, of: int) -> bool:
        asked.append((done, of))
        return done == 2

    with pytest.raises(CancelledError):
        LanguageMetrics.measure(TEXTS, BYTES, should_stop)
    assert asked == [(0, 3), (1, 3), (2, 3)]


def test_a_tokenizer_that_needs_more_tokens_in_every_language_is_never_marked() -> None:
    # Bytes alone are even: 2, 6 and 4 tokens. The other needs 1, 6 and 3, so its parity is worse.
    ab = bpe.train(
        bpe.Corpus.from_word_counts({"ab": 3}), bpe.TrainingConfig(257, "none", special_tokens=())
    ).tokenizer
    costs = compare_languages(TEXTS, [BYTES, ab], "A")
    assert [[row.n_tokens for row in one.metrics] for one in costs] == [[2, 6, 4], [1, 6, 3]]
    assert costs[0].mean_parity < costs[1].mean_parity
    rows = summary_rows(costs)
    assert [row.name for row in rows if 0 in row.better] == []
    assert [row.name for row in rows if 1 in row.better] == [
        "Tokens in all languages",
        "Languages with the fewest tokens",
    ]
    assert rows[0].figures == ("12", "10")
    assert rows[1].figures == ("1", "3")
    names = ["Your tokenizer", "GPT-2"]
    assert tokens_sentence(costs, names) == (
        "Tokens for the same sentences in all languages: 10 with GPT-2, 12 with your tokenizer."
    )
    assert parity_warning(TEXTS, costs, names) == (
        "The lowest ratios are with your tokenizer, but GPT-2 needs fewer tokens, or as many, in 3 "
        "of 3 languages: a ratio to a badly served A flatters."
    )
    assert parity_warning(TEXTS, COSTS, names) == "Mind that a ratio to a badly served A flatters."


def test_with_many_tokenizers_the_sentence_names_some_and_gives_the_range_of_the_rest() -> None:
    sentence = tokens_sentence(COSTS * 5, [f"{n}" for n in range(10)])
    assert sentence.endswith("12 with 5, 12 to 12 with 4 more.")


def test_a_tokenizer_that_cannot_spell_a_language_wins_nothing() -> None:
    costs = compare_languages(TEXTS, [SPELLS_ONLY_A, BYTES], "A")
    assert [cannot_spell(metrics) for metrics in costs[0].metrics] == [False, True, True]
    rows = {row.name: row for row in summary_rows(costs)}
    assert rows["Languages it cannot spell"].figures == ("2", "0")
    assert all(row.better == () for row in rows.values())
    assert math.isnan(MEASURES[PARITY].figure(costs[0], 1))
    assert language_rows(TEXTS, costs, MEASURES[PARITY])[1].figures == ("–", "3.00")


def test_the_download_holds_every_figure_and_no_formula() -> None:
    rows = list(
        csv.reader(io.StringIO(language_csv(TEXTS, COSTS, ["x", "@y"]).decode("utf-8-sig")))
    )
    reference = TEXTS[COSTS[0].reference].name
    assert rows[0] == [
        "language",
        "scripts",
        "tokenizer",
        "bytes",
        "tokens",
        f"parity: tokens for each token of {reference}",
        "tokens per word",
        "bytes per token",
    ]
    assert len(rows) == 1 + len(TEXTS) * 2
    assert rows[3][:6] == ["'=B()", "Han", "x", "6", "6", "3"]
    assert rows[2][2] == "'@y"


def test_the_sample_can_be_downloaded_and_uploaded_again() -> None:
    sample = parallel_texts()
    back = ParallelText.read([("sentences.csv", parallel_table(sample))])
    assert [(text.name, text.sentences) for text in back] == [
        (text.name, text.sentences) for text in sample
    ]


def test_digests_differ_if_the_same_letters_are_divided_differently() -> None:
    def digest(*texts: tuple[str, tuple[str, ...]]) -> str:
        return hash_sentences([ParallelText("", name, (), sentences) for name, sentences in texts])

    digests = {
        digest(("a", ("b", "c"))),
        digest(("a", ("bc",))),
        digest(("ab", ("c",))),
        digest(("a", ("b",)), ("c", ("d",))),
        digest(("a", ("b", "c", "d"))),
    }
    assert len(digests) == 5


def test_dots_show_the_figures_and_are_hollow_if_text_is_left_out() -> None:
    series = [("Yours", [1.0, math.nan], [False, True]), ("GPT-2", [2.0, 8.0], [False, False])]
    figure: Any = comparison_charts.language_dots(
        ["A", "<b>"], series, unit="parity", shape="{:.1f}", is_ratio=True, theme="light"
    )
    own, other = figure.data
    assert (list(own.x), list(other.x)) == ([1.0, None], [2.0, 8.0])
    assert own.marker.symbol != other.marker.symbol
    assert own.marker.color[1] != own.marker.color[0] == own.marker.line.color
    assert figure.layout.xaxis.ticksuffix == "×"
    assert figure.layout.xaxis.dtick == math.log10(2)
    assert not any("<" in text for text in [*figure.layout.yaxis.ticktext, *own.customdata])


def test_a_scripts_curve_starts_at_its_first_merge_and_labels_do_not_touch() -> None:
    steps = np.arange(5)
    curves = [("Latin", np.array([0, 1, 2, 2, 2])), ("Han", np.array([0, 0, 0, 1, 2]))]
    figure: Any = comparison_charts.script_curves(steps, curves, theme="light")
    assert list(figure.data[1].y) == [None, None, None, 1, 2]
    labels = figure.layout.yaxis2
    assert [re.sub("<[^>]*>", "", text) for text in labels.ticktext] == ["Latin 2", "Han 2"]
    assert labels.tickvals[0] > labels.tickvals[1]
