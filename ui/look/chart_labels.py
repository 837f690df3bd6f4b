"""Labels in charts: escaped, cut where they are long, and how many pixels they take.

Python cannot measure text, and a browser that does draws the chart twice. So widths are estimated
here from those of the fonts that Streamlit carries, rounded up.
"""

from __future__ import annotations

import html
import math
from itertools import accumulate
from typing import Final

FONT_SIZE: Final = 13
_MONO_EM: Final = 0.6
# Of Source Sans in bold, which is a little wider than regular: parts of the font's size.
_EM_OF: Final = {
    character: em
    for em, characters in (
        (0.32, " ',.:;Iijl|·"),
        (0.47, '!"()*-/[]frstz{}'),
        (0.53, "0123456789"),
        (1.0, "%&@DGHMNOQUWmw…↵→"),
    )
    for character in characters
}
_EM_OF_OTHERS: Final = 0.62
_FIRST_OF_WIDE_SCRIPTS: Final = "\u0530"  # after Latin, Greek and Cyrillic
_NARROW_SIGNS: Final = "…→–—‘’“”"


def text_width(text: str, size: int = FONT_SIZE) -> int:
    """Estimate how many pixels a text takes in Source Sans, regular or bold; rather too many.

    >>> text_width("1,000,000"), text_width("10M")
    (57, 27)
    """
    return math.ceil(size * sum(map(_em, text)))


def mono_width(text: str, size: int) -> int:
    """Estimate how many pixels a text takes in Source Code Pro.

    >>> mono_width("t + h", 14)
    42
    """
    return math.ceil(size * _MONO_EM * columns(text))


def columns(text: str) -> int:
    """Count the columns that a text takes in a font of fixed width; many scripts take two each.

    >>> columns("the"), columns("日本")
    (3, 4)
    """
    return sum(2 if _is_wide(character) else 1 for character in text)


def escaped(label: str) -> str:
    """A label for Plotly, which reads tags in its texts."""
    return html.escape(label, quote=False)


def end_of(label: str, longest: int) -> str:
    """The last characters of a label, in so many columns: for a symbol that something follows.

    >>> end_of("language", 5), end_of("日本語", 5)
    ('…uage', '…本語')
    """
    if columns(label) <= longest:
        return escaped(label)
    return escaped("…" + _beginning(label[::-1], longest - 1)[::-1])


def start_of(label: str, longest: int) -> str:
    """The first characters of a label, in so many columns: for a symbol that something precedes.

    >>> start_of("language", 5)
    'lang…'
    """
    if columns(label) <= longest:
        return escaped(label)
    return escaped(_beginning(label, longest - 1) + "…")


def _beginning(label: str, longest: int) -> str:
    ends = accumulate(map(columns, label))
    return label[: sum(end <= longest for end in ends)]


def _is_wide(character: str) -> bool:
    return character >= _FIRST_OF_WIDE_SCRIPTS and character not in _NARROW_SIGNS


def _em(character: str) -> float:
    em = _EM_OF.get(character)
    if em is None:
        # Cyrillic letters are up to 0.9 wide, those of other scripts up to 1.
        em = _EM_OF_OTHERS if character.isascii() else 1.0
    return em
