"""The limits of a process that reads untrusted data, its environment, and its way to report."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Generic, TypeVar

_ROOT: Final = Path(__file__).absolute().parents[2]
_SECONDS_BETWEEN_REPORTS: Final = 0.1
Progress = TypeVar("Progress")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a process may use before it is ended."""

    GB: ClassVar = 2**30

    seconds: float
    """The time until it has answered."""
    memory: int | None = None
    """In bytes of address space; None for no limit."""
    processor_seconds: float | None = None
    """The processor time; None for `seconds`. It may be far less, because a processor may be shared
    with many."""
    niceness: int = 0
    """How far others go first when processors are busy, from 0 to 19."""


def environment(limits: Limits) -> dict[str, str]:
    """Return the environment for a child process that imports this package.

    >>> environment(Limits(seconds=60, memory=Limits.GB))["OPENBLAS_NUM_THREADS"]
    '1'
    """
    found = {
        **os.environ,
        # Modules are found where they are found here, in the same order. With this package's folder
        # first, an installed backport, such as `typing`, would hide a module of Python.
        "PYTHONPATH": os.pathsep.join([*map(os.path.abspath, sys.path), str(_ROOT)]),
        # And not in the current folder, where anybody's files may be.
        "PYTHONSAFEPATH": "1",
        # Otherwise NumPy's linear algebra starts a thread per processor, half of the running time.
        "OPENBLAS_NUM_THREADS": "1",
    }
    if limits.memory is not None:
        # Both of these reserve address space, which counts as memory.
        found |= {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    return found


def limit_this_process(limits: Limits) -> None:
    """Limit this process's address space and processor time, and let others go first.

    An allocation beyond the limit then fails, and the system ends a process that has used up its
    time. Lower limits stay as they are. Windows has neither limit, and macOS none of memory; the
    parent ends the process after `seconds` on every system.
    """
    if nice := getattr(os, "nice", None):
        nice(limits.niceness)
    try:
        import resource
    except ImportError:
        return
    seconds = limits.processor_seconds or limits.seconds
    wanted = {resource.RLIMIT_AS: limits.memory, resource.RLIMIT_CPU: math.ceil(seconds)}
    for kind, most in wanted.items():
        soft, hard = resource.getrlimit(kind)
        known = [n for n in (most, soft, hard) if n is not None and n != resource.RLIM_INFINITY]
        with suppress(ValueError):  # what macOS raises for address space
            resource.setrlimit(kind, (min(known, default=resource.RLIM_INFINITY), hard))


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
