"""Log when a training begins and ends, without saying what it works on."""

from __future__ import annotations

import time

from ui.host.logs import Code, event, short_id
from ui.work.task import Result, Step, Task, Work


def logged(id: str, work: Work[Step, Result], *, n_bytes: int) -> Work[Step, Result]:
    """Return `work` with an event when it begins and one when it ends; `n_bytes` is its input."""
    job, queued = short_id(id), time.monotonic()

    def work_and_log(task: Task[Step]) -> Result | None:
        started = time.monotonic()
        waited = round(started - queued, 3)
        event("training_started", job=job, bytes=n_bytes, waited_seconds=waited)
        outcome = "cancelled"
        try:
            result = work(task)
            if result is not None and not task.is_cancelled:
                outcome = "finished"
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            seconds = round(time.monotonic() - started, 3)
            event("training_ended", job=job, outcome=Code(outcome), seconds=seconds)
        return result

    return work_and_log
