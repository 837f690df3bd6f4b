"""Axes label both their ends, and their labels fit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.look.chart_axes import (
    NARROWEST,
    merges_axis,
    ranks_axis,
    value_axis,
)
from ui.look.chart_labels import text_width
from ui.look.chart_style import empty_figure


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
