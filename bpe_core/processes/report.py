"""How a function that runs in its own process reports its progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Generic, TypeVar

_SECONDS_BETWEEN_REPORTS: Final = 0.1

Progress = TypeVar("Progress")


class Report(Generic[Progress]):
    """Pass on progress, a few times a second at most; see `call`."""

    def __init__(
        self,
        write: Callable[[Progress], object],
        should_finish: Callable[[], bool] = lambda: False,
    ) -> None:
        self._write = write
        self._next = 0.0
        self.should_finish = should_finish
        """Returns True once the function is to return early, with what it has so far."""

    def __call__(self, progress: Progress, *, must_arrive: bool = False) -> None:
        """Pass on progress, or leave it out if the last report was just before.

        >>> seen = []
        >>> report = Report(seen.append)
        >>> report(1), report(2), report(3, must_arrive=True)
        (None, None, None)
        >>> seen
        [1, 3]
        """
        now = time.monotonic()
        if must_arrive or now >= self._next:
            self._next = now + _SECONDS_BETWEEN_REPORTS
            self._write(progress)
