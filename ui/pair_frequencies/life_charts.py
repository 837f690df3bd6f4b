"""Draw the life of one pair as Plotly figures; nothing is computed here."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.look.chart_axes import counts_axis, merges_axis, name_value_axis, tokens_axis
from ui.look.chart_style import (
    CURVE_WIDTH,
    PALETTES,
    Mark,
    Theme,
    empty_figure,
    mark_step,
    set_axis,
)


def life_counts(
    steps: NDArray[np.int64], counts: NDArray[np.int64], *, marked: Mark | None = None, theme: Theme
) -> go.Figure:
    """Draw how often a pair occurs over the steps at which it does: int64[n], int64[n].

    A count stands until the step of the next one.
    """
    figure = _life_curve(steps, counts, "%{y:,} times after %{x:,} merges", theme)
    tokens_axis(figure, int(counts.max(initial=1)))
    merges_axis(figure, int(steps[-1]), first=int(steps[0]))
    name_value_axis(figure, "count", theme)
    mark_step(figure, marked, theme)
    return figure


def life_ranks(
    steps: NDArray[np.int64], ranks: NDArray[np.int64], *, marked: Mark | None = None, theme: Theme
) -> go.Figure:
    """Draw the rank of a pair, the first on top, over the steps at which it occurs."""
    figure = _life_curve(steps, ranks, "rank %{y:,} after %{x:,} merges", theme)
    counts_axis(figure, int(ranks.max(initial=1)), first_on_top=True)
    merges_axis(figure, int(steps[-1]), first=int(steps[0]))
    name_value_axis(figure, "rank", theme)
    mark_step(figure, marked, theme)
    return figure


def _life_curve(
    steps: NDArray[np.int64], values: NDArray[np.int64], hover: str, theme: Theme
) -> go.Figure:
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=240)
    figure.add_scatter(
        x=steps.tolist(),
        # In between a pair may be gone and come back.
        y=[value if value > 0 else None for value in values.tolist()],
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary, "shape": "hv"},
        hovertemplate=f"{hover}<extra></extra>",
    )
    figure.add_scatter(
        x=steps[-1:].tolist(),
        y=values[-1:].tolist(),
        mode="markers",
        marker={"size": 8, "color": colours.primary},
        cliponaxis=False,
        hoverinfo="skip",
    )
    return figure


def life_place(
    steps: NDArray[np.int64], label: str, *, n_merges: int, step: int, theme: Theme
) -> go.Figure:
    """Draw the steps at which a short-lived pair occurs, as dots on one line.

    The vertical line marks the step that the page shows.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=96, left=16, top=12)
    figure.add_scatter(
        x=[0, n_merges],
        y=[0, 0],
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.line},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=steps.tolist(),
        y=[0] * len(steps),
        mode="markers",
        marker={"size": 10, "color": colours.primary},
        cliponaxis=False,
        hovertemplate="after %{x:,} merges<extra></extra>",
    )
    is_late = 2 * int(steps[-1]) > n_merges
    figure.add_annotation(
        text=f"<b>{label}</b>",
        x=int(steps[0] if is_late else steps[-1]),
        y=0,
        xshift=-10 if is_late else 10,
        yshift=14,
        xanchor="right" if is_late else "left",
        showarrow=False,
        font={"color": colours.text},
    )
    figure.add_shape(
        type="line", x0=step, x1=step, y0=-1, y1=1, line={"color": colours.text, "width": 1.5}
    )
    merges_axis(figure, n_merges)
    set_axis(figure, "y", visible=False, range=[-1, 1])
    return figure
