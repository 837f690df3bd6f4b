"""Define the look of charts: palettes, a template for each theme, marks, and short labels."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any, Final, Literal

import plotly.graph_objects as go
import regex

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
    """Escape a label for Plotly, which interprets tags in texts.

    Right-to-left text is isolated, so that it does not reorder the numbers next to it, and
    direction controls are written out.

    >>> escaped("<b>"), escaped("evil\\u202e")
    ('&lt;b&gt;', 'evilU+202E')
    """
    # Plotly's texts cannot have an attribute `dir`.
    return html.escape(isolated(_without_controls(label)), quote=False)


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
