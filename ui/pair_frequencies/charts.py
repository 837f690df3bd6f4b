"""Draw the pairs of one step as Plotly figures; nothing is computed here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.look import (
    BAR_PITCH,
    CURVE_WIDTH,
    MONO,
    PALETTES,
    Theme,
    columns,
    counted,
    counts_axis,
    empty_figure,
    escaped,
    label_right,
    name_base_axis,
    name_rows,
    name_value_axis,
    ranks_axis,
    set_axis,
    shorten_end,
    shorten_start,
)

_SYMBOL_SIZE = 14
_MAX_PAIR_LENGTH = 14
_MAX_SYMBOL_LENGTH = 7


def top_pair_bars(
    pairs: Sequence[tuple[str, str]],
    counts: Sequence[int],
    tied: Sequence[bool],
    *,
    chosen: bool = True,
    theme: Theme,
) -> go.Figure:
    """Draw the most frequent pairs as bars: the winner first and filled, its ties outlined.

    After the last merge no pair is `chosen`, and all bars look alike. `pairs` are labels of the
    left and right tokens, drawn as text even if they spell markup.
    """
    colours = PALETTES[theme]
    n = len(pairs)
    marks = ["tie" if chosen and is_tied and place else "" for place, is_tied in enumerate(tied)]
    figure = empty_figure(theme, height=n * BAR_PITCH + 12, right=8, top=4, bottom=8)
    fills = [colours.bar if not (chosen and is_tied) else "rgba(0,0,0,0)" for is_tied in tied]
    edges = [colours.chosen if chosen and is_tied else colours.bar for is_tied in tied]
    if chosen and n:
        fills[0] = edges[0] = colours.chosen
    figure.add_bar(
        x=list(counts),
        y=list(range(n)),
        orientation="h",
        marker={
            "color": fills,
            "line": {"color": edges, "width": 1.75},
            "cornerradius": 2,
        },
        customdata=[f"{escaped(left)} + {escaped(right)}" for left, right in pairs],
        hovertemplate="%{customdata}: %{x:,}<extra></extra>",
        # A click selects a bar; the other bars must not fade.
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )
    set_axis(figure, "x", visible=False, range=[0, max(counts, default=1)])
    font = {"family": MONO, "size": _SYMBOL_SIZE, "color": colours.text}
    name_rows(figure, [_pair_label(left, right) for left, right in pairs], font)
    figures = [
        f"{count:,}" + (f"  <span style='color:{colours.chosen}'>{mark}</span>" if mark else "")
        for count, mark in zip(counts, marks, strict=True)
    ]
    label_right(figure, list(range(n)), figures, colours.text)
    return figure


def pair_heat_map(
    left: Sequence[str],
    right: Sequence[str],
    counts: NDArray[np.int64],
    *,
    outlined: tuple[int, int] | None = None,
    framed: tuple[int, int] | None = None,
    theme: Theme,
) -> go.Figure:
    """Draw counts of left by right symbols as colours, on a square-root scale.

    `counts` is int64[len(left), len(right)]; `outlined` is the row and column of the next merge,
    `framed` those of the selected pair. Cell n, counted row by row, is point n of the second trace,
    because cells of a heat map cannot be selected.
    """
    colours = PALETTES[theme]
    longest = min(max(map(columns, right), default=0), _MAX_SYMBOL_LENGTH)
    upright = longest > 2
    top = 14 + 9 * longest if upright else 28
    rows = [f"{shorten_start(label, _MAX_SYMBOL_LENGTH)} " for label in left]
    height = len(left) * BAR_PITCH + top + 8
    figure = empty_figure(theme, height=height, right=4, top=top, bottom=8)
    figure.add_heatmap(
        z=np.sqrt(counts).tolist(),
        zmin=0,
        colorscale=[[0, colours.panel], [1, colours.primary]],
        showscale=False,
        xgap=3,
        ygap=3,
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=[column for _ in left for column in range(len(right))],
        y=[row for row in range(len(left)) for _ in right],
        customdata=[
            f"{escaped(a)} + {escaped(b)}: {counted(count, 'time')}"
            for a, row in zip(left, counts.tolist(), strict=True)
            for b, count in zip(right, row, strict=True)
        ],
        mode="markers",
        marker={"symbol": "square", "size": 24, "opacity": 0},
        hovertemplate="%{customdata}<extra></extra>",
    )
    font = {"family": MONO, "size": _SYMBOL_SIZE, "color": colours.text}
    set_axis(
        figure,
        "x",
        side="top",
        tickvals=list(range(len(right))),
        ticktext=[shorten_end(label, _MAX_SYMBOL_LENGTH) for label in right],
        tickfont=font,
        tickangle=-90 if upright else 0,
        range=[-0.5, len(right) - 0.5],
    )
    name_rows(figure, rows, font)
    if framed != outlined:
        _frame_cell(figure, framed, colours.text)
    _frame_cell(figure, outlined, colours.chosen)
    return figure


def _frame_cell(figure: go.Figure, cell: tuple[int, int] | None, colour: str) -> None:
    if cell is None:
        return
    row, column = cell
    figure.add_shape(
        type="rect",
        x0=column - 0.5,
        x1=column + 0.5,
        y0=row - 0.5,
        y1=row + 0.5,
        line={"color": colour, "width": 3},
    )


def rank_frequency_curve(
    ranks: NDArray[np.int64], counts: NDArray[np.int64], *, chosen: bool = True, theme: Theme
) -> go.Figure:
    """Draw counts of pairs over their ranks on logarithmic axes; the `chosen` pair is marked."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=296, top=36)
    figure.add_scatter(
        x=ranks.tolist(),
        y=counts.tolist(),
        mode="lines",
        line={"width": CURVE_WIDTH, "color": colours.primary},
        hovertemplate="rank: %{x:,}<br>times: %{y:,}<extra></extra>",
    )
    if chosen:
        figure.add_scatter(
            x=ranks[:1].tolist(),
            y=counts[:1].tolist(),
            mode="markers",
            marker={"size": 10, "color": colours.chosen},
            cliponaxis=False,
            hoverinfo="skip",
        )
    counts_axis(figure, int(counts[0]) if len(counts) else 1)
    ranks_axis(figure, int(ranks[-1]) if len(ranks) else 1)
    name_value_axis(figure, "count", theme)
    name_base_axis(figure, "rank of the pair")
    return figure


def _pair_label(left: str, right: str) -> str:
    right_room = max(_MAX_PAIR_LENGTH // 2, _MAX_PAIR_LENGTH - columns(left))
    left_room = max(_MAX_PAIR_LENGTH // 2, _MAX_PAIR_LENGTH - columns(right))
    return f"{shorten_start(left, left_room)} + {shorten_end(right, right_room)} "
