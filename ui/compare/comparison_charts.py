"""Draw tokenizers side by side as Plotly figures, one colour each, in the order of the shelf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from bpe_core.comparison import TextPart
from ui.compare.wording import figure_words
from ui.look import (
    CURVE_WIDTH,
    PALETTES,
    Palette,
    Theme,
    counts_axis,
    empty_figure,
    escaped,
    label_ends,
    label_right,
    merges_axis,
    name_base_axis,
    name_rows,
    name_value_axis,
    set_axis,
    shorten_end,
    told_apart,
    value_axis,
)

# Colour alone must not carry the difference.
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "pentagon", "star")
_DASHES = ("solid", "6px,4px", "2px,3px", "8px,3px,2px,3px")
_CURVES_HEIGHT = 380
_MAX_CURVES = 8
_MAX_FACTORS = 5
_LANGUAGE_ROW: Final = 20
_MAX_LANGUAGE_LENGTH = 18
_MAX_SCRIPT_LENGTH = 14
_MAX_LEGEND_LENGTH = 30
_MAX_BAR_LENGTH = 28
# The bars of more than two tokenizers, in pixels: each has a line with the name above it.
_HEADING: Final = 26
_NAME: Final = 19
_BAR: Final = 8
_ROW: Final = 32
_BETWEEN_KINDS: Final = 14
_SIDE: Final = 4
_PART_ROW: Final = 28
_MAX_PART_LENGTH: Final = 20
_MIN_PERCENT: Final = -100.0
"""More than twice the tokens are drawn at the edge, as a triangle."""


def language_dots(
    languages: Sequence[str],
    series: Sequence[tuple[str, Sequence[float], Sequence[bool]]],
    *,
    unit: str,
    shape: str,
    is_ratio: bool,
    theme: Theme,
) -> go.Figure:
    """Draw one figure for each language, a dot per tokenizer, hollow if it cannot spell all text.

    `series` are name, figures and whether each is hollow; nan has no dot. A ratio is drawn on an
    axis of factors, with a line at 1.
    """
    colours = PALETTES[theme]
    n = len(languages)
    # The legend's rows are added to the height of the chart.
    legend = 22 * math.ceil(len(series) / 2) if len(series) > 3 else 0
    figure = empty_figure(
        theme, height=n * _LANGUAGE_ROW + 96 + legend, right=24, top=40, bottom=44
    )
    names = [f"{shorten_end(name, _MAX_LANGUAGE_LENGTH)} " for name in languages]
    name_rows(figure, names, {"color": colours.text})
    values = [value for _, found, _ in series for value in found if not math.isnan(value)]
    shown_names = told_apart([name for name, _, _ in series], _MAX_LEGEND_LENGTH)
    for place, (name, found, hollow) in enumerate(series):
        colour = _series_colour(colours, place)
        written = ["–" if math.isnan(value) else shape.format(value) for value in found]
        figure.add_scatter(
            x=[None if math.isnan(value) else value for value in found],
            y=list(range(n)),
            name=shown_names[place],
            mode="markers",
            marker={
                # Colours that repeat get another symbol.
                "symbol": _SYMBOLS[(place + place // len(_SYMBOLS)) % len(_SYMBOLS)],
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
        value_axis(figure, "x", 0, max(values, default=1) * 1.04)
    set_axis(figure, "x", showgrid=True)
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
    """Draw the merges of each script on a logarithmic axis, so that small scripts are visible."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_CURVES_HEIGHT, top=36)
    n_merges = int(steps[-1])
    highest = max((int(after[-1]) for _, after in curves), default=1)
    ends: list[tuple[str, float, str]] = []
    for place, (name, after) in enumerate(curves[:_MAX_CURVES]):
        colour = _series_colour(colours, place)
        figure.add_scatter(
            x=steps.tolist(),
            # A logarithmic axis has no zero: a curve begins with its first merge.
            y=[count or None for count in after.tolist()],
            name=name,
            mode="lines",
            line={"width": CURVE_WIDTH, "color": colour, "dash": _DASHES[place % len(_DASHES)]},
            hovertemplate=f"{escaped(name)}: %{{y:,}}<br>merges: %{{x:,}}<extra></extra>",
        )
        ends.append(
            (
                f"{shorten_end(name, _MAX_SCRIPT_LENGTH)} {int(after[-1]):,}",
                int(after[-1]),
                colour,
            )
        )
    counts_axis(figure, highest)
    label_ends(figure, ends, is_log=True)
    merges_axis(figure, n_merges)
    name_value_axis(figure, "merges of the script", theme)
    return figure


def _series_colour(colours: Palette, place: int) -> str:
    """Return the colour of the tokenizer at a place of the shelf."""
    return colours.series[place % len(colours.series)]


def _factor_axis(figure: go.Figure, values: Sequence[float]) -> None:
    low = math.floor(math.log2(min([*values, 1.0])))
    high = math.ceil(math.log2(max([*values, 2.0])))
    doublings = math.ceil((high - low) / _MAX_FACTORS)
    set_axis(
        figure,
        "x",
        type="log",
        range=[math.log10(2.0**low) - 0.02, math.log10(2.0**high) + 0.02],
        dtick=doublings * math.log10(2),
        exponentformat="none",
        ticksuffix="×",
    )


