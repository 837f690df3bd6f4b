"""Show a difference by parts: as rows of a table, as a chart, and as CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import plotly.graph_objects as go

import bpe_core
from bpe_core.comparison.interval_words import signed
from bpe_core.comparison.intervals import N_RESAMPLES, SEED
from bpe_core.comparison.parts import Division, TextPart, TokenSaving
from ui.compare.charts import name_rows
from ui.compare.gain_words import figure_words, part_name
from ui.compare.language_figures import plain_cell
from ui.components.figures import FigureRow
from ui.look.chart_axes import name_base_axis, value_axis
from ui.look.chart_labels import escaped, text_width, told_apart
from ui.look.chart_style import PALETTES, Theme, empty_figure, make_room, set_axis

TITLES: Final[dict[Division, str]] = {
    "kind": "By kind",
    "script": "By script",
    "type": "By file type",
    "file": "By file",
}
WHOLE: Final = "all text"
COLUMNS: Final = ("fewer or more tokens", "95% interval", "units")
ROW: Final = 28
_MAX_NAME_LENGTH: Final = 20
_LEAST: Final = -100.0
"""More than twice the tokens are drawn at the edge, as a triangle."""
_GAP: Final = 10


def shown_parts(gain: TokenSaving, division: Division) -> list[TextPart]:
    """Return the whole and the parts of a division, by the names shown."""
    parts = dict(gain.divisions)[division]
    return [
        gain.whole._replace(name=WHOLE),
        *(part._replace(name=part_name(division, part.name)) for part in parts),
    ]


def part_rows(parts: Sequence[TextPart]) -> list[FigureRow]:
    """Return a row for each part: both counts, the figure, its interval and its units."""
    return [
        FigureRow(
            part.name,
            (
                f"{part.own:,}",
                f"{part.theirs:,}",
                figure_words(part),
                "–" if math.isnan(part.low) else f"{_minus(part.low)} to {_minus(part.high)}",
                f"{part.n_units:,}",
            ),
        )
        for part in parts
    ]


def parts_csv(
    gain: TokenSaving, names: Sequence[str], text_sha256: str, fingerprints: Sequence[str] = ()
) -> bytes:
    """Return the whole and all parts as CSV, one line each.

    `fingerprints` are those of the two tokenizers, which tell them from others of the same name.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    own, other = (plain_cell(f"tokens of {name}") for name in names[:2])
    columns = ["by", "part", own, other, "percent fewer", "95% low", "95% high", "units"]
    more = [plain_cell(f"fingerprint of {name}") for name in names[: len(fingerprints)]]
    writer.writerow([*columns, "resamples", "seed", "text sha256", *more, "bpe_core"])
    lines = [("all", gain.whole), *((by, part) for by, parts in gain.divisions for part in parts)]
    for by, part in lines:
        figures = (part.percent_fewer, part.low, part.high)
        writer.writerow(
            [
                by,
                plain_cell(part.name),
                part.own,
                part.theirs,
                *("" if math.isnan(figure) else f"{figure:.6g}" for figure in figures),
                part.n_units,
                N_RESAMPLES,
                SEED,
                text_sha256,
                *fingerprints,
                bpe_core.__version__,
            ]
        )
    return buffer.getvalue().encode("utf-8-sig", "replace")


def _minus(percent: float) -> str:
    return f"{percent:,.1f}%".replace("-", "−").replace("−0.0%", "0.0%")


def part_dots(parts: Sequence[TextPart], *, theme: Theme) -> go.Figure:
    """Draw the figure of each part, the whole first, hollow if it has no interval.

    Figures to the right of the line at 0 are fewer tokens, to the left of it more.
    """
    colours = PALETTES[theme]
    shown = [part for part in parts if part.theirs]
    height = len(shown) * ROW + 64
    figure = empty_figure(theme, height=height, left=8, right=8, top=8, bottom=48)
    name_rows(figure, _row_names([part.name for part in shown]), colours)
    labels = [figure_words(part) for part in shown]
    make_room(figure, "r", _GAP + max(text_width(f"{label} ") for label in labels))
    ends = [end for part in shown for end in (part.low, part.high, part.percent_fewer)]
    drawn = [min(max(end, _LEAST), 100.0) for end in ends if not math.isnan(end)]
    low, high = min([*drawn, 0.0]), max([*drawn, 0.0])
    margin = 0.04 * max(high - low, 1.0)
    value_axis(figure, "x", low - margin, high + margin)
    set_axis(figure, "x", showgrid=True)
    figure.add_vline(x=0, line={"color": colours.text, "width": 1.5}, layer="below")
    for place, (part, label) in enumerate(zip(shown, labels, strict=True)):
        is_cut = part.percent_fewer < _LEAST
        at = max(part.percent_fewer, _LEAST)
        has_interval = not math.isnan(part.low)
        if has_interval and not is_cut:
            figure.add_scatter(
                x=[max(part.low, _LEAST), max(part.high, _LEAST)],
                y=[place, place],
                mode="lines",
                line={"color": colours.primary, "width": 2.5},
                hoverinfo="skip",
            )
        words = f"{escaped(part.name)}: {label} tokens"
        interval = (
            f", 95% interval {signed(part.low)} to {signed(part.high)}"
            if has_interval
            else ", too few units for an interval"
        )
        figure.add_scatter(
            x=[at],
            y=[place],
            mode="markers",
            marker={
                "symbol": "triangle-left" if is_cut else "circle",
                "size": 11,
                "color": colours.primary if has_interval else colours.background,
                "line": {"color": colours.primary, "width": 2},
            },
            cliponaxis=False,
            hovertemplate=f"{words}{interval}<extra></extra>",
        )
        figure.add_annotation(
            text=f"<b>{label}</b>" if place == 0 else label,
            xref="paper",
            x=1,
            y=place,
            xshift=_GAP,
            xanchor="left",
            showarrow=False,
            font={"color": colours.text},
        )
    name_base_axis(figure, "% fewer tokens; below 0, more")
    return figure


def _row_names(names: Sequence[str]) -> list[str]:
    """Return distinct names of rows, without the folders that all files share."""
    folders = [name.split("/")[:-1] for name in names if "/" in name]
    levels = zip(*folders, strict=False) if len(folders) > 1 else ()
    shared = takewhile(lambda level: len(set(level)) == 1, levels)
    start = "".join(f"{level[0]}/" for level in shared)
    return told_apart([name.removeprefix(start) for name in names], _MAX_NAME_LENGTH)
