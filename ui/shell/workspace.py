"""Keep the state of a visitor, in the session and in the address of a page.

This is the only module that touches `st.session_state`. What pages remember of a session lies in
small frozen dataclasses next to their parts, whose fields have first values: `get` returns those of
this session, and `update` and `forget` change them. Widgets have values of their own, under their
keys.

Each request of the browser brings its address along, and one sent just before it learns of a change
made here brings the old one. Such a request would undo the change, so a change is made again if the
value before it comes back within half a minute, in which even a busy server draws the page, unless
the visitor went back in the history.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_State = TypeVar("_State", bound="DataclassInstance")
_NAVIGATION_KEY = "navigation_is_drawn"


def get(kind: type[_State]) -> _State:
    """Return this session's state of a kind, with its first values if it was never updated."""
    kept = st.session_state.get(state_key(kind))
    return kind() if kept is None else kept


def update(kind: type[_State], **changes: object) -> _State:
    """Replace the named fields of this session's state of a kind, and keep the rest."""
    state = replace(get(kind), **changes)
    st.session_state[state_key(kind)] = state
    return state


def forget(*kinds: type[DataclassInstance]) -> None:
    """Give the state of these kinds its first values again."""
    for kind in kinds:
        st.session_state.pop(state_key(kind), None)


def forget_session() -> None:
    """Forget all state and all widgets."""
    st.session_state.clear()


def state_key(kind: type[DataclassInstance]) -> str:
    """Return the name of a kind of state in Streamlit's session state."""
    return f"{kind.__module__}.{kind.__qualname__}"


def navigation_is_drawn() -> bool:
    """Return whether app.py has drawn the navigation in this session; False on a cold deep link."""
    return _NAVIGATION_KEY in st.session_state


def note_navigation() -> None:
    """Note that app.py has drawn the navigation in this session."""
    st.session_state[_NAVIGATION_KEY] = True


def forget_widgets(*prefixes: str) -> None:
    """Reset the widgets whose keys start with one of these prefixes.

    This does not reach the browser: a widget that stays on the page goes on showing its old value,
    unless `set_widget` sets it too.
    """
    for key in [key for key in st.session_state if str(key).startswith(prefixes)]:
        del st.session_state[key]


def start_widget(key: str, value: int) -> int:
    """Give a widget a first value unless it has a value, and return its value."""
    return st.session_state.setdefault(key, value)


def has_widget(key: str) -> bool:
    """Return whether a widget has a value, because it was drawn or set."""
    return st.session_state.get(key) is not None


def start_choice(key: str, value: str | float) -> None:
    """Set a widget that has no value yet; call before the widget is drawn."""
    if st.session_state.get(key) is None:
        st.session_state[key] = value


def copy_widget(source: str, target: str) -> None:
    """Copy a widget's value to another: a callback for two that show the same number."""
    st.session_state[target] = st.session_state[source]


def set_widget(key: str, value: str | float | None) -> None:
    """Set a widget's value; call in a callback or before the widget is drawn."""
    st.session_state[key] = value


def set_widgets(values: Mapping[str, str | float]) -> None:
    """Set the values of several widgets; call in a callback or before they are drawn."""
    st.session_state.update(values)


def widget_text(key: str) -> str:
    """Return the content of a text field; empty if it was never drawn."""
    return st.session_state.get(key, "")


def widget_choices(key: str, first: Sequence[str]) -> list[str]:
    """Return what is chosen in a list of many; `first` if it was never drawn."""
    return list(st.session_state.get(key, first))


def widget_number(key: str) -> float | None:
    """Return the number in a slider or a field; None if it is empty or was never drawn."""
    return st.session_state.get(key)


def widgets_hold(values: Mapping[str, str | float]) -> bool:
    """Return whether each of these widgets holds its value or was never drawn."""
    return all(st.session_state.get(key, value) == value for key, value in values.items())


def is_checked(key: str) -> bool:
    """Return whether a checkbox is checked; False if it was never drawn."""
    return bool(st.session_state.get(key))


def was_pressed(key: str) -> bool:
    """Return whether a press on this button started the current run of the script."""
    return bool(st.session_state.get(key))


def component_value(key: str, name: str) -> object:
    """Return the value of a component's state or trigger, for its callbacks.

    It is None once the component is no longer drawn: Streamlit still calls back for a message that
    was sent before the browser drew the page without it.
    """
    return st.session_state.get(key, {}).get(name)


def selected_points(key: str) -> list[int]:
    """Return the indices of the selected points of a chart; for its callbacks."""
    return list(st.session_state[key].selection.point_indices)


def selected_rows(key: str) -> list[int]:
    """Return the indices of the selected rows of a table; for its callbacks."""
    return list(st.session_state[key].selection.rows)


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
        noted = {**get(AddressChanges).by_name, **changes}
        update(AddressChanges, by_name=noted)
        _write_undone()
        for name, change in changes.items():
            _write(name, change.after)


def prepare() -> None:
    """Make late changes again, unless the visitor went back or forward; call at the start of a run.

    A rerun that the page itself requests no longer shows where the visitor went.
    """
    if is_from_history():
        forget(AddressChanges)
    _write_undone()


def is_from_history() -> bool:
    """Return whether the visitor came here by the browser's Back or Forward."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def _current(name: str) -> str | None:
    """Return a parameter's value; nothing is written, so that callbacks can read it first."""
    change = get(AddressChanges).by_name.get(name)
    if change is not None and _is_undone(name, change):
        return change.after
    return st.query_params.get(name)


def wrote(name: str) -> bool:
    """Return whether a parameter's value was written by this session, and by no link."""
    change = get(AddressChanges).by_name.get(name)
    return change is not None and change.after == _current(name)


def _write_undone() -> None:
    for name, change in get(AddressChanges).by_name.items():
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
