"""Tokenizers side by side as Plotly figures: one colour each, in the order of the shelf."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.look.chart_style import (
    CURVE_WIDTH,
    PALETTES,
    Palette,
    Theme,
    empty_figure,
    escaped,
    merges_axis,
    name_base_axis,
    name_value_axis,
    powers_of_ten,
    set_axis,
    start_of,
)

# Colour alone tells no two apart.
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
_DASHES = ("solid", "6px,4px", "2px,3px", "8px,3px,2px,3px")
_CURVES_HEIGHT = 380
_MOST_CURVES = 8
_LABEL_PITCH = 17
_LONGEST_BAR_NAME = 20
_LETTER_WIDTH = 7
_MOST_FACTORS = 5


def kind_bars(
    kinds: Sequence[str],
    series: Sequence[tuple[str, Sequence[int]]],
    *,
    theme: Theme,
) -> go.Figure:
    """Counts by kind, a bar for each tokenizer under the one before it; of more than two their
    names stand beside the counts."""
    colours = PALETTES[theme]
    pitch = 12 + 20 * max(len(series), 1)
    names = [start_of(name, _LONGEST_BAR_NAME) if len(series) > 2 else "" for name, _ in series]
    right = 64 + _LETTER_WIDTH * max(map(len, names), default=0)
    height = len(kinds) * pitch + 12
    figure = empty_figure(theme, height=height, left=8, right=right, top=4, bottom=8)
    for place, (name, counts) in enumerate(series):
        figure.add_bar(
            x=list(counts),
            y=list(range(len(kinds))),
            name=name,
            orientation="h",
            marker={"color": _colour(colours, place), "cornerradius": 2},
            text=[f"{count:,} {names[place]}" for count in counts],
            textposition="outside",
            textfont={"color": colours.text},
            constraintext="none",
            cliponaxis=False,
            hovertemplate=f"{escaped(name)}: %{{x:,}} tokens<extra></extra>",
        )
    highest = max((count for _, counts in series for count in counts), default=1)
    set_axis(figure, "x", visible=False, range=[0, highest or 1])
    set_axis(
        figure,
        "y",
        range=[len(kinds) - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(len(kinds))),
        ticktext=[f"{escaped(kind)} " for kind in kinds],
        tickfont={"color": colours.text},
        automargin="left",
    )
    figure.update_layout(barmode="group", bargap=16 / pitch, bargroupgap=0.06)
    return figure


def language_dots(
    languages: Sequence[str],
    series: Sequence[tuple[str, Sequence[float], Sequence[bool]]],
    *,
    unit: str,
    shape: str,
    is_ratio: bool,
    theme: Theme,
) -> go.Figure:
    """One figure of each language, a dot for each tokenizer; hollow where it can't spell all.

    `series` are name, figures and whether each is hollow; a figure that is nan has no dot. A ratio
    is on an axis of factors, with a line at 1.
    """
    colours = PALETTES[theme]
    n = len(languages)
    # The legend takes its rows from the picture.
    legend = 22 * math.ceil(len(series) / 2) if len(series) > 3 else 0
    figure = empty_figure(theme, height=n * 24 + 96 + legend, left=8, right=24, top=40, bottom=44)
    values = [value for _, found, _ in series for value in found if not math.isnan(value)]
    for place, (name, found, hollow) in enumerate(series):
        colour = _colour(colours, place)
        written = ["–" if math.isnan(value) else shape.format(value) for value in found]
        figure.add_scatter(
            x=[None if math.isnan(value) else value for value in found],
            y=list(range(n)),
            name=escaped(name),
            mode="markers",
            marker={
                "symbol": _symbol(place),
                "size": 11,
                "color": [colours.background if empty else colour for empty in hollow],
                "line": {"color": colour, "width": 2},
            },
            cliponaxis=False,
            customdata=[
                f"{escaped(name)}, {escaped(language)}: {value}"
                for language, value in zip(languages, written, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    if is_ratio:
        _factor_axis(figure, values)
        figure.add_vline(x=1, line={"color": colours.text, "width": 1.5}, layer="below")
    else:
        set_axis(figure, "x", range=[0, max(values, default=1) * 1.04])
    set_axis(figure, "x", showgrid=True)
    set_axis(
        figure,
        "y",
        range=[n - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(n)),
        ticktext=[f"{start_of(language, 24)} " for language in languages],
        tickfont={"color": colours.text},
        automargin="left",
    )
    figure.update_layout(
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 0,
            "y": 1,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
            "font": {"color": colours.text, "size": 14},
        },
    )
    name_base_axis(figure, unit)
    return figure


def script_curves(
    steps: NDArray[np.int64],
    curves: Sequence[tuple[str, NDArray[np.int64]]],
    *,
    theme: Theme,
) -> go.Figure:
    """Merges of each script over all merges, on a log axis, so that small scripts can be seen."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_CURVES_HEIGHT, left=56, right=132, top=36)
    n_merges = int(steps[-1])
    highest = max((int(after[-1]) for _, after in curves), default=1)
    ends: list[tuple[str, float, str]] = []
    for place, (name, after) in enumerate(curves[:_MOST_CURVES]):
        colour = _colour(colours, place)
        figure.add_scatter(
            x=steps.tolist(),
            # On a log axis there is no nought: a curve begins with its first merge.
            y=[count or None for count in after.tolist()],
            name=name,
            mode="lines",
            line={"width": CURVE_WIDTH, "color": colour, "dash": _DASHES[place % len(_DASHES)]},
            hovertemplate=f"{escaped(name)}: %{{y:,}} of %{{x:,}} merges<extra></extra>",
        )
        ends.append((f"{escaped(name)} {int(after[-1]):,}", math.log10(after[-1]), colour))
    # Beside the names there is little room left on a phone.
    merges_axis(figure, n_merges, most=2)
    powers_of_ten(figure, "y", highest)
    top = math.log10(max(highest, 2)) * 1.05
    _name_ends(figure, n_merges, ends, pixels_per_unit=(_CURVES_HEIGHT - 80) / top)
    name_value_axis(figure, "merges of the script", theme)
    return figure


