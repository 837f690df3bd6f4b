"""A visitor's own text: typed on several pages, and brought back by the address.

A short text stands in the address itself. A longer one is kept on the server, under an id.
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
    f"it back, until nobody has opened it for {DAYS_KEPT_UNOPENED} days, or for one where room is "
    "needed."
)
NOT_KEPT = "The text is too long for the address, so a refresh brings the sample text back."
_LONGEST_ID = 64


def own_text(first: str) -> str:
    """What the visitor last typed or opened; else the address's text; else `first`."""
    text = workspace.current().text
    if text is None:
        text = _text_of_address()
        if text is not None:
            workspace.update(text=text)
    return first if text is None else text


def set_own_text(text: str) -> None:
    """Makes a text the visitor's own; what was said of a file opened before is over with it."""
    workspace.update(text=text, opened_notes=(), opened_problem="")


def text_field(text: str, *, first: str, key: str) -> None:
    """Draws the field that holds the text, and puts the text in the address."""
    live_text(text, label="Your text", key=key, on_typed=partial(_keep_typed, key))
    if text == first:
        leave_address()
    elif len(text) <= LONGEST_TEXT_IN_ADDRESS:
        frame.set_query(text=text, text_id=None)
    else:
        _keep_for_address(text)


def leave_address() -> None:
    """Takes the text out of the address."""
    frame.set_query(text=None, text_id=None)


def _keep_for_address(text: str) -> None:
    kept = workspace.current().kept_text
    if kept is None or kept.text != text:
        try:
            # What came by a link may be open elsewhere too, and stays as it is there.
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
