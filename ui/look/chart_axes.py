"""Draw the axes of charts: choose the ticks, label them, and make room for the labels.

A horizontal axis counts merges or ranks, and both its ends are labelled; a vertical axis has round
numbers. A label that would touch another is left out. Draw the vertical axis and the labels next to
the curves first, because they decide how much room is left for the horizontal axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal

import plotly.graph_objects as go

from ui.look.chart_labels import text_width
from ui.look.chart_style import LABEL_STANDOFF, PALETTES, Theme, make_room, set_axis

NARROWEST = 324
"""The narrowest chart in pixels, on a phone and in columns."""
_MIN_GAP = 5
_GAP_BESIDE_CURVE = 8
_LINE_HEIGHT = 18
_PADDING_OF_ANNOTATIONS = 4  # Plotly's own, on both sides
_MAX_DIGITS_IN_FULL = 10
_SHORT_FROM = 10_000  # from here labels are shortened, to leave more room for the chart
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))


def merges_axis(
    figure: go.Figure, n_merges: int, *, first: int = 0, counts: str = "merges"
) -> None:
    """Draw the horizontal axis in merges, from `first` to `n_merges`, both labelled."""
    last = max(n_merges, first)
    end = max(last, first + 1)
    name_ticks(
        figure,
        "x",
        (round_ticks(last, most, first=first) for most in (4, 3, 2, 1)),
        place=lambda tick: (tick - first) / (end - first),
        label=_in_full,
        range=[first, end],
    )
    name_base_axis(figure, counts)


def tokens_axis(figure: go.Figure, highest: int) -> None:
    """Draw the vertical axis in whole numbers from 0, with thousands and millions shortened."""
    highest = max(highest, 1)
    unit, sign = (1, "") if highest < _SHORT_FROM else _unit(highest)
    end = highest * 1.04
    name_ticks(
        figure,
        "y",
        [list(range(0, highest + 1, int(_pitch(highest, 5, least=1))))],
        place=lambda tick: tick / end,
        label=lambda tick: f"{plain_number(tick / unit)}{sign if tick else ''}",
        range=[0, end],
    )


def value_axis(
    figure: go.Figure, axis: Literal["x", "y"], low: float, high: float, **properties: Any
) -> None:
    """Draw an axis from `low` to `high` in round numbers, which need not be whole."""
    candidates: list[list[float]] = []
    for most in (6, 3, 2, 1):
        pitch = _pitch(high - low, most)
        first, last = math.ceil(low / pitch - 1e-9), math.floor(high / pitch + 1e-9)
        # Multiplied, not added up, so that ten tenths are exactly one.
        candidates.append([float(f"{pitch * n:.12g}") for n in range(first, last + 1)])
    name_ticks(
        figure,
        axis,
        candidates,
        place=lambda tick: (tick - low) / (high - low),
        label=plain_number,
        has_odd_last=False,
        range=[low, high],
        **properties,
    )


def ranks_axis(figure: go.Figure, last: int) -> None:
    """Draw the horizontal axis in ranks from 1 to `last`, in powers of ten, both ends labelled."""
    end = math.log10(max(last, 2)) * 1.05
    name_ticks(
        figure,
        "x",
        ([*(tick for tick in ticks if tick < last), last] for ticks in _log_ticks(last)),
        place=lambda tick: math.log10(tick) / end,
        label=_label_up_to(last),
        type="log",
        range=[0, end],
    )


def counts_axis(figure: go.Figure, highest: int, *, first_on_top: bool = False) -> None:
    """Draw the vertical axis from 1 in powers of ten."""
    end = math.log10(max(highest, 2)) * 1.05
    name_ticks(
        figure,
        "y",
        _log_ticks(highest),
        place=lambda tick: math.log10(tick) / end,
        label=_label_up_to(highest),
        type="log",
        range=[end, -0.04 * end] if first_on_top else [0, end],
    )


def name_ticks(
    figure: go.Figure,
    axis: Literal["x", "y"],
    candidates: Iterable[Sequence[float]],
    *,
    place: Callable[[float], float],
    label: Callable[[float], str],
    has_odd_last: bool = True,
    **properties: Any,
) -> None:
    """Label values on an axis and make room for the labels.

    Uses the first of the candidates in which no label touches the next; labels that touch only the
    last one are dropped, unless the last is as round as the others: a gap would look like a tick
    forgotten. `place` maps a value to its place on the axis, from 0 to 1.
    """
    ticks: list[float] = []
    for candidate in candidates:
        ticks = list(candidate)
        if axis == "x":
            make_room(figure, "l", text_width(label(ticks[0])) / 2 if ticks else 0)
            make_room(figure, "r", text_width(label(ticks[-1])) / 2 if ticks else 0)
        length = _length(figure, axis)

        def are_apart(one: float, other: float, length: float = length) -> bool:
            room = (place(other) - place(one)) * length
            if axis == "y":
                return room >= _LINE_HEIGHT
            return room >= (text_width(label(one)) + text_width(label(other))) / 2 + _MIN_GAP

        while has_odd_last and len(ticks) > 2 and not are_apart(ticks[-2], ticks[-1]):
            del ticks[-2]
        if all(are_apart(one, other) for one, other in pairwise(ticks)):
            break
    texts = [label(tick) for tick in ticks]
    if axis == "y":
        make_room(figure, "l", LABEL_STANDOFF + max(map(text_width, texts), default=0))
    upright = {"tickangle": 0} if axis == "x" else {}
    set_axis(figure, axis, tickvals=ticks, ticktext=texts, **upright, **properties)


def name_value_axis(figure: go.Figure, text: str, theme: Theme) -> None:
    """Write what the vertical axis counts above its top end.

    Call it after the axis is drawn, because its labels decide where the chart begins.
    """
    layout: Any = figure.layout
    figure.add_annotation(
        text=text,
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        xshift=-layout.margin.l,
        yshift=24,
        xanchor="left",
        showarrow=False,
        font={"color": PALETTES[theme].text},
    )


def name_base_axis(figure: go.Figure, text: str) -> None:
    """Write what the horizontal axis counts under its right end."""
    figure.add_annotation(
        text=text,
        xref="paper",
        yref="paper",
        x=1,
        y=0,
        yshift=-40,
        xanchor="right",
        showarrow=False,
    )


def make_room_beside(figure: go.Figure, text: str, shift: int) -> None:
    """Widen the right margin for a text that begins `shift` pixels after the end of a curve."""
    make_room(figure, "r", shift + _PADDING_OF_ANNOTATIONS + text_width(text))


def label_ends(
    figure: go.Figure, *, x: int, ends: Sequence[tuple[str, float, str]], pixels_per_unit: float
) -> None:
    """Label each line at its end, from (name, value, colour); two close labels move apart."""
    shifts = [0.0] * len(ends)
    if len(ends) == 2:
        gap = (ends[0][1] - ends[1][1]) * pixels_per_unit
        if abs(gap) < _LINE_HEIGHT:
            upper = 0 if gap >= 0 else 1
            shifts[upper] = (_LINE_HEIGHT - abs(gap)) / 2
            shifts[1 - upper] = -shifts[upper]
    for (name, value, colour), shift in zip(ends, shifts, strict=True):
        if math.isnan(value):
            continue
        text = f"{name} {round(value, 2) + 0.0:.2f}"  # never -0.00
        make_room_beside(figure, text, _GAP_BESIDE_CURVE)
        figure.add_annotation(
            text=f"<b>{text}</b>",
            x=x,
            y=value,
            xshift=_GAP_BESIDE_CURVE,
            yshift=shift,
            xanchor="left",
            showarrow=False,
            font={"color": colour},
        )


def round_ticks(last: int, most: int = 4, *, first: int = 0) -> list[int]:
    """Return the first and the last value and round numbers between, none too near an end."""
    if last <= first:
        return [first]
    pitch = int(_pitch(last - first, most, least=1))
    between = range(first - first % pitch + pitch, last, pitch)
    room = 0.7 * pitch
    return [first, *(t for t in between if t - first > room and last - t > room), last]


def _pitch(span: float, most: int, least: float = 0) -> float:
    """Return the least of 1, 2, 5, 10 ... that divides a span into at most `most` parts."""
    power = max(10.0 ** math.floor(math.log10(max(span / most, 1e-9))), least)
    return next(p * power for p in (1, 2, 5, 10) if p * power * most >= span)


def _log_ticks(highest: int) -> list[list[int]]:
    """Return lists of powers of ten, each list sparser; up to two decades also 2 and 5 of each."""
    n_decades = len(str(max(highest, 1)))
    within = (1, 2, 5) if n_decades <= 2 else (1,)
    return [
        [k * 10**n for n in range(0, n_decades, pitch) for k in within if k * 10**n <= highest]
        for pitch in (1, 2, 3, 5, 8)
    ]


def _length(figure: go.Figure, axis: Literal["x", "y"]) -> float:
    layout: Any = figure.layout
    margin = layout.margin
    if axis == "y":
        return layout.height - margin.t - margin.b
    return NARROWEST - margin.l - margin.r


def _label_up_to(highest: int) -> Callable[[float], str]:
    return _in_full if highest < 10**_MAX_DIGITS_IN_FULL else _short


def _in_full(value: float) -> str:
    return f"{value:,.0f}"


def _short(value: float) -> str:
    """Format a whole number in thousands, millions and so on, to three digits.

    >>> _short(100), _short(10_000), _short(123_456_789_012)
    ('100', '10k', '123B')
    """
    unit, sign = _unit(value)
    return f"{float(f'{value / unit:.3g}'):,g}{sign}"


def _unit(value: float) -> tuple[float, str]:
    return next(((unit, sign) for unit, sign in _UNITS if value >= unit), (1, ""))


def plain_number(value: float) -> str:
    """Format a number without an exponent.

    >>> plain_number(0.5), plain_number(2.0), plain_number(9_000_000.0)
    ('0.5', '2', '9,000,000')
    """
    return f"{value:,.6f}".rstrip("0").rstrip(".")
