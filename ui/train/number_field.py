"""A field for a whole number, which says what is wrong with another and where its limits are."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True, slots=True)
class Limits:
    """The whole numbers that a field takes, and why no others; the reasons are sentences."""

    least: int
    most: int
    why_least: str
    why_most: str

    def problem_with(self, value: float) -> str | None:
        """Say why a number cannot be taken; None where it can.

        >>> limits = Limits(257, 1_000_000, "There are 257 to begin with.", "No page shows more.")
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


def whole_number(label: str, limits: Limits, first: int, *, key: str, help: str) -> int | None:
    """Draw a field for a whole number and return what it holds; empty, it holds `first` again.

    None where the number cannot be taken, and then the field says why. Left to Streamlit, a number
    beyond a limit would only turn red, and of 4.5 and 1e5 the first digit would be taken.
    """
    value = st.number_input(
        label,
        value=float(first),
        step=1.0,
        format="%g",
        key=key,
        help=help,
        persist_state="session",
    )
    problem = limits.problem_with(value)
    if problem is not None:
        st.error(problem)
        return None
    return int(value)


def _shown(value: float) -> str:
    return f"{value:,.15g}" if abs(value) < 1e15 else f"{value:.4g}"
