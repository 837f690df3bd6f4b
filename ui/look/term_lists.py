"""Describe which lines of a visitor's list of terms are not read."""

from __future__ import annotations

from bpe_core.comparison.terms import MAX_TERM_LENGTH, MAX_TERMS, TermList


def lines_left_out(found: TermList) -> str:
    """Return which lines of the list are left out, and why; empty if none are.

    >>> lines_left_out(TermList(("hug",), n_repeated=2, n_beyond=1))
    'Left out: 2 lines that repeat a term, 1 term after the first 2,000.'
    """
    reasons = (
        (found.n_repeated, "line that repeats a term", "lines that repeat a term"),
        (
            found.n_too_long,
            f"line of more than {MAX_TERM_LENGTH} characters",
            f"lines of more than {MAX_TERM_LENGTH} characters",
        ),
        (found.n_invalid, "line that is not valid text", "lines that are not valid text"),
        (
            found.n_beyond,
            f"term after the first {MAX_TERMS:,}",
            f"terms after the first {MAX_TERMS:,}",
        ),
    )
    parts = [f"{n:,} {one if n == 1 else several}" for n, one, several in reasons if n]
    return f"Left out: {', '.join(parts)}." if parts else ""
