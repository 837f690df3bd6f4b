"""How long something takes, in words: what bars say of the time that is left."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """About how long.

    >>> duration(5), duration(200)
    ('5 s', '3 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
