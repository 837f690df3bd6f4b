"""Draw a text area of the corpus form in which a large paste is opened as a file is."""

from __future__ import annotations

from functools import partial

import streamlit as st

from ui.components.large_paste import paste_catcher, paste_limits
from ui.corpus.own_text_field import OpenedText, close_text, find_text, open_pasted
from ui.look.labels import size_text
from ui.shell import workspace

MAX_BYTES_PASTED = 50_000_000
"""The most that one message from the browser is to carry; a file is uploaded in parts."""
_EXCERPT = 2_000
_WIDGET_PREFIX = "paste_"


def large_text_area(
    label: str, first: str = "", *, key: str, height: int, placeholder: str | None = None
) -> str:
    """Draw a text area, or the large text that was pasted into it, and return its text."""
    pasted = find_text(key)
    if pasted.opened is not None:
        return _show_pasted(label, pasted.text or "", pasted.opened, key=key, height=height)
    text = st.text_area(
        label, first, key=key, height=height, placeholder=placeholder, persist_state="session"
    )
    catcher = f"{_WIDGET_PREFIX}{key}"
    paste_catcher(
        label,
        limits=paste_limits(max_bytes=MAX_BYTES_PASTED, max_sent=MAX_BYTES_PASTED),
        key=catcher,
        on_pasted=partial(open_pasted, catcher, key, MAX_BYTES_PASTED),
    )
    return text or ""


def _show_pasted(label: str, text: str, opened: OpenedText, *, key: str, height: int) -> str:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**Pasted text** :gray[{size_text(opened.n_bytes)}]", width="content")
        st.button("Close", on_click=_close, args=(key,), key=f"{key}_close")
    st.text_area(label, text[:_EXCERPT], key=f"{key}_excerpt", height=height, disabled=True)
    if len(text) > _EXCERPT:
        st.markdown(
            f":gray[:small[These are the first {_EXCERPT:,} of {len(text):,} characters. "
            "All of them are used.]]"
        )
    return text


def _close(key: str) -> None:
    close_text("", key)
    workspace.set_widget(key, find_text(key).text or "")
