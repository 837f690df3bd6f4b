"""How charts look: palettes, the template of each theme, axes and marks that several share."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

import plotly.graph_objects as go

# Plotly takes pandas for there once any thread has begun to import it, and fails on what is not in
# it yet. Streamlit imports it with the first table that it draws; so it is whole before any chart.
import_module("pandas")

Theme = Literal["light", "dark"]
Mark = tuple[int, float]
"""A number of merges that a chart marks, and the curve's value there."""
CONFIG: dict[str, Any] = {
    "displayModeBar": "hover",
    "modeBarButtons": [["toImage"]],
    "displaylogo": False,
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "bpe-explorer-chart"},
    "showTips": False,
    "responsive": True,
}
"""What an `st.plotly_chart` of this app is given: one tool, a PNG of the chart, under the pointer
alone; the browser draws the picture itself."""
CONFIG_WITHOUT_TOOLS: dict[str, Any] = {**CONFIG, "displayModeBar": False}
"""The same for a chart that has a button of its own for its PNG, see components/chart_pictures."""

_SANS = "'Source Sans', 'Source Sans Pro', 'Noto Sans', sans-serif"
MONO = "'Source Code Pro', 'Noto Sans Mono', 'Noto Sans Mono CJK JP', monospace"
BAR_PITCH = 28
CURVE_WIDTH = 2.5
_LINE_HEIGHT = 18


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme; the components' shared style sheet holds the same values."""

    background: str
    panel: str
    text: str
    muted: str
    line: str
    primary: str
    other: str
    chosen: str
    bar: str
    series: tuple[str, ...]
    """A colour for each tokenizer that is compared: one's own first."""


PALETTES: dict[Theme, Palette] = {
    "light": Palette(
        background="#fdfcfa",
        panel="#f5f3ee",
        text="#211e1a",
        muted="#625c53",
        line="#dfdbd2",
        primary="#1d5b8f",
        other="#8a6a2f",
        chosen="#ad3407",
        bar="#a9b4bf",
        series=(
            *("#1d5b8f", "#8a6a2f", "#6a4c9c", "#0d6e75"),
            *("#5c6914", "#7a4630", "#4d5a6b", "#2f7a3d"),
        ),
    ),
    "dark": Palette(
        background="#171614",
        panel="#211f1c",
        text="#f3f1ec",
        muted="#b3aca1",
        line="#3b3833",
        primary="#7ab8ee",
        other="#d9b56a",
        chosen="#ff9066",
        bar="#5a6672",
        series=(
            *("#7ab8ee", "#d9b56a", "#b9a1ee", "#62c6cc"),
            *("#bcc766", "#d99a82", "#a9b6c8", "#7fce8c"),
        ),
    ),
}


@cache
def template(theme: Theme) -> go.layout.Template:
    """The look of all charts in one theme; each figure takes a copy."""
    colours = PALETTES[theme]
    axis = {
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "fixedrange": True,
        "gridcolor": colours.line,
        "gridwidth": 1,
        "linecolor": colours.line,
        "tickfont": {"color": colours.muted},
        "ticklabelstandoff": 5,
    }
    return go.layout.Template(
        layout={
            # The ground of the PNG; on the page `frame` takes it away, so that a chart drawn before
            # the theme is known does not flash.
            "paper_bgcolor": colours.background,
            "plot_bgcolor": "rgba(0,0,0,0)",
            "font": {"family": _SANS, "size": 13, "color": colours.muted},
            "margin": {"l": 48, "r": 16, "t": 28, "b": 44},
            "showlegend": False,
            "dragmode": False,
            "bargap": 0.3,
            "hoverlabel": {
                "bgcolor": colours.panel,
                "bordercolor": colours.line,
                "font": {"family": _SANS, "size": 14, "color": colours.text},
            },
            "xaxis": axis,
            "yaxis": {**axis, "showgrid": True},
        }
    )


def empty_figure(
    theme: Theme, *, height: int, left: int = 48, right: int = 16, top: int = 28, bottom: int = 44
) -> go.Figure:
    # Given as it is built, the template is taken apart and copied once, and not three times.
    return go.Figure(
        layout={
            "template": template(theme),
            "height": height,
            "margin": {"l": left, "r": right, "t": top, "b": bottom},
        }
    )


def set_axis(figure: go.Figure, axis: Literal["x", "y"], **properties: Any) -> None:
    """Adds to what is known of an axis: `update_xaxes` takes ten times as long over it, 3 ms."""
    name = f"{axis}axis"
    figure.layout[name] = {**figure.layout[name].to_plotly_json(), **properties}


