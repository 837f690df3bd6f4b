"""Draw how vocabularies trained on parts of a text compare, as Plotly figures."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from bpe_core.runs.sample_check import SampleFigures
from ui.look.chart_axes import name_base_axis, name_ticks, name_value_axis, value_axis
from ui.look.chart_style import CURVE_WIDTH, PALETTES, Theme, empty_figure

_HEIGHT = 260
_EQUAL = "equal tokens"
_JACCARD = "weighted Jaccard"


def part_name(share: float) -> str:
    """Return the name of a part of the text.

    >>> part_name(1 / 64), part_name(1.0)
    ('1/64', 'all')
    """
    return "all" if share == 1 else f"1/{round(1 / share)}"


def shared_with_all(figures: Sequence[SampleFigures], *, theme: Theme) -> go.Figure:
    """Draw how much each vocabulary shares with that of all of the text, in per cent."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    curves = [
        (_JACCARD, [100 * each.weighted_jaccard for each in figures], colours.other, "5px,3px"),
        (_EQUAL, [100 * each.share_of_equal_tokens for each in figures], colours.primary, "solid"),
    ]
    for name, values, colour, dash in curves:
        _add_curve(figure, values, colour, dash, f"{name} %{{y:.1f}}% at %{{text}}", figures)
    value_axis(figure, "y", 0, 104)
    _parts_axis(figure, figures)
    name_value_axis(figure, "shared with the whole text, in %", theme)
    # In the middle, since both curves end at 100%: each on its own side, where they rise away.
    at = len(figures) // 2
    upper = max(curves, key=lambda curve: curve[1][at])
    for curve in curves:
        name, values, colour, _ = curve
        figure.add_annotation(
            text=f"<b>{name}</b>",
            x=at,
            y=values[at],
            xanchor="right" if curve is upper else "left",
            yshift=13 if curve is upper else -13,
            showarrow=False,
            font={"color": colour},
        )
    figure.layout.hovermode = "x"
    return figure


def bytes_per_token_by_part(figures: Sequence[SampleFigures], *, theme: Theme) -> go.Figure:
    """Draw bytes per token on held-out text over the parts; the last value is labelled."""
    colours = PALETTES[theme]
    figure = empty_figure(theme, height=_HEIGHT)
    values = [each.bytes_per_token for each in figures]
    hover = "%{y:.3f} bytes per token at %{text}"
    _add_curve(figure, values, colours.primary, "solid", hover, figures)
    low = min(1.0, *values)
    value_axis(figure, "y", low, low + (max(values) - low) * 1.12 + 0.01)
    _parts_axis(figure, figures)
    name_value_axis(figure, "bytes per token on held-out text", theme)
    figure.add_annotation(
        text=f"<b>{values[-1]:.2f}</b>",
        x=len(values) - 1,
        y=values[-1],
        yshift=14,
        xanchor="right",
        showarrow=False,
        font={"color": colours.text},
    )
    figure.layout.hovermode = "x"
    return figure


def _add_curve(
    figure: go.Figure,
    values: Sequence[float],
    colour: str,
    dash: str,
    hover: str,
    figures: Sequence[SampleFigures],
) -> None:
    figure.add_scatter(
        x=list(range(len(values))),
        y=values,
        text=[part_name(each.share) for each in figures],
        mode="lines+markers",
        line={"width": CURVE_WIDTH, "color": colour, "dash": dash},
        marker={"size": 7, "color": colour},
        cliponaxis=False,
        hovertemplate=f"{hover}<extra></extra>",
    )


def _parts_axis(figure: go.Figure, figures: Sequence[SampleFigures]) -> None:
    last = len(figures) - 1
    name_ticks(
        figure,
        "x",
        (list(range(last, -1, -pitch))[::-1] for pitch in (1, 2, 3)),
        place=lambda tick: tick / last,
        label=lambda tick: part_name(figures[int(tick)].share),
        has_odd_last=False,
        range=[0, last],
    )
    name_base_axis(figure, "part of the text")
