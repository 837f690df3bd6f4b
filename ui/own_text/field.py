"""Draw the field for a visitor's own text, shared by several pages and restored by the address.

A short text is part of the address. A longer one is kept on the server, under an id.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from bpe_core.errors import BpeError
from ui.components.live_text import live_text
from ui.look.labels import plain_markdown
from ui.own_text.own_reading import MOST_CHARACTERS
from ui.shell import frame, workspace
from ui.shell.workspace import KeptText
from ui.storage.store import DAYS_KEPT_UNOPENED, NotKeptError
from ui.storage.upload_store import keep_text, load_text

LONGEST_TEXT_IN_ADDRESS = 1_000
KEPT = (
    "Too long for the address: the text is kept on this server, and the id in the address brings "
    f"it back. It is deleted {DAYS_KEPT_UNOPENED} days after it was last opened, or after one day "
    "if the server needs the room."
)
NOT_KEPT = "The text is too long for the address, so a refresh brings back the sample text."
_LONGEST_ID = 64


def own_text(first: str) -> str:
    """Return the text last typed or opened, else the address's text, else `first`."""
    text = workspace.current().text
    if text is None:
        text = _text_of_address()
        if text is not None:
            workspace.update(text=text)
    return first if text is None else text


def set_own_text(text: str) -> None:
    """Make a text the visitor's own, and drop the notes about a file opened before."""
    workspace.update(text=text, opened_notes=(), opened_problem="")


def text_field(text: str, *, first: str, key: str) -> None:
    """Draw the field with the text, and put the text in the address."""
    live_text(text, label="Your text", key=key, on_typed=partial(_keep_typed, key))
    if text == first:
        leave_address()
    elif len(text) <= LONGEST_TEXT_IN_ADDRESS:
        frame.set_query(text=text, text_id=None)
    else:
        _keep_for_address(text)


def leave_address() -> None:
    """Remove the text from the address."""
    frame.set_query(text=None, text_id=None)


def _keep_for_address(text: str) -> None:
    kept = workspace.current().kept_text
    if kept is None or kept.text != text:
        try:
            # A text that came by a link may be open in other tabs, so it is not replaced.
            before = kept.id if kept and kept.is_own else None
            text_id = keep_text(text[:MOST_CHARACTERS], instead_of=before)
        except NotKeptError as error:
            leave_address()
            st.warning(f"{error} {NOT_KEPT}")
            return
        kept = KeptText(text_id, text, is_own=True)
        workspace.update(kept_text=kept)
    frame.set_query(text=None, text_id=kept.id)
    st.markdown(f":gray[{KEPT}]")


def _text_of_address() -> str | None:
    text_id = frame.query_text("text_id", _LONGEST_ID)
    if text_id is None:
        return frame.query_text("text", LONGEST_TEXT_IN_ADDRESS)
    try:
        text = load_text(text_id)
    except BpeError as error:
        st.warning(plain_markdown(str(error), 600))
        return None
    workspace.update(kept_text=KeptText(text_id, text, is_own=False))
    return text


def _keep_typed(key: str) -> None:
    typed = workspace.component_value(key, "typed")
    if isinstance(typed, str):
        set_own_text(typed)
