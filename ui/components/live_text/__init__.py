"""Draw a text area that sends the typed text after a short pause, and catch large pastes.

A large paste never reaches a text field: it is read as a text to open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ui.components.shared import make_component
from ui.look import size_text

_EXCERPT = 2_000

_live_text = make_component(__file__, "live_text")


def draw_live_text(
    text: str,
    *,
    label: str,
    key: str,
    on_typed: Callable[[], None],
    on_pasted: Callable[[], None],
    on_closed: Callable[[], None],
    limits: Mapping[str, int],
    opened: tuple[str, int] | None,
    lines: int,
) -> None:
    """Draw a text area that holds `text`; the label is for screen readers only.

    `opened` is the name and the size of what was opened as a whole, drawn above the area.

    The area is `lines` high until the visitor resizes it. Before the page reruns, one of three
    functions is called: `on_typed` after a change, when the component's value holds the new text as
    `typed`; `on_pasted` after a large paste, when it holds a message for `read_paste` as `pasted`;
    and `on_closed` when the visitor closes an opened text. The page then passes the text back as
    `text`. A text longer than MAX_EDITED cannot be edited, and only its beginning is shown.
    """
    whole = len(text) <= MAX_EDITED
    if opened is None and not whole:
        opened = "Long text", len(text.encode())
    note = (
        ""
        if whole
        else f"The text has {len(text):,} characters, too many to edit here. "
        f"These are the first {_EXCERPT:,}."
    )
    data = {
        "text": text if whole else text[:_EXCERPT],
        "label": label,
        "lines": lines,
        "excerpt_note": note,
        "opened": None if opened is None else [opened[0], size_text(opened[1])],
        "limits": limits,
    }
    _live_text(
        key=key,
        data=data,
        on_typed_change=on_typed,
        on_pasted_change=on_pasted,
        on_closed_change=on_closed,
    )


LARGE = 200_000
"""A paste with more characters than this is opened; in a text field it would freeze the browser."""
MAX_EDITED = 500_000
"""The most characters that can be edited; with more, each key press takes a browser seconds."""

_catcher = make_component(__file__, "large_paste", "catcher")


def paste_limits(*, max_bytes: int, max_sent: int) -> dict[str, int]:
    """Return the limits of a field that opens `max_bytes` and reads `max_sent` characters.

    >>> paste_limits(max_bytes=1_000_000, max_sent=400_000)["pasted"]
    200000
    """
    return {"pasted": LARGE, "edited": MAX_EDITED, "bytes": max_bytes, "sent": max_sent}


@dataclass(frozen=True, slots=True)
class LargePaste:
    """A large text that was pasted into a field, together with what the field held already."""

    text: str
    """What was sent of it."""
    n_characters: int
    """The number of characters of the whole text."""
    n_bytes: int
    """The size of the whole text in UTF-8."""
    before: str
    """The field's text before the paste."""


def read_paste(message: object) -> LargePaste | None:
    """Return the paste in a message from the browser; None if the message is anything else.

    >>> read_paste({"text": "né", "n_characters": 2, "n_bytes": 3, "before": ""})
    LargePaste(text='né', n_characters=2, n_bytes=3, before='')
    >>> read_paste("né") is None
    True
    """
    if not isinstance(message, Mapping):
        return None
    message = cast("Mapping[str, object]", message)
    text, before = message.get("text"), message.get("before")
    counts = [message.get("n_characters"), message.get("n_bytes")]
    if not isinstance(text, str) or not isinstance(before, str):
        return None
    try:
        n_bytes = len(text.encode())
        before.encode()
    except UnicodeEncodeError:
        return None
    whole = [count if isinstance(count, int) else 0 for count in counts]
    return LargePaste(text, max(len(text), whole[0]), max(n_bytes, whole[1]), before)


def paste_catcher(
    label: str, *, limits: Mapping[str, int], key: str, on_pasted: Callable[[], Any]
) -> None:
    """Catch large pastes into the `st.text_area` with this label.

    `on_pasted` is called before the page reruns; the component's value then holds the message as
    `pasted`, for `read_paste`.
    """
    _catcher(key=key, data={"label": label, "limits": limits}, on_pasted_change=on_pasted)
