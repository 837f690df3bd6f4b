"""Draw what forms share: choices, whole numbers with limits, and rows for headings and buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.shell import workspace


@dataclass(frozen=True, slots=True)
class FieldLimits:
    """The limits of a field, with a sentence that explains each."""

    least: int
    most: int
    why_least: str
    why_most: str

    def problem_with(self, value: float) -> str | None:
        """Return what is wrong with a number, as a sentence; None if it is valid.

        >>> limits = FieldLimits(257, 1_000_000, "There are 257.", "No page shows more.")
        >>> limits.problem_with(1_000.5)
        '1,000.5 is not a whole number.'
        >>> limits.problem_with(2_000_000)
        '2,000,000 is too large: expected at most 1,000,000. No page shows more.'
        >>> limits.problem_with(257)
        """
        if value < self.least:
            return (
                f"{_shown(value)} is too small: expected at least {self.least:,}. {self.why_least}"
            )
        if value > self.most:
            return f"{_shown(value)} is too large: expected at most {self.most:,}. {self.why_most}"
        if value != int(value):
            return f"{_shown(value)} is not a whole number."
        return None


def whole_number(
    label: str, limits: FieldLimits, first: int, *, key: str, help: str, in_address: bool = False
) -> int | None:
    """Draw a field for a whole number and return its value; an emptied field holds `first` again.

    With `in_address`, the number is in the address under `key`, so that a reload keeps it.

    Returns None if the number is invalid, and shows why. Streamlit alone would only turn a number
    beyond a limit red, and would read 4.5 and 1e5 as 4 and 1.
    """
    return checked(number_input(label, first, key=key, help=help, in_address=in_address), limits)


def number_input(
    label: str,
    first: int,
    *,
    key: str,
    help: str | None = None,
    label_visibility: Literal["visible", "collapsed"] = "visible",
    width: int | Literal["stretch"] = "stretch",
    on_change: Callable[[], None] | None = None,
    in_address: bool = False,
) -> float:
    """Draw a field for a number, which `checked` checks; an emptied field holds `first` again."""
    return st.number_input(
        label,
        value=float(first),
        step=1.0,
        format="%g",
        key=key,
        help=help,
        label_visibility=label_visibility,
        width=width,
        on_change=on_change,
        persist_state="session",
        bind="query-params" if in_address else None,
    )


def checked(value: float, limits: FieldLimits) -> int | None:
    """Return a valid number; show what is wrong with another, and return None."""
    problem = limits.problem_with(value)
    if problem is not None:
        st.error(problem)
        return None
    return int(value)


def _shown(value: float) -> str:
    return f"{value:,.15g}" if abs(value) < 1e15 else f"{value:.4g}"


def action_row() -> DeltaGenerator:
    """Return a row for the button, which stays in view at the end of the window.

    Give the form above its own container: if the row's place changed with the number of
    elements above it, Streamlit would draw another button, and a press during that would be lost.
    """
    return st.container(horizontal=True, vertical_alignment="center", key="action_row")


def heading_row(key: str) -> DeltaGenerator:
    """Return a row for a heading on the left and the choice that belongs to it on the right."""
    return st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", key=key
    )


def show_missing(what: str) -> None:
    """Say next to a button why a press on it does nothing."""
    st.markdown(f":orange[{what}]", width="content")


def choose_one(
    label: str,
    options: Sequence[str],
    *,
    key: str,
    shows_label: bool = False,
    help: str | None = None,
) -> str:
    """Draw a row of options of which one is always chosen, at first the first.

    Once made, the choice is in the address under `key`. Any other value there, such as an empty
    one, counts as the first option.
    """
    # Not the widget's default: "Next" and "Back" on Lessons set its value too, and Streamlit warns
    # about a widget that has both.
    workspace.start_choice(key, options[0])
    chosen = st.segmented_control(
        label,
        options=options,
        required=True,
        label_visibility="visible" if shows_label else "collapsed",
        key=key,
        bind="query-params",
        help=help,
    )
    # The type rules this out, but it happens after the browser's Back, and when an option is no
    # longer offered.
    if chosen is None or chosen not in options:
        workspace.forget_widgets(key)
        st.rerun()
    return chosen


def choose_part(parts: Sequence[str], linked: str | None) -> str:
    """Draw the choice between a page's parts, kept in the address; return the chosen one.

    At first it is `linked`, if the address names no part but has something that is in that one.
    """
    workspace.start_choice("part", linked or parts[0])
    return choose_one("Part of the page", parts, key="part")
