"""Figures hold all of the core's numbers, on round axes with labels that fit, in both themes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.new_process import run_python
from ui.look import (
    NARROWEST,
    PALETTES,
    Theme,
    charts,
    columns,
    empty_figure,
    escaped,
    merges_axis,
    ranks_axis,
    shorten_end,
    shorten_start,
    text_width,
    value_axis,
)
from ui.look.chart_axes import round_ticks

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


# Axes label both their ends, and their labels fit


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


# Labels hold no markup, and their text direction does not affect what is around them


CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
LABELS: dict[str, Callable[[str], str]] = {
    "escaped": escaped,
    "shorten_start": lambda label: shorten_start(label, 10_000),
    "shorten_end": lambda label: shorten_end(label, 10_000),
}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_a_direction_control_is_written_out(label: Callable[[str], str]) -> None:
    for control in CONTROLS:
        assert label(f"a{control}<b>") == f"aU+{ord(control):04X}&lt;b&gt;"


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("text", ["שלום", "a سلام 12", "\u2069שלום"])
def test_right_to_left_text_is_isolated_from_its_surroundings(
    label: Callable[[str], str], text: str
) -> None:
    shown = label(text)
    assert (shown[0], shown[-1]) == ("\u2068", "\u2069")
    assert not set(shown[1:-1]) & set(CONTROLS)


@pytest.mark.parametrize("text", ["the", "日本", "naïve <b>", "", "12"])
def test_other_text_has_no_invisible_characters(text: str) -> None:
    assert escaped(text).isprintable()


def test_an_end_of_word_marker_reads_from_the_left_in_right_to_left_text() -> None:
    assert escaped("ם</w>") == "\u2068ם\u2066&lt;/w&gt;\u2069\u2069"
    assert escaped("a</w>") == "a&lt;/w&gt;"


def test_isolates_and_accents_take_no_room() -> None:
    assert columns(escaped("שם")) == columns("שם")
    assert columns("e\u0301") == 1
    assert shorten_end("e\u0301" * 3, 2) == "e\u0301…"
    assert shorten_start("ab👩\u200d💻", 5) == "…👩\u200d💻"


def test_a_shortened_label_counts_what_is_shown_and_is_isolated() -> None:
    assert shorten_start("\u202e" * 3, 6) == "…+202E"
    assert shorten_end("\u202e" * 3, 6) == "U+202…"
    assert shorten_end("שלום עולם", 5) == "\u2068של…\u2069"