def _colour(colours: Palette, place: int) -> str:
    return colours.series[place % len(colours.series)]


def _symbol(place: int) -> str:
    """Where the colours come round again, each is with another symbol."""
    return _SYMBOLS[(place + place // len(_SYMBOLS)) % len(_SYMBOLS)]


def _factor_axis(figure: go.Figure, values: Sequence[float]) -> None:
    low = math.floor(math.log2(min([*values, 1.0])))
    high = math.ceil(math.log2(max([*values, 2.0])))
    # Powers of 4 where there are many, and 1 among them in any case.
    pitch = 1 if high - low <= _MOST_FACTORS else 2
    powers = range(low - low % pitch, high + 1, pitch)
    set_axis(
        figure,
        "x",
        type="log",
        range=[math.log10(2.0 ** powers[0]) - 0.02, math.log10(2.0**high) + 0.02],
        tickvals=[2.0**power for power in powers],
        ticktext=[f"{2**power}×" if power >= 0 else f"1/{2**-power}×" for power in powers],
        tickangle=0,
    )


def _name_ends(
    figure: go.Figure, x: int, ends: Sequence[tuple[str, float, str]], *, pixels_per_unit: float
) -> None:
    """Writes each curve's name at its end, the lower ones pushed down where they would touch."""
    lowest = math.inf
    for text, value, colour in sorted(ends, key=lambda end: -end[1]):
        wanted = value * pixels_per_unit
        placed = min(wanted, lowest - _LABEL_PITCH)
        lowest = placed
        figure.add_annotation(
            text=text,
            x=x,
            y=value,
            xshift=8,
            yshift=placed - wanted,
            xanchor="left",
            showarrow=False,
            font={"color": colour},
        )
