"""Draw the lengths of a vocabulary's tokens, in three kinds that differ by colour and pattern."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from ui.look.chart_axes import name_base_axis, name_ticks, name_value_axis, tokens_axis
from ui.look.chart_style import PALETTES, Theme, empty_figure

MAX_BAR_LENGTH = 24
"""The length of the last bar, which also counts longer tokens."""
_KINDS = ("leading space", "no leading space", "partial UTF-8")
_HEIGHT = 300


def bar_lengths(place: int, n_lengths: int) -> str:
    """Return the lengths counted by a bar, in the form used in the address.

    >>> bar_lengths(4, 20), bar_lengths(23, 129)
    ('5', '24-')
    """
    length = place + 1
    return (
        f"{length}-" if length == MAX_BAR_LENGTH and n_lengths > MAX_BAR_LENGTH + 1 else str(length)
    )


def length_bars(
    kinds: NDArray[np.int64], *, chosen: tuple[int, int | None] | None, theme: Theme
) -> go.Figure:
    """Draw the number of tokens of each length in bytes, as bars stacked from three kinds.

    `kinds` is int64[3, longest + 1]. `chosen` is the shortest and the longest length in the filter,
    which get a frame.
    """
    colours = PALETTES[theme]
    n_bars = max(1, min(kinds.shape[1] - 1, MAX_BAR_LENGTH))
    bars = kinds[:, 1 : n_bars + 1].copy()
    bars[:, -1] += kinds[:, n_bars + 1 :].sum(axis=1)
    names = [str(length) for length in range(1, n_bars + 1)]
    if kinds.shape[1] > MAX_BAR_LENGTH + 1:
        names[-1] += "+"
    figure = empty_figure(theme, height=_HEIGHT, top=56)
    looks = (
        {"color": colours.primary},
        {"color": colours.bar},
        {
            "color": colours.background,
            "line": {"color": colours.text, "width": 1},
            "pattern": {"shape": "/", "fgcolor": colours.text, "size": 5, "solidity": 0.35},
        },
    )
    for kind, counts, look in zip(_KINDS, bars.tolist(), looks, strict=True):
        figure.add_bar(
            x=list(range(1, n_bars + 1)),
            # A bar of height 0 would still show its outline.
            y=[count or None for count in counts],
            name=kind,
            marker=look,
            customdata=names,
            hovertemplate=f"%{{customdata}} bytes, {kind}: %{{y:,}}<extra></extra>",
        )
    tokens_axis(figure, int(bars.sum(axis=0).max()))
    name_ticks(
        figure,
        "x",
        (sorted({1, *range(pitch, n_bars, pitch), n_bars}) for pitch in (1, 2, 3, 6, 12)),
        place=lambda tick: (tick - 0.4) / (n_bars + 0.2),
        label=lambda tick: names[int(tick) - 1],
        range=[0.4, n_bars + 0.6],
    )
    figure.update_layout(
        barmode="stack",
        bargap=0.2,
        showlegend=True,
        legend={
            "orientation": "h",
            "x": 1,
            "xanchor": "right",
            "y": 1.02,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
            "traceorder": "normal",
        },
    )
    name_value_axis(figure, "tokens", theme)
    name_base_axis(figure, "bytes")
    if chosen is not None:
        low, high = chosen
        figure.add_shape(
            type="rect",
            x0=max(low, 1) - 0.5,
            x1=min(high or n_bars, n_bars) + 0.5,
            yref="paper",
            y0=0,
            y1=1,
            line={"color": colours.text, "width": 1.5},
        )
    return figure
