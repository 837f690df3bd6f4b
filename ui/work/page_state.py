"""Decide what the Train page shows: no job, a live one, or the end of the last one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ui.work.background import UnknownWorkError
from ui.work.jobs import JobStatus


@dataclass(frozen=True, slots=True)
class NoTraining:
    """No job was started, or its end has been shown."""


@dataclass(frozen=True, slots=True)
class Live:
    """A job is queued or running."""

    job_id: str


@dataclass(frozen=True, slots=True)
class Finished:
    """A job has ended with a run, which a cancelled one can also have."""

    run_id: str


@dataclass(frozen=True, slots=True)
class CancelledWithoutRun:
    """A job was cancelled before its first merge."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A job has failed."""

    job_id: str
    error: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """The server has no job with this id."""

    problem: str


PageState: TypeAlias = NoTraining | Live | Finished | CancelledWithoutRun | Failed | Unknown


def page_state(job_id: str | None, status_of: Callable[[str], JobStatus]) -> PageState:
    """Return the state of the page for a job, or for none.

    >>> page_state(None, status_of=lambda job_id: ...)
    NoTraining()
    """
    if job_id is None:
        return NoTraining()
    try:
        job = status_of(job_id)
    except UnknownWorkError as error:
        return Unknown(str(error))
    match job:
        case JobStatus(run_id=str(run_id)):
            return Finished(run_id)
        case JobStatus(state="queued" | "running"):
            return Live(job.id)
        case JobStatus(error=str(error)):
            return Failed(job.id, error)
        case _:
            return CancelledWithoutRun()
