"""Figures of pairs hold the core's numbers, and their labels are never markup."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ui.look.chart_style import PALETTES, Theme
from ui.pair_frequencies import charts as pair_charts
from ui.pair_frequencies import life

THEMES: tuple[Theme, ...] = ("light", "dark")

both_themes = pytest.mark.parametrize("theme", THEMES)


@both_themes
def test_bars_hold_the_counts_with_the_winner_filled_and_ties_outlined(theme):
    colours = PALETTES[theme]
    figure: Any = pair_charts.top_pair_bars(
        [("l", "a"), ("s", "s"), ("t", "h")], [9, 9, 4], [True, True, False], theme=theme
    )
    (bars,) = figure.data
    assert bars.x == (9, 9, 4)
    assert bars.marker.color == (colours.chosen, "rgba(0,0,0,0)", colours.bar)
    assert bars.marker.line.color == (colours.chosen, colours.chosen, colours.bar)
    assert [re.sub("<[^>]*>", "", text).split() for text in bars.text] == [
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
    assert figure.layout.yaxis.tickvals == (1, 10, 100, 1_000)
    # The last rank has a label, and that of 1,000 would touch it.
    assert figure.layout.xaxis.tickvals == (1, 10, 100, 2_142)
    assert figure.layout.xaxis.ticktext[-1] == "2,142"


def test_after_the_last_merge_no_rank_is_marked():
    figure: Any = pair_charts.rank_frequency_curve(
        np.array([1, 2]), np.array([7, 1]), chosen=False, theme="light"
    )
    assert len(figure.data) == 1
    assert figure.layout.yaxis.tickvals == (1, 2, 5)


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
    figure: Any = life.life_curve(steps, counts, is_rank=False, marked=(45, 70.0), theme="light")
    curve, end, ring = figure.data
    assert (curve.x, curve.y) == ((31, 40, 52), (90, 70, 66))
    assert curve.line.shape == "hv"
    assert (end.x, end.y) == ((52,), (66,))
    assert (ring.x, ring.y) == ((45,), (70.0,))
    assert figure.layout.xaxis.range == (31, 52)
    assert figure.layout.xaxis.ticktext == ("31", "40", "52")


def test_the_first_rank_is_at_the_top_and_a_pair_without_occurrences_has_none():
    figure: Any = life.life_curve(
        np.array([0, 3, 5]), np.array([120, 0, 7]), is_rank=True, theme="light"
    )
    low, high = figure.layout.yaxis.range
    assert low > high
    ranks = figure.data[0].y
    assert ranks == (120, None, 7)


def test_a_life_of_one_step_can_be_drawn():
    figure: Any = life.life_curve(np.array([0]), np.array([1]), is_rank=True, theme="light")
    assert figure.layout.xaxis.range == (0, 1)
