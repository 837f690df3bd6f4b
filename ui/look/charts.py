"""The look of charts as Plotly figures: palettes, marks, short labels, axes, curves over a run.

Nothing is computed here. Ticks and margins are chosen by Plotly in the browser. Its margins grow
with the labels, which only the browser can measure.
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any, Final, Literal

import numpy as np
import plotly.graph_objects as go
import regex
from numpy.typing import ArrayLike, NDArray

from ui.look.labels import isolated

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

_FIRST_OF_WIDE_SCRIPTS: Final = "\u0530"  # after Latin, Greek and Cyrillic
# Isolates, joiners, variation selectors, and marks above or below a letter.
_WITHOUT_ROOM: Final = regex.compile(r"[\u2066-\u2069\u200d\ufe0e\ufe0f\p{Mn}\p{Me}]")
_CHARACTER: Final = regex.compile(r"\X")
_CONTROL: Final = regex.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NARROW_SIGNS: Final = "…→␣–—‘’“”"


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


def name_rows(figure: go.Figure, names: Sequence[str], font: Mapping[str, Any]) -> None:
    """Label the rows of a chart on the left, the first on top; the names are escaped already."""
    set_axis(
        figure,
        "y",
        range=[len(names) - 0.5, -0.5],
        showgrid=False,
        tickvals=list(range(len(names))),
        ticktext=list(names),
        tickfont=font,
    )


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


def columns(text: str) -> int:
    """Return the columns of a text in a fixed-width font; characters of many scripts take two.

    Accents, joiners and the controls that isolate a text take none.

    >>> columns("the"), columns("日本")
    (3, 4)
    """
    return sum(2 if _is_wide(character) else 1 for character in _WITHOUT_ROOM.sub("", text))


def escaped(label: str) -> str:
    """Escape a label for Plotly, which interprets tags in texts, and `%{x}` in those of a hover.

    Right-to-left text is isolated, so that it does not reorder the numbers next to it, and
    direction controls are written out.

    >>> escaped("<b>"), escaped("evil\\u202e")
    ('&lt;b&gt;', 'evilU+202E')
    """
    # Plotly's texts cannot have an attribute `dir`.
    shown = html.escape(isolated(_without_controls(label)), quote=False)
    return shown.replace("%{", "&#37;{")


def shorten_start(label: str, longest: int) -> str:
    """Return the end of a label in at most `longest` columns, for a symbol on the left.

    >>> shorten_start("language", 5), shorten_start("日本語", 5)
    ('…uage', '…本語')
    """
    label = _without_controls(label)
    if columns(label) <= longest:
        return escaped(label)
    return escaped("…" + _end(label, longest - 1))


def shorten_end(label: str, longest: int) -> str:
    """Return the start of a label in at most `longest` columns, for a symbol on the right.

    >>> shorten_end("language", 5)
    'lang…'
    """
    label = _without_controls(label)
    if columns(label) <= longest:
        return escaped(label)
    return escaped(_beginning(label, longest - 1) + "…")


def told_apart(labels: Sequence[str], longest: int) -> list[str]:
    """Return distinct labels in at most `longest` columns each, with their starts and ends.

    Where those are equal, too, the labels are numbered.

    >>> told_apart(["tokenizer-32k.json", "tokenizer-64k.json", "GPT-2"], 12)
    ['tokenize… 1', 'tokenize… 2', 'GPT-2']
    >>> told_apart(["tokenizer-32k.json", "tokenizer-64k.json"], 16)
    ['tokeniz…32k.json', 'tokeniz…64k.json']
    """
    shown = [_without_controls(label) for label in labels]
    short = [_middle_left_out(label, longest) for label in shown]
    alike = Counter(short)
    return [
        escaped(
            f"{_beginning(label, longest - 4)}… {place}" if alike[cut] > 1 and cut != label else cut
        )
        for place, (label, cut) in enumerate(zip(shown, short, strict=True), start=1)
    ]


def _middle_left_out(label: str, longest: int) -> str:
    if columns(label) <= longest:
        return label
    end = longest // 2
    return f"{_beginning(label, longest - 1 - end)}…{_end(label, end)}"


def _without_controls(label: str) -> str:
    return _CONTROL.sub(lambda control: f"U+{ord(control[0]):04X}", label)


def _beginning(label: str, longest: int) -> str:
    return "".join(_fitting(_CHARACTER.findall(label), longest))


def _end(label: str, longest: int) -> str:
    return "".join(_fitting(_CHARACTER.findall(label)[::-1], longest)[::-1])


def _fitting(characters: Sequence[str], longest: int) -> Sequence[str]:
    """Return the first characters that fit; an accent or a joined emoji is not taken apart."""
    ends = accumulate(map(columns, characters))
    return characters[: sum(end <= longest for end in ends)]


def _is_wide(character: str) -> bool:
    return character >= _FIRST_OF_WIDE_SCRIPTS and character not in _NARROW_SIGNS


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