def merges_axis(figure: go.Figure, n_merges: int, *, first: int = 0, most: int = 4) -> None:
    """The horizontal axis in merges done, from `first` to `n_merges`, both of them labelled; no
    more than `most` round numbers stand between."""
    ticks = round_ticks(n_merges, most, first=first)
    set_axis(
        figure,
        "x",
        range=[first, max(n_merges, first + 1)],
        tickvals=ticks,
        ticktext=[f"{tick:,}" for tick in ticks],
        tickangle=0,
    )
    name_base_axis(figure, "merges")


def round_ticks(last: int, most: int = 4, *, first: int = 0) -> list[int]:
    """The first and the last, and round numbers between; one too near to an end gives way."""
    if last <= first:
        return [first]
    pitch = _pitch(last - first, most)
    between = range(first - first % pitch + pitch, last, pitch)
    room = 0.7 * pitch
    return [first, *(t for t in between if t - first > room and last - t > room), last]


def _pitch(last: int, most: int) -> int:
    power = 10 ** max(0, math.floor(math.log10(max(1, last / most))))
    return next(p * power for p in (1, 2, 5, 10) if p * power * most >= last)


def tokens_axis(figure: go.Figure, highest: int) -> None:
    """The vertical axis in whole tokens from 0, thousands and millions cut short."""
    highest = max(highest, 1)
    ticks = range(0, highest + 1, _pitch(highest, 5))
    unit, sign = (1, "") if highest < 10_000 else (1_000, "k")
    if highest >= 1_000_000:
        unit, sign = 1_000_000, "M"
    set_axis(
        figure,
        "y",
        range=[0, highest * 1.04],
        tickvals=list(ticks),
        ticktext=[f"{tick / unit:,g}{sign if tick else ''}" for tick in ticks],
    )


def powers_of_ten(
    figure: go.Figure, axis: Literal["x", "y"], highest: int, *, first_on_top: bool = False
) -> None:
    """A log axis from 1; under two decades it also counts by 2 and 5."""
    decades = math.floor(math.log10(max(highest, 1))) + 1
    within = (1,) if decades > 2 else (1, 2, 5)
    ticks = [
        k * 10**decade for decade in range(decades) for k in within if k * 10**decade <= highest
    ]
    end = math.log10(max(highest, 2)) * 1.05
    set_axis(
        figure,
        axis,
        type="log",
        range=[end, -0.04 * end] if first_on_top else [0, end],
        tickvals=ticks,
        ticktext=[f"{tick:,}" for tick in ticks],
    )


def name_value_axis(figure: go.Figure, text: str, theme: Theme) -> None:
    """What the vertical axis counts, above its top end."""
    figure.add_annotation(
        text=text,
        xref="paper",
        yref="paper",
        x=0,
        y=1,
        xshift=-48,
        yshift=24,
        xanchor="left",
        showarrow=False,
        font={"color": PALETTES[theme].text},
    )


def name_base_axis(figure: go.Figure, text: str) -> None:
    """What the horizontal axis counts, under its right end."""
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


def mark_step(figure: go.Figure, mark: Mark | None, theme: Theme) -> None:
    """A line at a number of merges, and a ring where it meets the curve."""
    if mark is None:
        return
    x, y = mark
    colours = PALETTES[theme]
    figure.add_shape(
        type="line",
        x0=x,
        x1=x,
        yref="paper",
        y0=0,
        y1=1,
        line={"color": colours.text, "width": 1.5},
    )
    figure.add_scatter(
        x=[x],
        y=[y],
        mode="markers",
        marker={
            "size": 10,
            "color": colours.background,
            "line": {"color": colours.text, "width": 2},
        },
        cliponaxis=False,
        hoverinfo="skip",
    )


def label_ends(
    figure: go.Figure, *, x: int, ends: Sequence[tuple[str, float, str]], pixels_per_unit: float
) -> None:
    """Name each line at its end, by (name, value, colour); two that are close move apart."""
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
        figure.add_annotation(
            text=f"<b>{name} {value:.2f}</b>",
            x=x,
            y=value,
            xshift=8,
            yshift=shift,
            xanchor="left",
            showarrow=False,
            font={"color": colour},
        )


def escaped(label: str) -> str:
    """A label for Plotly, which reads tags in its texts."""
    return html.escape(label, quote=False)


def end_of(label: str, longest: int) -> str:
    """The last characters of a label, for a symbol that something follows."""
    return escaped(label if len(label) <= longest else "…" + label[1 - longest :])


def start_of(label: str, longest: int) -> str:
    """The first characters of a label, for a symbol that something precedes."""
    return escaped(label if len(label) <= longest else label[: longest - 1] + "…")
