"""Waiting for a training in the background, as the page does: by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable

from ui.jobs import JobManager, JobStatus

_SECONDS_BETWEEN_LOOKS = 0.01


def has_ended(status: JobStatus) -> bool:
    """Whether a training neither waits nor runs any more."""
    return not status.is_live


def wait_until(
    manager: JobManager,
    job_id: str,
    reached: Callable[[JobStatus], bool] = has_ended,
    *,
    timeout_seconds: float = 60,
) -> JobStatus:
    """How a training stands once it stands as asked; fails where it never comes to that."""
    deadline = time.monotonic() + timeout_seconds
    while not reached(status := manager.status(job_id)):
        assert time.monotonic() < deadline, f"still {status.state} after {timeout_seconds} s"
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    return status
