"""Figures hold all of the core's numbers, and are legible in both themes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.new_process import run_python
from ui.look import charts
from ui.look.chart_axes import round_ticks
from ui.look.chart_style import PALETTES, Theme

THEMES: tuple[Theme, ...] = ("light", "dark")
STEPS = np.array([0, 1, 2, 5, 10, 40], dtype=np.int64)
TRAINING = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.25])
HELD_OUT = np.array([1.0, 1.2, 1.45, 1.9, 2.45, 3.2])

both_themes = pytest.mark.parametrize("theme", THEMES)


def _texts(figure: Any) -> list[str]:
    return [annotation.text for annotation in figure.layout.annotations]


def test_the_curves_hold_bytes_per_token_of_both_texts():
    figure: Any = charts.bytes_per_token_curves(STEPS, TRAINING, HELD_OUT, theme="light")
    drawn = {trace.name: trace for trace in figure.data}
    for name, values in (("training", TRAINING), ("held out", HELD_OUT)):
        assert list(drawn[name].x) == STEPS.tolist()
        assert list(drawn[name].y) == values.tolist()
    assert drawn["held out"].line.dash != drawn["training"].line.dash
    assert "<b>training 3.25</b>" in _texts(figure)
    assert "<b>held out 3.20</b>" in _texts(figure)
    assert "bytes per token" in _texts(figure)
    assert "merges" in _texts(figure)


def test_the_cut_is_a_line_and_a_ring_at_the_number_of_merges_kept():
    figure: Any = charts.bytes_per_token_curves(
        STEPS, TRAINING, None, marked=(7, 2.25), theme="light"
    )
    (line,) = figure.layout.shapes
    ring = figure.data[-1]
    assert (line.x0, line.x1) == (7, 7)
    assert (ring.x, ring.y) == ((7,), (2.25,))


def test_a_run_without_merges_can_be_drawn():
    one = np.array([0], dtype=np.int64)
    charts.bytes_per_token_curves(one, np.array([1.0]), None, marked=(0, 1.0), theme="light")
    charts.tokens_over_merges([12], theme="light", marked=(0, 12.0))
    charts.winner_counts_curve(one[:0], one[:0], n_merges=0, theme="light")


def test_a_curve_without_tokens_has_no_label():
    figure: Any = charts.bytes_per_token_curves(STEPS, np.full(6, math.nan), None, theme="light")
    assert _texts(figure) == ["merges", "bytes per token"]


def test_the_token_curve_labels_its_last_point():
    figure: Any = charts.tokens_over_merges([429_597, 300_000, 103_558], theme="light")
    line, end = figure.data
    assert list(line.x) == [0, 1, 2]
    assert list(line.y) == [429_597, 300_000, 103_558]
    assert (end.x, end.y) == ((2,), (103_558,))
    assert "<b>103,558</b>" in _texts(figure)
    assert figure.layout.yaxis.range[0] == 0


@pytest.mark.parametrize(
    ("highest", "labels"),
    [
        (2, ["0", "1", "2"]),
        (429_597, ["0", "100k", "200k", "300k", "400k"]),
        (9_000, ["0", "2,000", "4,000", "6,000", "8,000"]),
        (9_845_861, ["0", "2M", "4M", "6M", "8M"]),
        (1_600_000, ["0", "0.5M", "1M", "1.5M"]),
        (2_000_000, ["0", "0.5M", "1M", "1.5M", "2M"]),
        (52_000_000, ["0", "20M", "40M"]),
    ],
)
def test_the_token_axis_counts_whole_tokens(highest, labels):
    figure: Any = charts.tokens_over_merges([highest, 1], theme="light")
    assert list(figure.layout.yaxis.ticktext) == labels


def test_the_token_curve_of_a_run_in_progress_leaves_room_for_the_rest():
    figure: Any = charts.tokens_over_merges(
        [90, 60], merges=[0, 2_381], merges_wanted=3_840, theme="dark"
    )
    assert figure.layout.xaxis.range == (0, 3_840)
    assert figure.data[1].x == (2_381,)


def test_the_winner_curve_holds_each_count():
    counts = np.array([50, 20, 20, 3, 2, 1])
    figure: Any = charts.winner_counts_curve(
        STEPS, counts, n_merges=41, marked=(5, 3.0), theme="light"
    )
    assert figure.layout.xaxis.range == (0, 41)
    assert list(figure.data[0].y) == counts.tolist()
    assert figure.data[1].x == (5,)


@pytest.mark.parametrize("last", [0, 1, 3, 7, 10, 99, 840, 3_840, 49_743, 1_000_000])
def test_ticks_are_few_and_round_and_the_last_is_the_end_of_the_run(last):
    ticks = round_ticks(last)
    assert ticks[0] == 0
    assert ticks[-1] == last
    assert len(ticks) <= 6
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize(("first", "last"), [(0, 1), (31, 52), (45, 46), (1_930, 3_903), (7, 7)])
def test_ticks_of_part_of_a_run_start_and_end_with_that_part(first, last):
    ticks = round_ticks(last, first=first)
    assert (ticks[0], ticks[-1]) == (first, last)
    assert len(ticks) <= 6
    assert ticks == sorted(set(ticks))


def _contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@both_themes
def test_every_text_colour_is_legible_on_the_page(theme):
    colours = PALETTES[theme]
    inks = (colours.text, colours.muted, colours.primary, colours.other, colours.chosen)
    for ink in (*inks, *colours.series):
        assert _contrast(ink, colours.background) >= 4.5


@pytest.mark.slow
def test_importing_charts_imports_pandas_completely():
    # In a separate process, because other tests have imported pandas in this one.
    code = "import sys; from ui.look import charts; assert sys.modules['pandas'].Series"
    run_python(code)
