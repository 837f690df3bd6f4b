"""Explain the order in which right-to-left text, and text with direction controls, is drawn."""

from __future__ import annotations

from typing import Final

import regex

_RIGHT_TO_LEFT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}]")
# Arabic digits, too, would change the order of the numbers next to them.
_RUNS_FROM_RIGHT: Final = regex.compile(r"[\p{bc=R}\p{bc=AL}\p{bc=AN}]")
_MARKER: Final = regex.compile(r"<[^<>\s]+>")
_CONTROL: Final = regex.compile("[\u202a-\u202e\u2066-\u2069]")

RIGHT_TO_LEFT: Final = (
    "Right-to-left text is drawn from the right, and so are its tokens: the first one stands "
    "rightmost. Counts and ids follow the order in which the text is stored."
)


def isolated(text: str) -> str:
    """Return a text with controls that keep its direction from changing the order around it.

    An end-of-word marker in right-to-left text reads from the left. Text that runs from the left
    needs no controls.

    >>> isolated("hug"), isolated("ם</w>") == "\\u2068ם\\u2066</w>\\u2069\\u2069"
    ('hug', True)
    """
    if not _RUNS_FROM_RIGHT.search(text):
        return text
    return "\u2068" + _MARKER.sub("\u2066\\g<0>\u2069", text) + "\u2069"


def order_note(text: str) -> str:
    """Return what a reader must know about the order of a text on the screen, or nothing.

    >>> order_note("hug"), order_note("שלום") == RIGHT_TO_LEFT
    ('', True)
    >>> order_note("hug\\u202egup")
    'The text has an invisible character that changes the order on the screen: U+202E.'
    """
    found = sorted({f"U+{ord(control):04X}" for control in _CONTROL.findall(text)})
    notes = [RIGHT_TO_LEFT] if _RIGHT_TO_LEFT.search(text) else []
    if len(found) == 1:
        notes.append(
            f"The text has an invisible character that changes the order on the screen: {found[0]}."
        )
    elif found:
        notes.append(
            "The text has invisible characters that change the order on the screen: "
            f"{', '.join(found)}."
        )
    return " ".join(notes)
