"""Word the time left that progress bars show."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Return a rounded duration in words.

    >>> duration(5), duration(200), duration(56_000)
    ('5 s', '3 min', '16 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:,.0f} h"
