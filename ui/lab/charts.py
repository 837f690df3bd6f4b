"""What the Lab measured, as Plotly figures on axes of powers of ten."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ui.look.chart_style import (
    CURVE_WIDTH,
    PALETTES,
    Theme,
    empty_figure,
    escaped,
    name_base_axis,
    name_value_axis,
    set_axis,
)

_ROW = 34
_DASHES = ("2px,3px", "solid", "6px,4px")


def speed_dots(
    names: Sequence[str],
    speeds: Sequence[float],
    *,
    own: Sequence[bool],
    exact: Sequence[bool],
    theme: Theme,
) -> go.Figure:
    """Speeds in MB/s as dots on a log axis, a line from the left to each.

    The engine's `own` are blue; one that isn't `exact` is hollow. Lengths on such an axis compare
    by factors, so a dot marks the value and the line only leads to it.
    """
    colours = PALETTES[theme]
    n = len(names)
    figure = empty_figure(theme, height=n * _ROW + 60, left=8, right=72, top=8, bottom=44)
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
        text=[f"  {speed_text(speed)}" for speed in speeds],
        textposition="middle right",
        textfont={"color": colours.text, "size": 14},
        cliponaxis=False,
        customdata=[escaped(name) for name in names],
        hovertemplate="%{customdata}: %{x:.3g} MB/s<extra></extra>",
    )
    ticks = _powers(low, high)
    set_axis(
        figure,
        "x",
        type="log",
        range=[math.log10(low), math.log10(high) + 0.1],
        showgrid=True,
        tickvals=ticks,
        ticktext=[f"{tick:,g}" for tick in ticks],
    )
    set_axis(
        figure,
        "y",
        range=[n - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(n)),
        ticktext=[f"{escaped(name)} " for name in names],
        tickfont={"color": colours.text, "size": 14},
        automargin="left",
    )
    name_base_axis(figure, "MB/s")
    return figure


def growth_curves(
    curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], *, own: str, theme: Theme
) -> go.Figure:
    """Seconds over bytes for each name, both axes in powers of ten; the `own` line is blue."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=360, left=56, right=104, top=36)
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
            figure.add_annotation(
                text=f"<b>{escaped(name)}</b>",
                x=math.log10(xs[-1]),
                y=math.log10(ys[-1]),
                xshift=10,
                xanchor="left",
                showarrow=False,
                font={"color": colour},
            )
    low_x, high_x = 10 ** math.floor(math.log10(min(sizes))), max(sizes)
    low_y, high_y = 10 ** math.floor(math.log10(min(times))), max(times)
    ticks_x = _powers(low_x, max(high_x, 10 * low_x))
    ticks_y = _powers(low_y, max(high_y, 10 * low_y))
    set_axis(
        figure,
        "x",
        type="log",
        # A single size has no decade of its own: it is shown in the one that it falls in.
        range=[math.log10(min(sizes)) - 0.08, math.log10(high_x) + 0.08]
        if min(sizes) < high_x
        else [math.log10(low_x), math.log10(low_x) + 1],
        tickvals=ticks_x,
        ticktext=[size_text(tick) for tick in ticks_x],
    )
    set_axis(
        figure,
        "y",
        type="log",
        range=[math.log10(low_y), max(math.log10(high_y) + 0.15, math.log10(low_y) + 1)],
        tickvals=ticks_y,
        ticktext=[f"{tick:,g}" for tick in ticks_y],
    )
    name_value_axis(figure, "seconds", theme)
    name_base_axis(figure, "bytes of text")
    return figure


def speed_text(speed: float) -> str:
    """A speed to two or three digits that count, never in powers.

    >>> speed_text(0.0012345), speed_text(1.204), speed_text(152.6)
    ('0.0012', '1.2', '153')
    """
    if speed >= 100:
        return f"{speed:,.0f}"
    return f"{speed:.{max(0, 1 - math.floor(math.log10(speed)))}f}" if speed > 0 else "0"


def size_text(n_bytes: float) -> str:
    """A number of bytes, short.

    >>> size_text(64), size_text(4_004), size_text(466_195), size_text(2_000_000)
    ('64 B', '4.0 kB', '466 kB', '2.0 MB')
    """
    for unit, size in (("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:,.{1 if n_bytes < 10 * size else 0}f} {unit}"
    return f"{n_bytes:,.0f} B"


def _powers(low: float, high: float) -> list[float]:
    first, last = round(math.log10(low)), math.floor(math.log10(high))
    return [10.0**power for power in range(first, last + 1)]
