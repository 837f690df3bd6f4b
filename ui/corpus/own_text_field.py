"""Draw the field for a visitor's own text, shared by several pages and restored by the address.

A short text is part of the address. A longer one is kept on the server, under an id.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui.components.large_paste import paste_limits
from ui.components.live_text import OpenedHead, live_text
from ui.corpus import address_text, own_reading
from ui.corpus.opened_text import OwnText, close_text, open_pasted, set_own_text
from ui.look.direction import order_note
from ui.shell import workspace
from ui.shell.file_upload import max_file_bytes


def own_text(first: str, kind: type[OwnText] = OwnText) -> str:
    """Return the text last typed or opened, else the address's text, else `first`."""
    text = workspace.get(kind).text
    if text is None:
        text = address_text.read_address_text(kind.NAME)
        if text is not None:
            workspace.update(kind, text=text)
    return first if text is None else text


def text_field(text: str, *, first: str, key: str) -> None:
    """Draw the field with the text, and put the text in the address."""
    longest = own_reading.MAX_CHARACTERS
    live_field(text, OwnText, label="Your text", first=first, key=key, longest=longest)
    if cut := workspace.get(OwnText).cut:
        st.warning(cut)
    if note := order_note(text):
        st.markdown(f":gray[:small[{note}]]")
    to_address(text, OwnText, first=first, longest=longest)


def live_field(
    text: str,
    kind: type[OwnText],
    *,
    label: str,
    first: str,
    key: str,
    longest: int,
    lines: int = 4,
) -> None:
    """Draw a field that holds a text, of which up to `longest` characters are read."""
    opened = workspace.get(kind).opened
    live_text(
        text,
        label=label,
        key=key,
        on_typed=partial(_keep_typed, key, kind),
        on_pasted=partial(open_pasted, key, kind, longest),
        on_closed=partial(close_text, first, kind),
        limits=paste_limits(max_bytes=max_file_bytes(), max_sent=longest),
        opened=None if opened is None else OpenedHead(opened.name, opened.n_bytes),
        lines=lines,
    )


def to_address(text: str, kind: type[OwnText], *, first: str, longest: int) -> None:
    """Put a text in the address, unless it is the `first` one."""
    address_text.area_to_address(kind.NAME, text, first=first, longest=longest)


def leave_address() -> None:
    """Remove the text from the address."""
    address_text.leave_address(OwnText.NAME)


def _keep_typed(key: str, kind: type[OwnText]) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        set_own_text(typed, kind)
