"""Buttons that download charts as PNG images, with their titles, on the page's background.

Plotly's own export has neither: the titles are outside the charts, and its image cannot use the
page's fonts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from ui.components.shared import make_component

_draw = make_component(__file__, "chart_pictures")


@dataclass(frozen=True, slots=True)
class ChartPicture:
    """A chart to download: its Streamlit key, and the texts of the button and the image."""

    chart: str
    button: str
    title: str
    what: str
    file_name: str


def draw_chart_pictures(pictures: Sequence[ChartPicture], *, key: str) -> None:
    """Draw a button for each chart that downloads it as shown, at twice the resolution."""
    _draw(key=key, data={"pictures": list(map(asdict, pictures))}, width="content")
