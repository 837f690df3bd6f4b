"""Draw what texts consist of: a bar of shares for each, one above the other, with one legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamlit.components.v2 import component

from ui.components.js_modules import join_modules
from ui.components.shared import component_css

_HERE = Path(__file__).parent
_draw = component(
    "bpe.share_bars",
    html="<div class='groups'></div>",
    css=component_css(_HERE, "share_bars"),
    js=join_modules(_HERE / "share_bars.js"),
)


@dataclass(frozen=True, slots=True)
class ShareBar:
    """The shares of one text, from 0 to 1, by name; the first bar of a group sets the order."""

    text: str
    shares: Sequence[tuple[str, float]]


def share_bars(*, key: str, groups: Sequence[tuple[str, Sequence[ShareBar]]]) -> None:
    """Draw groups of bars, such as "By script", each with the same texts."""
    _draw(
        key=key,
        data={
            "groups": [
                {
                    "title": title,
                    "bars": [
                        {
                            "text": bar.text,
                            "shares": [
                                {"name": name, "share": share} for name, share in bar.shares
                            ],
                        }
                        for bar in bars
                    ],
                }
                for title, bars in groups
            ]
        },
    )
