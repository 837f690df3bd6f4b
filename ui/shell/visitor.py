"""Tell visitors apart, for fair turns: all tabs of a browser are one visitor."""

from __future__ import annotations

import hashlib
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_BROWSER: Final = "_streamlit_xsrf"
"""The cookie that Streamlit gives each browser."""


def visitor() -> str:
    """Return a code for the visitor of this session, which says nothing about them.

    Without cookies, each tab is a visitor; outside a session, the code is empty.
    """
    context = get_script_run_ctx()
    if context is None:
        return ""
    cookie = st.context.cookies.get(_BROWSER)
    found = cookie if isinstance(cookie, str) and cookie else context.session_id
    return hashlib.sha256(found.encode()).hexdigest()[:16]
