"""Read and write the parameters in a page's address.

Each request of the browser brings its address along, and one sent just before it learns of a change
made here brings the old one. Such a request would undo the change, so a change is made again if the
value before it comes back within half a minute, in which even a busy server draws the page, unless
the visitor went back in the history.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from ui.shell import workspace

_SECONDS_UNTIL_KNOWN: Final = 30.0


@dataclass(frozen=True, slots=True)
class AddressChange:
    """A change of a parameter that was made here; None stands for a missing one."""

    before: str | None
    after: str | None
    page: str
    """The hash of the page's script."""
    at: float
    """The monotonic time in seconds."""


@dataclass(frozen=True, slots=True)
class AddressChanges:
    """The last change of each parameter."""

    by_name: Mapping[str, AddressChange] = field(default_factory=dict[str, AddressChange])


def query_int(name: str, default: int, high: int) -> int:
    """Return a whole number from the address, at most `high`, or the default."""
    value = _current(name) or ""
    if not (value.isascii() and value.isdigit() and len(value) <= 9):
        return default
    return min(int(value), high)


def query_text(name: str, longest: int = 1_000) -> str | None:
    """Return a text parameter of the address, or None if it is missing or too long."""
    value = _current(name)
    return value if value is not None and len(value) <= longest else None


def has_query(*names: str) -> bool:
    """Return whether the address has one of these parameters."""
    return any(_current(name) is not None for name in names)


def set_query(**parameters: str | int | None) -> None:
    """Write parameters that differ from the address's own; None removes one."""
    changes: dict[str, AddressChange] = {}
    for name, value in parameters.items():
        before, after = _current(name), None if value is None else str(value)
        if before != after:
            changes[name] = AddressChange(before, after, _page(), time.monotonic())
    if changes:
        # Noted before anything is written, because writing sends a message, and there Streamlit
        # may break off for a new request.
        noted = {**workspace.get(AddressChanges).by_name, **changes}
        workspace.update(AddressChanges, by_name=noted)
        _write_undone()
        for name, change in changes.items():
            _write(name, change.after)


def prepare() -> None:
    """Make late changes again, unless the visitor went back or forward; call at the start of a run.

    A rerun that the page itself requests no longer shows where the visitor went.
    """
    if is_from_history():
        workspace.forget(AddressChanges)
    _write_undone()


def is_from_history() -> bool:
    """Return whether the visitor came here by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _current(name: str) -> str | None:
    """Return a parameter's value; nothing is written, so that callbacks can read it first."""
    change = workspace.get(AddressChanges).by_name.get(name)
    if change is not None and _is_undone(name, change):
        return change.after
    return st.query_params.get(name)


def _write_undone() -> None:
    for name, change in workspace.get(AddressChanges).by_name.items():
        if _is_undone(name, change):
            _write(name, change.after)


def _is_undone(name: str, change: AddressChange) -> bool:
    """Return whether the address has the old value because the request knew of no change."""
    context = get_script_run_ctx()
    return (
        context is not None
        and st.query_params.get(name) == change.before
        and change.page == _page()
        and time.monotonic() - change.at < _SECONDS_UNTIL_KNOWN
    )


def _page() -> str:
    context = get_script_run_ctx()
    return "" if context is None else context.page_script_hash


def _write(name: str, value: str | None) -> None:
    if st.query_params.get(name) == value:
        return
    if value is not None:
        st.query_params[name] = value
    else:
        del st.query_params[name]
