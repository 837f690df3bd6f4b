"""Figures of pairs hold the core's numbers, and their labels are never markup."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.trainers import PairCount, PairLives
from ui.look import PALETTES, Theme
from ui.pair_frequencies import pair_life
from ui.pair_frequencies import step as pair_charts
from ui.pair_frequencies.pair_life import (
    COLUMNS,
    life_csv,
    pair_rows,
    pairs_csv,
    run_csv,
)
from ui.run import run_figures
from ui.storage import SAMPLE_RUN_ID, load_run

THEMES: tuple[Theme, ...] = ("light", "dark")

both_themes = pytest.mark.parametrize("theme", THEMES)


@both_themes
def test_bars_hold_the_counts_with_the_winner_filled_and_ties_outlined(theme):
    colours = PALETTES[theme]
    figure: Any = pair_charts.top_pair_bars(
        [("l", "a"), ("s", "s"), ("t", "h")], [9, 9, 4], [True, True, False], theme=theme
    )
    bars = figure.data[0]
    assert bars.x == (9, 9, 4)
    assert bars.marker.color == (colours.chosen, "rgba(0,0,0,0)", colours.bar)
    assert bars.marker.line.color == (colours.chosen, colours.chosen, colours.bar)
    assert [re.sub("<[^>]*>", "", text).split() for text in figure.layout.yaxis2.ticktext] == [
        ["9"],
        ["9", "tie"],
        ["4"],
    ]
    assert [label.split() for label in figure.layout.yaxis.ticktext] == [
        ["l", "+", "a"],
        ["s", "+", "s"],
        ["t", "+", "h"],
    ]


def test_after_the_last_merge_no_bar_is_filled():
    figure: Any = pair_charts.top_pair_bars(
        [("l", "a"), ("s", "s")], [9, 9], [True, True], chosen=False, theme="light"
    )
    assert set(figure.data[0].marker.color) == {PALETTES["light"].bar}


def test_a_pair_does_not_read_as_one_word():
    bars: Any = pair_charts.top_pair_bars([("p", "attern")], [1], [False], theme="light")
    heat: Any = pair_charts.pair_heat_map(["p"], ["attern"], np.array([[2]]), theme="light")
    assert bars.layout.yaxis.ticktext[0].strip() == bars.data[0].customdata[0] == "p + attern"
    assert heat.data[1].customdata[0] == "p + attern: 2 times"


def test_two_pairs_with_the_same_label_have_separate_bars():
    figure: Any = pair_charts.top_pair_bars(
        [("a", "␣"), ("a", "␣")], [3, 2], [False, False], theme="light"
    )
    assert figure.data[0].y == (0, 1)


@pytest.mark.parametrize("hostile", ["<b>x</b>", "<script>", "&amp;", "%{x}", "<a href='j:'>k</a>"])
def test_no_label_reaches_plotly_as_markup(hostile):
    bars: Any = pair_charts.top_pair_bars([(hostile, "x")], [1], [False], theme="light")
    heat: Any = pair_charts.pair_heat_map([hostile], [hostile], np.array([[1]]), theme="light")
    shown = [
        *bars.layout.yaxis.ticktext,
        *bars.data[0].customdata,
        *heat.layout.xaxis.ticktext,
        *heat.layout.yaxis.ticktext,
        *heat.data[1].customdata,
    ]
    assert not any("<" in text for text in shown)
    assert not any("&amp" in text.replace("&amp;", "") for text in shown)


@both_themes
def test_the_heat_map_holds_the_counts_and_outlines_the_next_merge(theme):
    counts = np.array([[4, 0, 1], [9, 16, 0]])
    figure: Any = pair_charts.pair_heat_map(
        ["a", "␣"], ["t", "h", "e"], counts, outlined=(1, 0), theme=theme
    )
    cells, points = figure.data
    assert np.square(cells.z).round().astype(int).tolist() == counts.tolist()
    assert points.customdata[4] == "␣ + h: 16 times"
    assert (points.x[4], points.y[4]) == (1, 1)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (-0.5, 0.5, 0.5, 1.5)
    assert frame.line.color == PALETTES[theme].chosen


def test_the_rank_curve_has_both_axes_in_powers_of_ten():
    ranks, counts = np.array([1, 3, 4, 2_142]), np.array([1_379, 900, 12, 1])
    figure: Any = pair_charts.rank_frequency_curve(ranks, counts, theme="light")
    assert list(figure.data[0].x) == ranks.tolist()
    assert list(figure.data[0].y) == counts.tolist()
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.xaxis.dtick == figure.layout.yaxis.dtick == 1
    assert figure.layout.xaxis.range[1] > np.log10(2_142)


def test_after_the_last_merge_no_rank_is_marked():
    figure: Any = pair_charts.rank_frequency_curve(
        np.array([1, 2]), np.array([7, 1]), chosen=False, theme="light"
    )
    assert len(figure.data) == 1
    assert figure.layout.yaxis.dtick == "D2"


def test_the_selected_pair_has_its_own_frame():
    counts = np.array([[4, 0, 1], [9, 16, 0]])
    for framed, colours in (((0, 2), ["text", "chosen"]), ((1, 0), ["chosen"])):
        figure: Any = pair_charts.pair_heat_map(
            ["a", "b"], ["t", "h", "e"], counts, outlined=(1, 0), framed=framed, theme="dark"
        )
        expected = [getattr(PALETTES["dark"], colour) for colour in colours]
        assert [frame.line.color for frame in figure.layout.shapes] == expected


def test_a_life_is_drawn_in_steps_from_birth_to_end():
    steps, counts = np.array([31, 40, 52]), np.array([90, 70, 66])
    figure: Any = pair_life.life_curve(
        steps, counts, is_rank=False, marked=(45, 70.0), theme="light"
    )
    curve, end, ring = figure.data
    assert (curve.x, curve.y) == ((31, 40, 52), (90, 70, 66))
    assert curve.line.shape == "hv"
    assert (end.x, end.y) == ((52,), (66,))
    assert (ring.x, ring.y) == ((45,), (70.0,))
    assert figure.layout.xaxis.range == (31, 52)


def test_the_first_rank_is_at_the_top_and_a_pair_without_occurrences_has_none():
    figure: Any = pair_life.life_curve(
        np.array([0, 3, 5]), np.array([120, 0, 7]), is_rank=True, theme="light"
    )
    low, high = figure.layout.yaxis.range
    assert low > high
    ranks = figure.data[0].y
    assert ranks == (120, None, 7)


def test_a_life_of_one_step_can_be_drawn():
    figure: Any = pair_life.life_curve(np.array([0]), np.array([1]), is_rank=True, theme="light")
    assert figure.layout.xaxis.range == (0, 1)


# Rows and CSV of pairs


vocabularies = st.lists(st.binary(min_size=1, max_size=6), min_size=2, max_size=6)


def test_a_row_names_the_merge_of_its_pair():
    pairs = [PairCount(0, 1, 9, tied=True), PairCount(1, 0, 9, tied=True)]
    rows = pair_rows(pairs, {0: b" ", 1: b"\xe6\x97"}, {(1, 0): 45})
    assert tuple(rows) == COLUMNS
    assert rows["place"] == [1, 2]
    assert rows["left"] == ["␣", "<E6 97>"]
    assert rows["tied for highest count"] == [True, True]
    assert rows["joined by merge"] == [None, 46]


def read_csv(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def test_the_csv_of_pairs_marks_ties_for_the_highest_count():
    pairs = [PairCount(0, 1, 9, tied=True), PairCount(1, 0, 9, tied=True), PairCount(1, 1, 4)]
    rows = read_csv(pairs_csv(pairs, {0: b"a", 1: b"b"}, {(0, 1): 45}))
    assert [row["tied for highest count"] for row in rows] == ["true", "true", "false"]
    assert [row["joined by merge"] for row in rows] == ["46", "", ""]


@given(vocabularies)
def test_the_bytes_of_every_token_can_be_recovered_from_the_csv(tokens):
    vocab = dict(enumerate(tokens))
    pairs = [PairCount(left, right, 1) for left in vocab for right in vocab]
    rows = read_csv(pairs_csv(pairs, vocab, {}))
    found = [
        (bytes.fromhex(row["left bytes in hex"]), bytes.fromhex(row["right bytes in hex"]))
        for row in rows
    ]
    assert found == [(vocab[pair.left], vocab[pair.right]) for pair in pairs]


@given(vocabularies)
def test_no_label_in_the_csv_starts_a_formula(tokens):
    vocab = dict(enumerate([b"=1+1", b"@a", b"+", b"-", *tokens]))
    pairs = [PairCount(token, token, 1) for token in vocab]
    for row in read_csv(pairs_csv(pairs, vocab, {})):
        assert row["left"][:1] not in {"=", "+", "-", "@", "\t", "\r"}
        assert row["right"][:1] not in {"=", "+", "-", "@", "\t", "\r"}


def test_the_csv_of_a_run_has_a_line_for_each_number_of_merges():
    stored = load_run(SAMPLE_RUN_ID)
    curves, tokens = run_figures.run_curves(SAMPLE_RUN_ID), stored.run.tokens_after
    rows = read_csv(run_csv(curves, tokens))
    assert [int(row["tokens in the corpus"]) for row in rows] == tokens.tolist()
    assert [int(row["vocabulary size"]) for row in rows] == curves.vocab_size.tolist()
    for step in (0, 1_000, len(rows) - 1):
        assert int(rows[step]["merges done"]) == step
        assert float(rows[step]["bytes per token on training text"]) == curves.training[step]
        assert curves.held_out is not None
        assert float(rows[step]["bytes per token on held-out text"]) == curves.held_out[step]
    winners = [row["count of the pair joined next"] for row in rows]
    assert winners == [*(str(merge.count) for merge in stored.run.merges), ""]


def test_every_step_of_a_life_can_be_recovered_from_the_csv():
    run = load_run(SAMPLE_RUN_ID).run
    life = PairLives(run).find(run.merges[500].pair)
    rows = read_csv(life_csv(life))
    steps = np.array([int(row["merges done"]) for row in rows])
    lines = np.searchsorted(steps, np.arange(len(life.counts)), side="right") - 1
    for column, values in (
        ("count", life.counts),
        ("rank", life.ranks),
        ("other pairs with the same count", life.n_tied),
    ):
        assert np.array([int(row[column] or 0) for row in rows])[lines].tolist() == values.tolist()
    empty = [row["rank"] == "" for row in rows]
    assert empty == [row["count"] == "0" for row in rows]
    assert any(empty)
