"""Draw the axes of charts: their ranges, and ticks and margins that Plotly chooses in the browser.

Its margins grow with the labels, which only the browser can measure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from ui.look.chart_style import PALETTES, Axis, Theme, set_axis

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
