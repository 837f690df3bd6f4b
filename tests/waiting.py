"""Waiting for work in the background, as a page does: by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

_SECONDS_BETWEEN_LOOKS = 0.01


class Standing(Protocol):
    """How a piece of work stands: a training, a measurement, a search."""

    @property
    def state(self) -> str: ...
    @property
    def is_live(self) -> bool: ...


S = TypeVar("S", bound=Standing)
Known = TypeVar("Known", bound=Standing, covariant=True)


class Manager(Protocol[Known]):
    """Whoever knows the work by its id."""

    def status(self, id: str, /) -> Known: ...


def has_ended(status: Standing) -> bool:
    """Whether a piece of work neither waits nor runs any more."""
    return not status.is_live


def wait_until(
    manager: Manager[S],
    id: str,
    reached: Callable[[S], bool] = has_ended,
    *,
    timeout_seconds: float = 60,
) -> S:
    """How a piece of work stands once it stands as asked; fails where it never comes to that."""
    deadline = time.monotonic() + timeout_seconds
    while not reached(status := manager.status(id)):
        assert time.monotonic() < deadline, f"still {status.state} after {timeout_seconds} s"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return status
