"""Draw the field for a visitor's own text, shared by several pages and restored by the address.

A short text is part of the address. A longer one is kept on the server, under an id.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui.components.live_text import OpenedHead, live_text
from ui.corpus import address_text
from ui.corpus.opened_text import (
    OwnText,
    close_text,
    open_pasted,
    own_paste_limits,
    set_own_text,
)
from ui.corpus.own_reading import MAX_CHARACTERS
from ui.look.direction import order_note
from ui.shell import workspace

_NAME = "text"


def own_text(first: str) -> str:
    """Return the text last typed or opened, else the address's text, else `first`."""
    text = workspace.get(OwnText).text
    if text is None:
        text = address_text.read_address_text(_NAME)
        if text is not None:
            workspace.update(OwnText, text=text)
    return first if text is None else text


def text_field(text: str, *, first: str, key: str) -> None:
    """Draw the field with the text, and put the text in the address."""
    opened = workspace.get(OwnText).opened
    live_text(
        text,
        label="Your text",
        key=key,
        on_typed=partial(_keep_typed, key),
        on_pasted=partial(open_pasted, key),
        on_closed=partial(close_text, first),
        limits=own_paste_limits(),
        opened=None if opened is None else OpenedHead(opened.name, opened.n_bytes),
    )
    if cut := workspace.get(OwnText).cut:
        st.warning(cut)
    if note := order_note(text):
        st.markdown(f":gray[:small[{note}]]")
    if text == first:
        leave_address()
    else:
        address_text.text_to_address(_NAME, text, longest=MAX_CHARACTERS)


def leave_address() -> None:
    """Remove the text from the address."""
    address_text.leave_address(_NAME)


def _keep_typed(key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        set_own_text(typed)
