"""Draw a field for a whole number that explains its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import streamlit as st


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
