"""Define the look of charts: palettes, a template for each theme, and shared marks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Literal

import plotly.graph_objects as go

# Plotly uses pandas as soon as any thread has begun to import it, and fails if the import is not
# finished. Streamlit imports pandas with its first table, so it is imported here, before any chart.
import_module("pandas")

Theme = Literal["light", "dark"]
Axis = Literal["x", "y"]
Mark = tuple[int, float]
"""A number of merges that a chart marks, and the curve's value there."""
CONFIG: dict[str, Any] = {
    # Its buttons would cover the figures at the top of a chart: components/chart_pictures offers
    # the picture below it.
    "displayModeBar": False,
    "showTips": False,
    "responsive": True,
}
"""The `config` of every `st.plotly_chart`."""

_SANS = "'Source Sans', 'Source Sans Pro', 'Noto Sans', sans-serif"
MONO = "'Source Code Pro', 'Noto Sans Mono', 'Noto Sans Mono CJK JP', monospace"
NARROWEST = 324
"""The narrowest chart in pixels, on a phone and in columns."""
BAR_PITCH = 28
CURVE_WIDTH = 2.5
_LABEL_STANDOFF = 8  # just more than the radius of a marking ring


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of one theme; the components' shared style sheet has the same values."""

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
    """A colour for each compared tokenizer, the visitor's own first."""


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
            "#1d5b8f",
            "#8a6a2f",
            "#6a4c9c",
            "#0d6e75",
            "#5c6914",
            "#7a4630",
            "#4d5a6b",
            "#2f7a3d",
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
            "#7ab8ee",
            "#d9b56a",
            "#b9a1ee",
            "#62c6cc",
            "#bcc766",
            "#d99a82",
            "#a9b6c8",
            "#7fce8c",
        ),
    ),
}


@cache
def _layout(theme: Theme) -> dict[str, Any]:
    """Return the layout of all charts in one theme; each figure takes a copy."""
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
        "automargin": True,
        "separatethousands": True,
        # Thousands and millions are k and M, but only numbers of more than four digits.
        "exponentformat": "B",
        "minexponent": 4,
    }
    return {
        # Right after drawing a chart, Streamlit passes Plotly a copy of it. Plotly sees that it is
        # the same, and does not draw it again, only if the layout has a revision and no template,
        # and if the traces hold lists instead of NumPy's arrays.
        "datarevision": 0,
        # For the PNG; on the page `frame` removes it, so that a chart drawn before the theme is
        # known does not flash.
        "paper_bgcolor": colours.background,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": _SANS, "size": 13, "color": colours.muted},
        "margin": {"l": 8, "r": 16, "t": 28, "b": 44},
        "showlegend": False,
        "dragmode": False,
        "bargap": 0.3,
        "hoverlabel": {
            "bgcolor": colours.panel,
            "bordercolor": colours.line,
            "font": {"family": _SANS, "size": 14, "color": colours.text},
        },
        "xaxis": axis,
        "yaxis": {**axis, "showgrid": True, "ticklabelstandoff": _LABEL_STANDOFF},
    }


def empty_figure(
    theme: Theme, *, height: int, left: int = 8, right: int = 16, top: int = 28, bottom: int = 44
) -> go.Figure:
    figure = go.Figure(
        layout={
            **_layout(theme),
            "height": height,
            "margin": {"l": left, "r": right, "t": top, "b": bottom},
        }
    )
    figure.layout.template = None  # instead of Plotly's own
    return figure


def set_axis(figure: go.Figure, axis: Axis, **properties: Any) -> None:
    """Set properties of an axis, ten times faster than `update_xaxes`, which takes 3 ms."""
    name = f"{axis}axis"
    figure.layout[name] = {**figure.layout[name].to_plotly_json(), **properties}


def mark_step(figure: go.Figure, mark: Mark | None, theme: Theme) -> None:
    """Draw a line at a number of merges, and a ring where it meets the curve."""
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
