"""Draw what texts consist of: a bar of shares for each, one above the other, with one legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui.components.shared import make_component

_draw = make_component(__file__, "share_bars", html="<div class='groups'></div>")


@dataclass(frozen=True, slots=True)
class ShareBar:
    """The shares of one text, from 0 to 1, by name; the first bar of a group sets the order."""

    text: str
    shares: Sequence[tuple[str, float]]


def draw_share_bars(*, key: str, groups: Sequence[tuple[str, Sequence[ShareBar]]]) -> None:
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
