"""Draw what adding tokens gains, as a Plotly figure; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.look.chart_axes import label_ends, merges_axis, name_value_axis, value_axis
from ui.look.chart_style import CURVE_WIDTH, PALETTES, Mark, Theme, empty_figure, mark_step

_HEIGHT = 292
_MARGINS = 72
_MIN_TOP = 1.0
"""In per cent: a text that gains nothing is a line at the bottom, not magnified noise."""


class Curve(NamedTuple):
    """A curve with its label."""

    name: str
    values: NDArray[np.float64]
    """float64[n]: one value per step."""


def fewer_tokens(
    steps: NDArray[np.int64],
    curves: Sequence[Curve],
    *,
    marked: Mark | None,
    theme: Theme,
    counts: str = "tokens added",
) -> go.Figure:
    """Draw the percentage of tokens that texts save, over the `counts`.

    The first curve is solid, the second dashed.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    looks = [(colours.primary, "solid"), (colours.other, "5px,3px")]
    for curve, (colour, dash) in reversed(list(zip(curves, looks, strict=False))):
        figure.add_scatter(
            x=steps.tolist(),
            y=curve.values.tolist(),
            mode="lines",
            name=curve.name,
            line={"width": CURVE_WIDTH, "color": colour, "dash": dash},
            hovertemplate=f"{curve.name} %{{y:.1f}}% fewer tokens<extra></extra>",
        )
    top = max(_MIN_TOP, *(float(curve.values.max()) for curve in curves)) * 1.04
    low = min(0.0, *(float(curve.values.min()) for curve in curves)) * 1.04
    value_axis(figure, "y", low, top)
    ends = [
        (curve.name, float(curve.values[-1]), colour)
        for curve, (colour, _) in zip(curves, looks, strict=False)
    ]
    pixels = (_HEIGHT - _MARGINS) / (top - low)
    label_ends(figure, x=int(steps[-1]), ends=ends, pixels_per_unit=pixels)
    merges_axis(figure, int(steps[-1]), counts=counts)
    name_value_axis(figure, "fewer tokens than the base, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


def tokens_over_removals(
    steps: NDArray[np.int64], curve: Curve, *, marked: Mark | None, theme: Theme
) -> go.Figure:
    """Draw the percentage of tokens that a text takes more, over the tokens removed."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    figure.add_scatter(
        x=steps.tolist(),
        y=curve.values.tolist(),
        mode="lines",
        name=curve.name,
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate=f"{curve.name} %{{y:.1f}}% more tokens<extra></extra>",
    )
    value_axis(figure, "y", 0, max(_MIN_TOP, float(curve.values.max())) * 1.04)
    merges_axis(figure, int(steps[-1]), counts="tokens removed")
    name_value_axis(figure, "more tokens, in %", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure
