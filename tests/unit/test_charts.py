"""Figures hold all of the core's numbers, in both themes; labels hold no markup."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bpe_core.models import RowFigures
from bpe_core.trainers import ParityHistory
from tests.new_process import run_python
from ui.look import (
    PALETTES,
    Theme,
    charts,
    columns,
    empty_figure,
    escaped,
    label_ends,
    shorten_end,
    shorten_start,
    tokens_axis,
)
from ui.merge_loop.player_run import lengths_chart, picks_ribbon
from ui.vocabulary.token_section import norms_by_uses

THEMES: tuple[Theme, ...] = ("light", "dark")
STEPS = np.array([0, 1, 2, 5, 10, 40], dtype=np.int64)
TRAINING = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.25])
HELD_OUT = np.array([1.0, 1.2, 1.45, 1.9, 2.45, 3.2])

both_themes = pytest.mark.parametrize("theme", THEMES)


def _end_labels(figure: Any) -> list[str]:
    """Return the texts on the right of a chart, without their colour."""
    return [re.sub("<[^>]*>", "", text) for text in figure.layout.yaxis2.ticktext or ()]


def test_the_curves_hold_bytes_per_token_of_both_texts():
    figure: Any = charts.bytes_per_token_curves(STEPS, TRAINING, HELD_OUT, theme="light")
    drawn = {trace.name: trace for trace in figure.data}
    for name, values in (("training", TRAINING), ("held out", HELD_OUT)):
        assert list(drawn[name].x) == STEPS.tolist()
        assert list(drawn[name].y) == values.tolist()
    assert drawn["held out"].line.dash != drawn["training"].line.dash
    assert _end_labels(figure) == ["training 3.25", "held out 3.20"]
    assert figure.layout.title.text == "bytes per token"
    assert figure.layout.xaxis.title.text == "merges"


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
    assert _end_labels(figure) == []


def test_the_token_curve_labels_its_last_point():
    figure: Any = charts.tokens_over_merges([429_597, 300_000, 103_558], theme="light")
    line, end, _ = figure.data
    assert list(line.x) == [0, 1, 2]
    assert list(line.y) == [429_597, 300_000, 103_558]
    assert (end.x, end.y) == ((2,), (103_558,))
    assert _end_labels(figure) == ["103,558"]
    assert figure.layout.yaxis.range[0] == 0


def test_few_tokens_are_counted_one_by_one_and_each_axis_makes_room_for_its_labels():
    for highest, dtick in ((1, 1), (5, 1), (6, None), (429_597, None)):
        figure: Any = empty_figure("light", height=240)
        tokens_axis(figure, highest)
        assert figure.layout.yaxis.dtick == dtick
        assert figure.layout.yaxis.range == (0, 1.04 * highest)
        assert figure.layout.xaxis.automargin
        assert figure.layout.yaxis.automargin


@pytest.mark.parametrize(
    "values", [[3.0, 3.0, 2.99, 0.0, 0.0], [4.0, 1.0], [0.0] * 8, [4.0] * 8, [2.0]]
)
def test_labels_of_close_ends_are_a_line_apart_and_all_in_the_range(values: list[float]):
    figure: Any = empty_figure("light", height=240)
    tokens_axis(figure, 4)
    label_ends(figure, [(str(place), value, "#000") for place, value in enumerate(values)])
    low, high = figure.layout.yaxis2.range
    heights = figure.layout.yaxis2.tickvals
    assert len(heights) == len(values)
    assert low <= min(heights) <= max(heights) <= high
    pixels = (240 - figure.layout.margin.t - figure.layout.margin.b) / (high - low)
    gaps = [(one - other) * pixels for one, other in pairwise(heights)]
    assert all(gap >= 17.9 for gap in gaps)


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


def test_what_a_hover_would_read_as_a_figure_is_an_entity() -> None:
    for label in LABELS.values():
        assert label("%{y} & 5%") == "&#37;{y} &amp; 5%"


def test_the_languages_of_a_run_are_escaped_once_in_both_charts() -> None:
    lengths = np.array([[9, 8, 8], [6, 6, 5]])
    names = ("a&%{y}", "<b>")
    history = ParityHistory(names, np.array([0, 1], np.int32), lengths, plain=(8, 5))
    shown = ["a&amp;&#37;{y}", "&lt;b&gt;"]
    for theme in THEMES:
        picks, costs = picks_ribbon(history, theme), lengths_chart(history, theme)
        assert [row[0] for row in picks.data[0].text] == shown
        assert np.square(np.array(picks.data[0].z)).tolist() == history.picks(2)[1].tolist()
        for text in str(picks.to_dict()), str(costs.to_dict()):
            assert not re.search(r"&amp;amp;|a&%|<b>:", text)
        lines = [trace for trace in costs.data if trace.mode == "lines"]
        assert {tuple(line.y) for line in lines} == {(9, 8, 8), (6, 6, 5)}
        (dots,) = [trace for trace in costs.data if "plain BPE" in str(trace.hovertemplate)]
        assert dict(zip(dots.text, dots.y, strict=True)) == dict(zip(shown, (8, 5), strict=True))
        assert all(f"<b>{name}</b>" in str(costs.to_dict()["layout"]) for name in shown)


@both_themes
def test_each_row_is_drawn_at_the_uses_of_its_token(theme: Theme) -> None:
    # The last row is beyond the ids that the text has.
    found = RowFigures(np.array([2, 5, 6, 9]), np.array([1.0, 0.1, 0.9, 0.2]), (9, 5), {}, {})
    uses = np.array([0, 0, 250, 0, 0, 3, 0])
    others, candidates = norms_by_uses(found, uses, theme).data[:2]
    assert [*zip(others.customdata, others.y, others.x, strict=True)] == [
        (250, 1.0, 250),
        (0, 0.9, 0.5),
    ]
    assert [*zip(candidates.customdata, candidates.y, candidates.x, strict=True)] == [
        (3, 0.1, 3),
        (0, 0.2, 0.5),
    ]
    assert others.marker.color != candidates.marker.color


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
