"""Keep a visitor's text in the address: a short one itself, a longer one by the id of its copy.

Several texts can be kept, each under a name: "text" is in the parameters `text` and `text_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

from bpe_core.errors import BpeError, NotKeptError
from ui.look import plain_markdown
from ui.shell import address, workspace
from ui.storage import DAYS_KEPT_UNOPENED, keep_text, load_text

MAX_TEXT_LENGTH_IN_ADDRESS = 1_000
_KEPT = "Too long for the address, so the text is kept on this server."
_HOW_LONG_KEPT = (
    "The id in the address brings it back. It is deleted "
    f"{DAYS_KEPT_UNOPENED} days after it was last opened, or after one day if the server needs the "
    "room."
)
NOT_KEPT = "The text is too long for the address, so a refresh brings back the sample text."
_MAX_ID_LENGTH = 64


@dataclass(frozen=True, slots=True)
class KeptText:
    """A long text and the id that it is kept under."""

    id: str
    text: str
    is_own: bool
    """False if it came by a link: then edits are kept under a new id."""


@dataclass(frozen=True, slots=True)
class KeptTexts:
    """The texts last kept for the address or loaded from it, by their names in the address."""

    by_name: Mapping[str, KeptText] = field(default_factory=dict[str, KeptText], repr=False)


def read_address_text(name: str) -> str | None:
    """Return the text that the address holds or names; warn and return None if it is missing."""
    text_id = address.query_text(_id_name(name), _MAX_ID_LENGTH)
    if text_id is None:
        return address.query_text(name, MAX_TEXT_LENGTH_IN_ADDRESS)
    try:
        text = load_text(text_id)
    except BpeError as error:
        st.warning(plain_markdown(str(error), 600))
        return None
    _remember(name, KeptText(text_id, text, is_own=False))
    return text


def text_to_address(name: str, text: str, *, longest: int) -> None:
    """Put a text in the address, and say so if it is kept on the server: its first characters."""
    if len(text) <= MAX_TEXT_LENGTH_IN_ADDRESS:
        address.set_query(**{name: text, _id_name(name): None})
        return
    kept = workspace.get(KeptTexts).by_name.get(name)
    if kept is None or kept.text != text:
        try:
            # A text that came by a link may be open in other tabs, so it is not replaced.
            before = kept.id if kept and kept.is_own else None
            text_id = keep_text(text[:longest], instead_of=before)
        except NotKeptError as error:
            leave_address(name)
            st.warning(f"{error} {NOT_KEPT}")
            return
        kept = KeptText(text_id, text, is_own=True)
        _remember(name, kept)
    address.set_query(**{name: None, _id_name(name): kept.id})
    st.markdown(f":gray[:small[{_KEPT}]]", help=_HOW_LONG_KEPT)


def start_area(name: str, first: str) -> None:
    """Begin the text area with the key `name` as in the address, else with `first`."""
    if not workspace.has_widget(name):
        text = read_address_text(name)
        workspace.set_widget(name, first if text is None else text)


def area_to_address(name: str, text: str, *, first: str, longest: int) -> None:
    """Put what a text area holds in the address, unless it is what it began with."""
    if text == first:
        leave_address(name)
    else:
        text_to_address(name, text, longest=longest)


def leave_address(name: str) -> None:
    """Remove the text from the address."""
    address.set_query(**{name: None, _id_name(name): None})


def _id_name(name: str) -> str:
    return f"{name}_id"


def _remember(name: str, kept: KeptText) -> None:
    workspace.update(KeptTexts, by_name={**workspace.get(KeptTexts).by_name, name: kept})
