"""Buttons that keep charts of the page as PNG: with their titles, on the page's ground.

Plotly's own picture has neither: titles stand over the charts, not in them, and an image has only
the fonts that it brings along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent

_draw = component(
    "bpe.chart_pictures",
    css=component_css(_HERE, "chart_pictures"),
    js=join_modules(_HERE / "chart_pictures.js"),
)


@dataclass(frozen=True, slots=True)
class ChartPicture:
    """A chart that can be kept: the key that Streamlit knows it by, and what the picture says."""

    chart: str
    button: str
    title: str
    what: str
    file_name: str


def chart_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Draws a button for each chart, which saves it as it stands on the page, twice as fine."""
    _draw(key=key, data={"pictures": list(map(asdict, pictures))}, width="content")
