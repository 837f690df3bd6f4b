"""Draw measurements as Plotly figures on logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import plotly.graph_objects as go

from ui.look import (
    CURVE_WIDTH,
    LABEL_STANDOFF,
    PALETTES,
    Theme,
    empty_figure,
    escaped,
    make_room,
    make_room_beside,
    name_base_axis,
    name_ticks,
    name_value_axis,
    plain_number,
    set_axis,
    size_text,
    text_width,
)

_ROW = 34
_NAME_SIZE = 14
_GAP = 10
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
    figure = empty_figure(theme, height=n * _ROW + 60, left=8, top=8, bottom=44)
    texts = [f"  {speed_text(speed)}" for speed in speeds]
    make_room(figure, "l", LABEL_STANDOFF + _GAP + _widest(names))
    make_room(figure, "r", _GAP + _widest(texts))
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
        mode="markers+text",
        marker={
            "size": 12,
            "color": [
                fill if is_exact else colours.background
                for fill, is_exact in zip(fills, exact, strict=True)
            ],
            "line": {"color": fills, "width": 2},
        },
        text=texts,
        textposition="middle right",
        textfont={"color": colours.text, "size": _NAME_SIZE},
        cliponaxis=False,
        customdata=[escaped(name) for name in names],
        hovertemplate="%{customdata}: %{x:.3g} MB/s<extra></extra>",
    )
    _log_axis(
        figure,
        "x",
        range=(math.log10(low), math.log10(high) + 0.1),
        ticks=_powers(low, high),
        label=plain_number,
        showgrid=True,
    )
    set_axis(
        figure,
        "y",
        range=[n - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(n)),
        ticktext=[f"{escaped(name)} " for name in names],
        tickfont={"color": colours.text, "size": _NAME_SIZE},
    )
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
            make_room_beside(figure, name, _GAP)
            figure.add_annotation(
                text=f"<b>{escaped(name)}</b>",
                x=math.log10(xs[-1]),
                y=math.log10(ys[-1]),
                xshift=_GAP,
                xanchor="left",
                showarrow=False,
                font={"color": colour},
            )
    low_x, high_x = 10 ** math.floor(math.log10(min(sizes))), max(sizes)
    low_y, high_y = 10 ** math.floor(math.log10(min(times))), max(times)
    _log_axis(
        figure,
        "y",
        range=(math.log10(low_y), max(math.log10(high_y) + 0.15, math.log10(low_y) + 1)),
        ticks=_powers(low_y, max(high_y, 10 * low_y)),
        label=plain_number,
    )
    _log_axis(
        figure,
        "x",
        # A single size spans no range, so the axis shows the decade that contains it.
        range=(math.log10(min(sizes)) - 0.08, math.log10(high_x) + 0.08)
        if min(sizes) < high_x
        else (math.log10(low_x), math.log10(low_x) + 1),
        ticks=_powers(low_x, max(high_x, 10 * low_x)),
        label=size_text,
    )
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
    axis: Literal["x", "y"],
    *,
    range: tuple[float, float],
    ticks: Sequence[float],
    label: Callable[[float], str],
    **properties: Any,
) -> None:
    """Set a log axis, and label as many of its ticks as there is room for."""
    low, high = range
    inside = [tick for tick in ticks if low <= math.log10(tick) <= high]
    name_ticks(
        figure,
        axis,
        (inside[::pitch] for pitch in (1, 2, 3)),
        place=lambda tick: (math.log10(tick) - low) / (high - low),
        label=label,
        type="log",
        range=list(range),
        **properties,
    )


def _widest(labels: Sequence[str]) -> int:
    return max((text_width(label, _NAME_SIZE) for label in labels), default=0)


def _powers(low: float, high: float) -> list[float]:
    first, last = round(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]
