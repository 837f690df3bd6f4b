"""Draw curves over a run as Plotly figures; nothing is computed here."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from ui.look.chart_axes import (
    counts_axis,
    label_ends,
    merges_axis,
    name_value_axis,
    tokens_axis,
    value_axis,
)
from ui.look.chart_style import (
    CURVE_WIDTH,
    PALETTES,
    Mark,
    Theme,
    empty_figure,
    mark_step,
)


def bytes_per_token_curves(
    steps: NDArray[np.int64],
    training: NDArray[np.float64],
    held_out: NDArray[np.float64] | None,
    *,
    held_out_name: str = "held out",
    marked: Mark | None = None,
    theme: Theme,
) -> go.Figure:
    """Draw bytes per token over merges, with a line where the run is cut.

    `training` and `held_out` are float64[n], one value per step; `marked` need not be one of them.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=292)
    curves = [("training", training, colours.primary, "solid")]
    if held_out is not None:
        curves.append((held_out_name, held_out, colours.other, "5px,3px"))
    for name, values, colour, dash in reversed(curves):
        line = {"width": CURVE_WIDTH, "color": colour, "dash": dash}
        figure.add_scatter(
            x=steps.tolist(),
            y=values.tolist(),
            mode="lines",
            name=name,
            line=line,
            hovertemplate=f"{name} %{{y:.2f}} bytes per token<extra></extra>",
        )
    value_axis(figure, "y", *_find_range(training, held_out))
    ends = [(name, float(values[-1]), colour) for name, values, colour, _ in curves]
    label_ends(figure, [(f"{name} {value:.2f}", value, colour) for name, value, colour in ends])
    merges_axis(figure, int(steps[-1]))
    name_value_axis(figure, "bytes per token", theme)
    mark_step(figure, marked, theme)
    figure.layout.hovermode = "x"
    return figure


def tokens_over_merges(
    tokens: ArrayLike,
    *,
    theme: Theme,
    merges: ArrayLike | None = None,
    merges_wanted: int | None = None,
    marked: Mark | None = None,
    bend: Mark | None = None,
    height: int = 240,
) -> go.Figure:
    """Draw the tokens in the corpus over merges; the last value is labelled.

    `merges` are the numbers of merges for the values of `tokens`, by default 0, 1, 2 ... During a
    training the axis extends to `merges_wanted`. `bend` is the elbow of the curve.
    """
    colours = PALETTES[theme]
    y = np.asarray(tokens)
    x = np.arange(len(y)) if merges is None else np.asarray(merges)
    figure = empty_figure(theme, height=height)
    figure.add_scatter(
        x=x.tolist(),
        y=y.tolist(),
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate="tokens: %{y:,}<br>merges: %{x:,}<extra></extra>",
    )
    last = int(x[-1]) if len(x) else 0
    end = max(last, merges_wanted or 0)
    tokens_axis(figure, int(y.max(initial=0)))
    if len(y):
        figure.add_scatter(
            x=[last],
            y=y[-1:].tolist(),
            mode="markers",
            marker={"size": 8, "color": colours.primary},
            cliponaxis=False,
            hoverinfo="skip",
        )
        label_ends(figure, [(f"{int(y[-1]):,}", int(y[-1]), colours.text)])
    merges_axis(figure, end)
    name_value_axis(figure, "tokens in the corpus", theme)
    if bend is not None:
        figure.add_annotation(
            text="elbow",
            x=bend[0],
            y=bend[1],
            ax=22,
            ay=-26,
            xanchor="left",
            arrowhead=0,
            arrowwidth=1.5,
            arrowcolor=colours.text,
            font={"color": colours.text},
        )
    mark_step(figure, marked, theme)
    return figure


def winner_counts_curve(
    ranks: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    n_merges: int,
    marked: Mark | None = None,
    theme: Theme,
) -> go.Figure:
    """Draw how often each merge's pair occurred, on a logarithmic axis.

    `ranks` are the merges' ranks, from 0: each is the number of merges done before it.
    """
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=240)
    figure.add_scatter(
        x=ranks.tolist(),
        y=counts.tolist(),
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate="times: %{y:,}<br>merges: %{x:,}<extra></extra>",
    )
    counts_axis(figure, int(counts.max()) if len(counts) else 1)
    merges_axis(figure, n_merges)
    name_value_axis(figure, "count of the winning pair", theme)
    mark_step(figure, marked, theme)
    return figure


def _find_range(*series: NDArray[np.float64] | None) -> tuple[float, float]:
    """Return the ends of the value axis: 1 or less, and just over the highest; nan is ignored."""
    values = np.concatenate([one[~np.isnan(one)] for one in series if one is not None])
    low = min(1.0, float(values.min(initial=1.0)))
    high = float(values.max(initial=low))
    return low, low + ((high - low) * 1.06 or 1.0)
