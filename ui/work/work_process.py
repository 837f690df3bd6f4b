"""What the processes that do a visitor's work share: their limits, and how they fail."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from bpe_core.errors import BpeError, ProcessError, UnforeseenError
from bpe_core.processes.limits import GB, Limits
from ui.host.logs import Code, event

# Training takes ten times the size of a text, and a run of a million merges a gigabyte.
_MAX_BYTES: Final = 8 * GB
_MAX_CORPUS_RATIO: Final = 24
_MAX_SECONDS: Final = 24 * 3_600.0
_NICENESS: Final = 2
"""Pages go first when processors are busy."""


class WorkProcessError(BpeError):
    """A process that did a visitor's work ended without a result."""


def work_limits(n_bytes: int) -> Limits:
    """Return the limits of work on a corpus of `n_bytes`.

    >>> work_limits(1_000_000).memory
    8613934592
    """
    return Limits(_MAX_SECONDS, _MAX_BYTES + _MAX_CORPUS_RATIO * n_bytes, niceness=_NICENESS)


@contextmanager
def failures_advised(advice: str) -> Generator[None]:
    """Raise WorkProcessError, with advice for the visitor, if a process ends without a result."""
    try:
        yield
    except ProcessError as error:
        if isinstance(error, UnforeseenError):
            event("unforeseen_error", "error", error=Code(error.name), in_process=1)
        raise WorkProcessError(f"{error} {advice}") from None
