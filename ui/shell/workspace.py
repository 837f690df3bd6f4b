"""Keep a visitor's state: the only module that touches `st.session_state`.

What pages remember of a session lies in small frozen dataclasses next to their parts, whose fields
have first values: `get` returns this session's, and `update` and `forget` change it. Widgets have
values of their own, under their keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

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
