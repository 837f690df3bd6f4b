"""Draw the button that begins work, how far the work is, or why it ended without a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from bpe_core.errors import BpeError
from ui.look.labels import plain_markdown
from ui.work.background import Background
from ui.work.background_card import show_ended, watch_work
from ui.work.task import Status


def begin_button(label: str, begin: Callable[[], None] | None, *, key: str) -> None:
    """Draw the button that calls `begin`; disabled if there is nothing to begin."""
    if not st.button(label, type="primary", key=key, disabled=begin is None) or begin is None:
        return
    try:
        begin()
    except BpeError as error:
        st.error(plain_markdown(str(error), 600))
    else:
        st.rerun()


def show_work(
    background: Background[Any, Any],
    status: Status[Any, Any] | None,
    explain: Callable[[], None],
    *,
    unit: str,
    what: str,
    key: str,
) -> None:
    """Draw what to expect before the work, its progress, or why it ended without a result.

    `unit` is the unit of progress, and `what` names the work in a sentence.
    """
    if status is None:
        explain()
    elif status.is_live:
        watch_work(background, status.id, unit, key=key)
    elif status.result is None:
        show_ended(background, status, what, key=key)
