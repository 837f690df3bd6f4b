"""Draw a text area of the corpus form in which a large paste is opened as a file is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from ui.components.large_paste import paste_catcher, paste_limits, read_paste
from ui.look.labels import size_text
from ui.shell import workspace

MAX_BYTES_PASTED = 50_000_000
"""The most that one message from the browser is to carry; a file is uploaded in parts."""
_EXCERPT = 2_000
_WIDGET_PREFIX = "paste_"


@dataclass(frozen=True, slots=True)
class PastedText:
    """A large paste into a text area."""

    text: str
    n_bytes: int
    before: str
    """What the text area held before."""


@dataclass(frozen=True, slots=True)
class PastedTexts:
    """Large pastes, by the key of the text area that each replaces."""

    by_key: Mapping[str, PastedText] = field(default_factory=dict[str, PastedText], repr=False)


def put_paste(key: str, pasted: PastedText) -> None:
    """Show a large paste in place of the text area with this key."""
    workspace.update(PastedTexts, by_key={**workspace.get(PastedTexts).by_key, key: pasted})


def large_text_area(
    label: str, first: str = "", *, key: str, height: int, placeholder: str | None = None
) -> str:
    """Draw a text area, or the large text that was pasted into it, and return its text."""
    pasted = workspace.get(PastedTexts).by_key.get(key)
    if pasted is not None:
        return _show_pasted(label, pasted, key=key, height=height)
    text = st.text_area(
        label, first, key=key, height=height, placeholder=placeholder, persist_state="session"
    )
    catcher = f"{_WIDGET_PREFIX}{key}"
    paste_catcher(
        label,
        limits=paste_limits(max_bytes=MAX_BYTES_PASTED, max_sent=MAX_BYTES_PASTED),
        key=catcher,
        on_pasted=partial(open_pasted, key, catcher),
    )
    return text or ""


def _show_pasted(label: str, pasted: PastedText, *, key: str, height: int) -> str:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Pasted text** :gray[{size_text(pasted.n_bytes)}]", width="content")
        st.button("Close", on_click=_close, args=(key,), key=f"{key}_close")
    text = pasted.text
    st.text_area(label, text[:_EXCERPT], key=f"{key}_excerpt", height=height, disabled=True)
    if len(text) > _EXCERPT:
        st.markdown(
            f":gray[:small[These are the first {_EXCERPT:,} of {len(text):,} characters. "
            "All of them are used.]]"
        )
    return text


def open_pasted(key: str, catcher: str) -> None:
    """Open the large paste that a catcher has sent, in place of the text area with this key."""
    paste = read_paste(workspace.component_value(catcher, "pasted"))
    if paste is None:
        return
    put_paste(key, PastedText(paste.text, paste.n_bytes, paste.before))


def _close(key: str) -> None:
    pasted = dict(workspace.get(PastedTexts).by_key)
    if opened := pasted.pop(key, None):
        workspace.set_widget(key, opened.before)
    workspace.update(PastedTexts, by_key=pasted)
