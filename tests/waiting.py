"""Wait for background work as a page does, by polling."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ui.work.background import Result, Status, Step, WorkKind, queue

MAX_WAIT_SECONDS = 200
"""What hangs fails after this; a busy machine may take tens of seconds for what takes one."""
_SECONDS_BETWEEN_LOOKS = 0.01


class Standing(Protocol):
    """The status of a job, a measurement or a search."""

    @property
    def state(self) -> str: ...
    @property
    def is_live(self) -> bool: ...


S = TypeVar("S", bound=Standing)
Known = TypeVar("Known", bound=Standing, covariant=True)


class Manager(Protocol[Known]):
    """A manager that returns the status of work by its id."""

    def status(self, id: str, /) -> Known: ...


@dataclass(frozen=True)
class OfKind(Generic[Step, Result]):
    """The work of a kind in the server's queue, by its id."""

    kind: WorkKind[Step, Result]

    def status(self, id: str) -> Status[Step, Result]:
        return queue.status(self.kind, id)


def has_ended(status: Standing) -> bool:
    """Return whether work is neither queued nor running."""
    return not status.is_live


def wait_until(
    manager: Manager[S],
    id: str,
    reached: Callable[[S], bool] = has_ended,
) -> S:
    """Return the status of work once `reached` holds; fail after `MAX_WAIT_SECONDS`."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while not reached(status := manager.status(id)):
        assert time.monotonic() < deadline, f"still {status.state} after {MAX_WAIT_SECONDS} s"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return status
