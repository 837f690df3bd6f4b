"""Escape and shorten labels of charts."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

import regex

from ui.look.labels import isolated

_FIRST_OF_WIDE_SCRIPTS: Final = "\u0530"  # after Latin, Greek and Cyrillic
# Isolates, joiners, variation selectors, and marks above or below a letter.
_WITHOUT_ROOM: Final = regex.compile(r"[\u2066-\u2069\u200d\ufe0e\ufe0f\p{Mn}\p{Me}]")
_CHARACTER: Final = regex.compile(r"\X")
_CONTROL: Final = regex.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_NARROW_SIGNS: Final = "…→␣–—‘’“”"


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
