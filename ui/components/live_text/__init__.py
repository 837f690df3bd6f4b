"""Draw a text area that sends the typed text after a short pause, without a key to press."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ui.components.large_paste import MAX_EDITED
from ui.components.shared import make_component
from ui.look.labels import size_text

_EXCERPT = 2_000

_live_text = make_component(__file__, "live_text")


@dataclass(frozen=True, slots=True)
class OpenedHead:
    """What is drawn above a text that was opened as a whole."""

    name: str
    n_bytes: int


def live_text(
    text: str,
    *,
    label: str,
    key: str,
    on_typed: Callable[[], None],
    on_pasted: Callable[[], None],
    on_closed: Callable[[], None],
    limits: Mapping[str, int],
    opened: OpenedHead | None = None,
    lines: int = 4,
) -> None:
    """Draw a text area that holds `text`; the label is for screen readers only.

    The area is `lines` high until the visitor resizes it. Before the page reruns, one of three
    functions is called: `on_typed` after a change, when the component's value holds the new text as
    `typed`; `on_pasted` after a large paste, when it holds a message for `read_paste` as `pasted`;
    and `on_closed` when the visitor closes an opened text. The page then passes the text back as
    `text`. A text longer than MAX_EDITED cannot be edited, and only its beginning is shown.
    """
    whole = len(text) <= MAX_EDITED
    if opened is None and not whole:
        opened = OpenedHead("Long text", len(text.encode()))
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
        "opened": None if opened is None else [opened.name, size_text(opened.n_bytes)],
        "limits": limits,
    }
    _live_text(
        key=key,
        data=data,
        on_typed_change=on_typed,
        on_pasted_change=on_pasted,
        on_closed_change=on_closed,
    )