def kind_bars(
    kinds: Sequence[str], series: Sequence[tuple[str, Sequence[int]]], *, theme: Theme
) -> go.Figure:
    """Draw counts by kind, a bar for each tokenizer under its name."""
    colours = PALETTES[theme]
    highest = max((count for _, counts in series for count in counts), default=1) or 1
    of_kind = _HEADING + _ROW * len(series) + _BETWEEN_KINDS
    height = of_kind * len(kinds)
    figure = empty_figure(theme, height=height, left=_SIDE, right=_SIDE, top=0, bottom=0)
    names = told_apart([name for name, _ in series], _MAX_BAR_LENGTH)
    # The vertical axis is in pixels.
    tops = [place * of_kind for place in range(len(kinds))]
    for kind, top in zip(kinds, tops, strict=True):
        _write(figure, f"<b>{escaped(kind)}</b>", top + _HEADING / 2, colours)
    for place, (name, counts) in enumerate(series):
        rows = [top + _HEADING + _ROW * place for top in tops]
        for row, count in zip(rows, counts, strict=True):
            text = f"{names[place]}  <b>{count:,}</b>"
            _write(figure, text, row + _NAME / 2, colours)
        figure.add_bar(
            x=list(counts),
            y=[row + _NAME + _BAR / 2 for row in rows],
            width=_BAR,
            name=name,
            orientation="h",
            marker={"color": _series_colour(colours, place), "cornerradius": 2},
            hovertemplate=f"{escaped(name)}, tokens: %{{x:,}}<extra></extra>",
        )
    set_axis(figure, "x", visible=False, range=[0, highest])
    set_axis(figure, "y", visible=False, range=[height, 0])
    figure.update_layout(barmode="overlay")
    return figure


def _write(figure: go.Figure, text: str, at: float, colours: Palette) -> None:
    figure.add_annotation(
        text=text,
        xref="paper",
        x=0,
        y=at,
        xanchor="left",
        yanchor="middle",
        borderpad=0,
        showarrow=False,
        font={"color": colours.text},
    )


def part_dots(parts: Sequence[TextPart], *, theme: Theme) -> go.Figure:
    """Draw the figure of each part, hollow if it has no interval.

    Figures to the right of the line at 0 are fewer tokens, to the left of it more.
    """
    colours = PALETTES[theme]
    shown = [part for part in parts if part.theirs]
    height = len(shown) * _PART_ROW + 32
    figure = empty_figure(theme, height=height, right=8, top=4, bottom=28)
    names = [f"{name} " for name in _row_names([part.name for part in shown])]
    name_rows(figure, names, {"color": colours.text})
    labels = [figure_words(part) for part in shown]
    ends = [end for part in shown for end in (part.low, part.high, part.percent_fewer)]
    drawn = [min(max(end, _MIN_PERCENT), 100.0) for end in ends if not math.isnan(end)]
    low, high = min([*drawn, 0.0]), max([*drawn, 0.0])
    margin = 0.04 * max(high - low, 1.0)
    set_axis(figure, "x", range=[low - margin, high + margin], showticklabels=False, showline=False)
    set_axis(figure, "y", showline=False)
    label_right(figure, list(range(len(shown))), labels, colours.text)
    figure.add_vline(x=0, line={"color": colours.muted, "width": 1.5}, layer="below")
    for place, (part, label) in enumerate(zip(shown, labels, strict=True)):
        is_cut = part.percent_fewer < _MIN_PERCENT
        at = max(part.percent_fewer, _MIN_PERCENT)
        has_interval = not math.isnan(part.low)
        if has_interval and not is_cut:
            figure.add_scatter(
                x=[max(part.low, _MIN_PERCENT), max(part.high, _MIN_PERCENT)],
                y=[place, place],
                mode="lines",
                line={"color": colours.primary, "width": 2.5},
                hoverinfo="skip",
            )
        words = f"{escaped(part.name)}: {label} tokens"
        interval = (
            f", 95% interval {TextPart.signed(part.low)} to {TextPart.signed(part.high)}"
            if has_interval
            else ", too few units for an interval"
        )
        figure.add_scatter(
            x=[at],
            y=[place],
            mode="markers",
            marker={
                "symbol": "triangle-left" if is_cut else "circle",
                "size": 11,
                "color": colours.primary if has_interval else colours.background,
                "line": {"color": colours.primary, "width": 2},
            },
            cliponaxis=False,
            hovertemplate=f"{words}{interval}<extra></extra>",
        )
    for text, anchor, shift in (("more ←", "right", -6), ("→ fewer", "left", 6)):
        figure.add_annotation(
            text=text,
            x=0,
            yref="paper",
            y=0,
            yshift=-4,
            yanchor="top",
            xshift=shift,
            xanchor=anchor,
            showarrow=False,
        )
    return figure


def _row_names(names: Sequence[str]) -> list[str]:
    """Return distinct names of rows, without the folders that all files share."""
    folders = [name.split("/")[:-1] for name in names if "/" in name]
    levels = zip(*folders, strict=False) if len(folders) > 1 else ()
    shared = takewhile(lambda level: len(set(level)) == 1, levels)
    start = "".join(f"{level[0]}/" for level in shared)
    return told_apart([name.removeprefix(start) for name in names], _MAX_PART_LENGTH)
