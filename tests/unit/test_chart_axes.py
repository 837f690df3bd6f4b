"""Axes label both their ends, and their labels fit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.look import charts
from ui.look.chart_axes import (
    NARROWEST,
    counts_axis,
    label_ends,
    merges_axis,
    ranks_axis,
    tokens_axis,
    value_axis,
)
from ui.look.chart_labels import text_width
from ui.look.chart_style import empty_figure
from ui.pair_frequencies import charts as pair_charts


def make_figure() -> Any:
    return empty_figure("light", height=240)


def assert_labels_are_apart(figure: Any, places: list[float]) -> None:
    """Fail if labels touch in a narrow chart, or the last one is cut off at the right."""
    margin = figure.layout.margin
    texts, width = figure.layout.xaxis.ticktext, NARROWEST - margin.l - margin.r
    for (one, here), (other, there) in pairwise(zip(texts, places, strict=True)):
        assert (there - here) * width >= (text_width(one) + text_width(other)) / 2
    assert (1 - places[-1]) * width + margin.r >= text_width(texts[-1]) / 2


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_an_axis_of_merges_labels_both_its_ends_and_no_labels_touch(one: int, other: int) -> None:
    first, last = sorted((one, other))
    figure = make_figure()
    merges_axis(figure, last, first=first)
    axis = figure.layout.xaxis
    assert axis.ticktext[0] == f"{first:,}"
    assert axis.ticktext[-1] == f"{last:,}"
    assert axis.range[0] == first
    assert axis.range[1] == max(last, first + 1)
    span = axis.range[1] - axis.range[0]
    assert_labels_are_apart(figure, [(tick - first) / span for tick in axis.tickvals])


@given(st.integers(1, 10**12))
def test_an_axis_of_ranks_labels_both_its_ends_and_no_labels_touch(last: int) -> None:
    figure = make_figure()
    ranks_axis(figure, last)
    axis = figure.layout.xaxis
    assert (axis.tickvals[0], axis.tickvals[-1]) == (1, last)
    assert axis.range[1] >= np.log10(last)
    assert_labels_are_apart(figure, [np.log10(tick) / axis.range[1] for tick in axis.tickvals])


@pytest.mark.parametrize(("low", "high"), [(-14, 77), (-14, 32), (-2.6, 23), (-5, 20)])
def test_an_axis_of_values_has_a_tick_at_each_step(low: float, high: float) -> None:
    figure: Any = empty_figure("light", height=240, left=128, right=110)
    value_axis(figure, "x", low, high)
    ticks = figure.layout.xaxis.tickvals
    assert len(ticks) >= 2
    assert len({round(there - here, 9) for here, there in pairwise(ticks)}) == 1


@pytest.mark.parametrize("highest", [9, 999, 1_000_000, 10_000_000, 10**15 - 1, 2**63 - 1])
def test_the_left_margin_fits_the_widest_label(highest: int) -> None:
    for draw in (counts_axis, tokens_axis):
        figure = make_figure()
        draw(figure, highest)
        assert figure.layout.margin.l >= 8 + max(map(text_width, figure.layout.yaxis.ticktext))
        assert len(figure.layout.yaxis.ticktext) <= 9
        assert figure.layout.margin.l < NARROWEST / 3


@pytest.mark.parametrize(
    ("low", "high", "names"),
    [
        (1, 4.4, ["1", "2", "3", "4"]),
        (1, 1.0212, ["1", "1.005", "1.01", "1.015", "1.02"]),
        (1, 110.7, ["20", "40", "60", "80", "100"]),
        (0.4, 1.04, ["0.4", "0.6", "0.8", "1"]),
        (0, 10_400_000, ["0", "2,000,000", "4,000,000", "6,000,000", "8,000,000", "10,000,000"]),
    ],
)
def test_an_axis_of_values_labels_round_numbers(low: float, high: float, names: list[str]) -> None:
    figure = make_figure()
    value_axis(figure, "y", low, high)
    assert list(figure.layout.yaxis.ticktext) == names
    assert figure.layout.yaxis.range == (low, high)


def test_labels_at_the_ends_of_curves_fit() -> None:
    figure = make_figure()
    label_ends(figure, x=9, ends=[("your text", 1_234.5, "black")], pixels_per_unit=1)
    assert figure.layout.margin.r >= 8 + text_width("your text 1234.50")


def test_the_title_of_a_value_axis_starts_at_the_left_edge() -> None:
    counts = np.array([10_000_000, 1])
    figure: Any = charts.winner_counts_curve(np.array([0, 1]), counts, n_merges=2, theme="light")
    (name,) = [a for a in figure.layout.annotations if a.text == "count of the winning pair"]
    assert figure.layout.margin.l > 60
    assert name.xshift == -figure.layout.margin.l


def test_long_pairs_with_large_counts_leave_room_for_bars() -> None:
    for count in (9, 10_000_000):
        figure: Any = pair_charts.top_pair_bars(
            [("␣documentation", "electroencephalography")], [count], [True], theme="light"
        )
        margin = figure.layout.margin
        assert NARROWEST - margin.l - margin.r >= 64
        assert figure.data[0].text[0].startswith(f"{count:,}")
