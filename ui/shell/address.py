"""Read and write the parameters in a page's address.

Each request of the browser brings its address along, and one sent just before it learns of a change
made here brings the old one. Such a request would undo the change, so a change is made again if the
value before it comes back within a few seconds, unless the visitor went back in the history.
"""

from __future__ import annotations

import time
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.shell import workspace
from ui.shell.workspace import AddressChange

_SECONDS_UNTIL_KNOWN: Final = 10.0


def query_int(name: str, default: int, low: int, high: int) -> int:
    """Return a whole number from the address, clamped to `low` and `high`, or the default."""
    value = _current(name) or ""
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        return default
    return min(max(int(value), low), high)


def query_text(name: str, longest: int = 1_000) -> str | None:
    """Return a text parameter of the address, or None if it is missing or too long."""
    value = _current(name)
    return value if value is not None and len(value) <= longest else None


def set_query(**parameters: str | int | None) -> None:
    """Write parameters that differ from the address's own; None removes one."""
    new = {name: None if value is None else str(value) for name, value in parameters.items()}
    changes = {
        name: AddressChange(before, after, _page(), time.monotonic())
        for name, after in new.items()
        if (before := _current(name)) != after
    }
    # Noted first, because writing sends a message, where Streamlit may break off for a new request.
    workspace.update(address_changes={**workspace.current().address_changes, **changes})
    for name, change in changes.items():
        _write(name, change.after)


def follow_history() -> None:
    """Let the address decide if the visitor went back or forward; call at the start of a run.

    A rerun that the page itself requests no longer shows that.
    """
    context = get_script_run_ctx()
    if context is not None and context.is_history_navigation:
        workspace.update(address_changes={})


def _current(name: str) -> str | None:
    value = st.query_params.get(name)
    change = workspace.current().address_changes.get(name)
    if change is None or value != change.before or not _is_late(change):
        return value
    _write(name, change.after)
    return change.after


def _is_late(change: AddressChange) -> bool:
    """Return whether a request that brings the old value was sent without knowing of the change."""
    context = get_script_run_ctx()
    return (
        context is not None
        and change.page == _page()
        and time.monotonic() - change.at < _SECONDS_UNTIL_KNOWN
    )


def _page() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.page_script_hash


def _write(name: str, value: str | None) -> None:
    if value is not None:
        st.query_params[name] = value
    elif name in st.query_params:
        del st.query_params[name]
