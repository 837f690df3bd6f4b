"""Draw the button that begins work, how far the work is, or why it ended without a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.host.error_boundary import errors_shown
from ui.work.background import Background
from ui.work.background_card import show_ended, watch_work
from ui.work.task import Status


def begin_button(
    label: str, begin: Callable[[], None] | None, status: Status[Any, Any] | None, *, key: str
) -> None:
    """Draw the button that calls `begin`; without it, a press shows why nothing begins.

    `status` is that of the work if it was begun before.
    """
    # Never disabled: the browser sends what was typed last together with the press.
    if not st.button(label, type="primary", key=key):
        return
    if begin is None:
        st.markdown(f":orange[{_why_not(status)}]", width="content")
        return
    with errors_shown():
        begin()
        st.rerun()


def _why_not(status: Status[Any, Any] | None) -> str:
    if status is None:
        return "Complete the form first."
    return "This is running." if status.is_live else "This was computed: see the result."


def show_work(
    background: Background[Any, Any],
    status: Status[Any, Any] | None,
    explain: Callable[[], None] = lambda: None,
    *,
    unit: str,
    what: str,
    key: str,
    written: Callable[[int], str] = "{:,}".format,
) -> None:
    """Draw what to expect before the work, its progress, or why it ended without a result.

    `unit` is the unit of progress, `written` formats a number of it, and `what` names the work in a
    sentence.
    """
    if status is None:
        explain()
    elif status.is_live:
        watch_work(background, status.id, unit, key=key, written=written)
    elif status.result is None:
        show_ended(background, status, what, key=key)
