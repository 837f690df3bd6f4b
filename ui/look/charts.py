"""Draw axes of charts and curves over a run as Plotly figures; nothing is computed here.

Ticks and margins are chosen by Plotly in the browser. Its margins grow with the labels, which only
the browser can measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike, NDArray

from ui.look.chart_style import (
    CURVE_WIDTH,
    PALETTES,
    Axis,
    Mark,
    Theme,
    empty_figure,
    mark_step,
    set_axis,
)

_LINE_HEIGHT = 18
_FEW = 6  # up to here each whole number has a tick, because Plotly would label halves, too
_BEYOND = 1.04  # the highest value is a little below the top


def merges_axis(
    figure: go.Figure, n_merges: int, *, first: int = 0, counts: str = "merges"
) -> None:
    """Draw the horizontal axis in merges, from `first` to `n_merges`."""
    end = max(n_merges, first + 1)
    set_axis(figure, "x", range=[first, end], **_whole(end - first))
    name_base_axis(figure, counts)


def tokens_axis(figure: go.Figure, highest: int) -> None:
    """Draw the vertical axis in whole numbers from 0."""
    highest = max(highest, 1)
    set_axis(figure, "y", range=[0, _BEYOND * highest], **_whole(highest))


def value_axis(figure: go.Figure, axis: Axis, low: float, high: float) -> None:
    """Draw an axis from `low` to `high` in round numbers, which need not be whole."""
    set_axis(figure, axis, range=[low, high])


def ranks_axis(figure: go.Figure, last: int) -> None:
    """Draw the horizontal axis in ranks from 1 to `last`, on a logarithmic scale."""
    set_axis(figure, "x", type="log", range=[0, _log_end(last)], **_log_ticks(last))


def counts_axis(figure: go.Figure, highest: int, *, first_on_top: bool = False) -> None:
    """Draw the vertical axis from 1 on a logarithmic scale."""
    end = _log_end(highest)
    range = [end, -0.04 * end] if first_on_top else [0, end]
    set_axis(figure, "y", type="log", range=range, **_log_ticks(highest))


def name_value_axis(figure: go.Figure, text: str, theme: Theme) -> None:
    """Write what the vertical axis counts above its top end."""
    figure.layout.title = {
        "text": text,
        "x": 0,
        "xref": "container",
        "xanchor": "left",
        "y": 1,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 3, "l": 2},
        "font": {"color": PALETTES[theme].text, "size": 13},
    }


def name_base_axis(figure: go.Figure, text: str) -> None:
    """Write what the horizontal axis counts under it."""
    set_axis(figure, "x", title={"text": text, "font": {"size": 13}, "standoff": 4})


def label_ends(
    figure: go.Figure, ends: Sequence[tuple[str, float, str]], *, is_log: bool = False
) -> None:
    """Label each line on the right, at the height of its end, from (text, value, colour).

    Labels that would touch are moved apart. Call it after the vertical axis is drawn.
    """
    shown = sorted(
        (end for end in ends if not math.isnan(end[1])), key=lambda end: end[1], reverse=True
    )
    layout: Any = figure.layout
    low, high = layout.yaxis.range
    length = layout.height - layout.margin.t - layout.margin.b
    line = _LINE_HEIGHT * (high - low) / length
    heights = [math.log10(value) if is_log else value for _, value, _ in shown]
    label_right(
        figure,
        [10**height if is_log else height for height in _apart(heights, line, low)],
        [f"<span style='color:{colour}'><b>{text}</b></span>" for text, _, colour in shown],
    )


def label_right(
    figure: go.Figure, values: Sequence[float], texts: Sequence[str], colour: str = ""
) -> None:
    """Label values of the vertical axis on its right side, too.

    Call it after the vertical axis is drawn.
    """
    layout: Any = figure.layout
    axis = layout.yaxis.to_plotly_json()
    layout.yaxis2 = {
        **axis,
        "overlaying": "y",
        "side": "right",
        "showgrid": False,
        "showline": False,
        "tickvals": list(values),
        "ticktext": list(texts),
        "tickfont": {"color": colour or axis["tickfont"]["color"]},
    }
    # Plotly draws an axis only if there is a trace on it.
    figure.add_scatter(x=[None], y=[None], yaxis="y2", hoverinfo="skip")


def _apart(heights: Sequence[float], line: float, low: float) -> list[float]:
    """Move falling heights down until they are a line apart, but none below `low`.

    >>> _apart([10, 9, 1], 2, 0), _apart([1, 0], 2, 0)
    ([10, 8, 1], [2, 0])
    """
    placed: list[float] = []
    for height in heights:
        placed.append(min(height, placed[-1] - line) if placed else height)
    last = len(placed) - 1
    return [max(height, low + line * (last - place)) for place, height in enumerate(placed)]


def power_ticks(n_decades: float) -> int:
    """Return how many powers of ten lie between two ticks of an axis over so many.

    >>> power_ticks(4.9), power_ticks(7)
    (1, 2)
    """
    return max(1, math.ceil(n_decades / 5))


def _whole(span: float) -> dict[str, Any]:
    """Return the ticks of an axis of whole numbers."""
    return {"dtick": 1, "tick0": 0} if span < _FEW else {}


def _log_end(highest: int) -> float:
    return math.log10(max(highest, 2)) * 1.05


def _log_ticks(highest: int) -> dict[str, Any]:
    if highest < 100:
        return {"dtick": "D2"}  # 1, 2, 5 and 10
    return {"dtick": power_ticks(math.log10(highest))}


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
