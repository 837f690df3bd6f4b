"""Draw the tokens of each kind under each tokenizer as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import plotly.graph_objects as go

from ui.compare.charts import name_rows, series_colour
from ui.look.chart_axes import NARROWEST
from ui.look.chart_labels import escaped, text_width, told_apart
from ui.look.chart_style import PALETTES, Palette, Theme, empty_figure, make_room, set_axis

_GAP: Final = 8
# Of more than two tokenizers, in pixels: a line with the name stands above each bar.
_HEADING: Final = 26
_NAME: Final = 19
_BAR: Final = 8
_ROW: Final = 32
_BETWEEN_KINDS: Final = 14
_SIDE: Final = 4


def kind_bars(
    kinds: Sequence[str], series: Sequence[tuple[str, Sequence[int]]], *, theme: Theme
) -> go.Figure:
    """Draw counts by kind, a bar for each tokenizer; more than two have their names above them."""
    colours = PALETTES[theme]
    return (_named_bars if len(series) > 2 else _pairs_of_bars)(kinds, series, theme, colours)


def _pairs_of_bars(
    kinds: Sequence[str],
    series: Sequence[tuple[str, Sequence[int]]],
    theme: Theme,
    colours: Palette,
) -> go.Figure:
    pitch = 12 + 20 * max(len(series), 1)
    figure = empty_figure(theme, height=len(kinds) * pitch + 12, left=8, top=4, bottom=8)
    name_rows(figure, [escaped(kind) for kind in kinds], colours)
    highest = _highest(series)
    make_room(figure, "r", _GAP + text_width(f"{highest:,} "))
    for place, (name, counts) in enumerate(series):
        figure.add_bar(
            x=list(counts),
            y=list(range(len(kinds))),
            name=name,
            orientation="h",
            marker={"color": series_colour(colours, place), "cornerradius": 2},
            text=[f"{count:,} " for count in counts],
            textposition="outside",
            textfont={"color": colours.text},
            constraintext="none",
            cliponaxis=False,
            hovertemplate=_hover(name),
        )
    set_axis(figure, "x", visible=False, range=[0, highest])
    figure.update_layout(barmode="group", bargap=16 / pitch, bargroupgap=0.06)
    return figure


def _named_bars(
    kinds: Sequence[str],
    series: Sequence[tuple[str, Sequence[int]]],
    theme: Theme,
    colours: Palette,
) -> go.Figure:
    highest = _highest(series)
    of_kind = _HEADING + _ROW * len(series) + _BETWEEN_KINDS
    height = of_kind * len(kinds)
    figure = empty_figure(theme, height=height, left=_SIDE, right=_SIDE, top=0, bottom=0)
    room = NARROWEST - 2 * _SIDE - text_width(f"{highest:,}  ")
    names = told_apart([name for name, _ in series], int(room / text_width("n")))
    # The vertical axis is in pixels.
    tops = [place * of_kind for place in range(len(kinds))]
    for kind, top in zip(kinds, tops, strict=True):
        _write(figure, f"<b>{escaped(kind)}</b>", top + _HEADING / 2, colours)
    for place, (name, counts) in enumerate(series):
        rows = [top + _HEADING + _ROW * place for top in tops]
        for row, count in zip(rows, counts, strict=True):
            text = f"{names[place]}  <b>{count:,}</b>"
            _write(figure, text, row + _NAME / 2, colours)
        figure.add_bar(
            x=list(counts),
            y=[row + _NAME + _BAR / 2 for row in rows],
            width=_BAR,
            name=name,
            orientation="h",
            marker={"color": series_colour(colours, place), "cornerradius": 2},
            hovertemplate=_hover(name),
        )
    set_axis(figure, "x", visible=False, range=[0, highest])
    set_axis(figure, "y", visible=False, range=[height, 0])
    figure.update_layout(barmode="overlay")
    return figure


def _write(figure: go.Figure, text: str, at: float, colours: Palette) -> None:
    figure.add_annotation(
        text=text,
        xref="paper",
        x=0,
        y=at,
        xanchor="left",
        yanchor="middle",
        borderpad=0,
        showarrow=False,
        font={"color": colours.text},
    )


def _highest(series: Sequence[tuple[str, Sequence[int]]]) -> int:
    return max((count for _, counts in series for count in counts), default=1) or 1


def _hover(name: str) -> str:
    return f"{escaped(name)}: %{{x:,}} tokens<extra></extra>"
