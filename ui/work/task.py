"""What a piece of background work is given, reports while it runs, and shows of itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from typing import Generic, Literal, Protocol, TypeVar

State = Literal["queued", "running", "finished", "cancelled", "failed"]


class Measurable(Protocol):
    """Progress that can be shown as a share; an implementation may hold more."""

    @property
    def done(self) -> int: ...
    @property
    def of(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress as a share alone."""

    done: int
    of: int


Step = TypeVar("Step", bound=Measurable)
"""The progress that a piece of work reports."""
Result = TypeVar("Result")
"""The result of a piece of work."""


# Without slots, with which Python cannot make it as WorkKind[...](...).
@dataclass(frozen=True)
class WorkKind(Generic[Step, Result]):
    """A kind of work, of which one piece runs at a time."""

    name: str
    max_waiting: int = 16
    """More pieces than these are refused while they wait."""
    max_per_visitor: int | None = None
    """How many pieces a visitor can have queued or running; None for any number."""


@dataclass(frozen=True, slots=True)
class Status(Generic[Step, Result]):
    """A snapshot of a piece of work."""

    kind: WorkKind[Step, Result]
    id: str
    about: str
    """A description, as passed to `begin`."""
    state: State
    n_ahead: int
    """The number of pieces of its kind ahead of it, the running one included; 0 once it runs. It
    grows if another visitor's turn comes first."""
    progress: Step | None
    is_stopping: bool
    """Whether it is cancelled but has not ended yet."""
    elapsed_seconds: float
    """Since it began to run; once it has ended, the time it took."""
    result: Result | None
    problem: str | None
    """What went wrong, as a sentence for the visitor; None unless it failed."""

    @property
    def is_live(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ("queued", "running")

    @property
    def share(self) -> float:
        """The share that is done, from 0 to 1."""
        progress = self.progress
        return min(1.0, progress.done / progress.of) if progress and progress.of else 0.0


class Task(Generic[Step]):
    """The handle with which a piece of work reports progress and checks for cancellation."""

    def __init__(self) -> None:
        self._cancelled = Event()
        self.is_wanted = True
        """False once even a part of the result is of no use."""
        self.last_report: Step | None = None
        """The latest progress."""

    @property
    def is_cancelled(self) -> bool:
        """Whether the work should stop."""
        return self._cancelled.is_set()

    def report(self, progress: Step) -> None:
        """Record the progress of the work."""
        self.last_report = progress

    def cancel(self, *, is_wanted: bool = True) -> None:
        """Ask the work to stop; if a part of its result `is_wanted`, that is its result."""
        self.is_wanted = self.is_wanted and is_wanted
        self._cancelled.set()


Work = Callable[[Task[Step]], Result | None]
"""Returns None, or raises CancelledError, if it was cancelled; the message of a `BpeError` is shown
to the visitor."""
