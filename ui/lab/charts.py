"""Draw measurements as Plotly figures on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ui.look import (
    CURVE_WIDTH,
    PALETTES,
    Axis,
    Theme,
    empty_figure,
    escaped,
    label_ends,
    label_right,
    name_base_axis,
    name_value_axis,
    power_ticks,
    set_axis,
)

_ROW = 34
_NAME_SIZE = 14
_DASHES = ("2px,3px", "solid", "6px,4px")


def speed_dots(
    names: Sequence[str],
    speeds: Sequence[float],
    *,
    own: Sequence[bool],
    exact: Sequence[bool],
    theme: Theme,
) -> go.Figure:
    """Draw speeds in MB/s as dots on a log axis, each with a line from the left.

    Dots of the app's `own` encoders are blue, and those not `exact` are hollow. A bar's length has
    no meaning on a log axis, so a dot marks the value, and the line only leads the eye to it.
    """
    colours = PALETTES[theme]
    n = len(names)
    figure = empty_figure(theme, height=n * _ROW + 60, top=8)
    low = 10 ** math.floor(math.log10(min(speeds, default=1.0)))
    high = max([*speeds, low * 10])
    fills = [colours.primary if is_own else colours.muted for is_own in own]
    for row, (speed, fill) in enumerate(zip(speeds, fills, strict=True)):
        figure.add_shape(
            type="line",
            x0=low,
            x1=speed,
            y0=row,
            y1=row,
            layer="below",
            line={"color": fill, "width": 2},
        )
    figure.add_scatter(
        x=list(speeds),
        y=list(range(n)),
        mode="markers",
        marker={
            "size": 12,
            "color": [
                fill if is_exact else colours.background
                for fill, is_exact in zip(fills, exact, strict=True)
            ],
            "line": {"color": fills, "width": 2},
        },
        cliponaxis=False,
        customdata=[escaped(name) for name in names],
        hovertemplate="%{customdata}: %{x:.3g} MB/s<extra></extra>",
    )
    _log_axis(figure, "x", math.log10(low), math.log10(high) + 0.1, showgrid=True)
    set_axis(
        figure,
        "y",
        range=[n - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(n)),
        ticktext=[f"{escaped(name)} " for name in names],
        tickfont={"color": colours.text, "size": _NAME_SIZE},
    )
    label_right(figure, list(range(n)), [speed_text(speed) for speed in speeds], colours.text)
    name_base_axis(figure, "MB/s")
    return figure


def growth_curves(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, own: str, theme: Theme
) -> go.Figure:
    """Draw seconds over bytes for each name, on log axes; the `own` line is blue."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=360, top=36)
    sizes = [size for xs, _ in curves.values() for size in xs] or [1]
    times = [seconds for _, ys in curves.values() for seconds in ys] or [1.0]
    ends: list[tuple[str, float, str]] = []
    for place, (name, (xs, ys)) in enumerate(curves.items()):
        colour = colours.primary if name == own else (colours.muted, colours.other)[place > 1]
        figure.add_scatter(
            x=list(xs),
            y=list(ys),
            mode="lines+markers",
            line={"width": CURVE_WIDTH, "color": colour, "dash": _DASHES[place % 3]},
            marker={"size": 8, "color": colour},
            cliponaxis=False,
            customdata=[escaped(name)] * len(xs),
            hovertemplate="%{customdata}: %{x:,} bytes in %{y:.3g} s<extra></extra>",
        )
        if xs:
            ends.append((escaped(name), ys[-1], colour))
    first, last = math.log10(min(sizes)), math.log10(max(sizes))
    low, high = math.floor(math.log10(min(times))), math.log10(max(times))
    _log_axis(figure, "y", low, max(high + 0.15, low + 1))
    # A single size spans no range, so the axis shows the decade that contains it.
    start = first - 0.08 if first < last else math.floor(first)
    _log_axis(figure, "x", start, max(last + 0.08, start + 1), exponentformat="B")
    label_ends(figure, ends, is_log=True)
    name_value_axis(figure, "seconds", theme)
    name_base_axis(figure, "bytes of text")
    return figure


def speed_text(speed: float) -> str:
    """Format a speed with two or three significant digits, never in scientific notation.

    >>> speed_text(0.0012345), speed_text(1.204), speed_text(152.6)
    ('0.0012', '1.2', '153')
    """
    if speed >= 100:
        return f"{speed:,.0f}"
    return f"{speed:.{max(0, 1 - math.floor(math.log10(speed)))}f}" if speed > 0 else "0"


def _log_axis(
    figure: go.Figure,
    axis: Axis,
    low: float,
    high: float,
    *,
    exponentformat: str = "none",  # 0.001 seconds are no “1 m”
    **properties: Any,
) -> None:
    """Draw an axis in powers of ten, from 10**low to 10**high."""
    ticks = {"dtick": power_ticks(high - low), "exponentformat": exponentformat}
    set_axis(figure, axis, type="log", range=[low, high], **ticks, **properties)
