"""Log when background work begins and ends, without saying what it works on."""

from __future__ import annotations

import time
from typing import Literal

from ui.host.logs import Code, event, short_id
from ui.work.task import Result, Step, Task, Work


def logged(
    kind: Literal["training", "measurement"],
    id: str,
    work: Work[Step, Result],
    *,
    n_bytes: int,
) -> Work[Step, Result]:
    """Return `work` with an event when it begins and one when it ends; `n_bytes` is its input."""
    job, queued = short_id(id), time.monotonic()

    def work_and_log(task: Task[Step]) -> Result | None:
        started = time.monotonic()
        waited = round(started - queued, 3)
        event(f"{kind}_started", job=job, bytes=n_bytes, waited_seconds=waited)
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
            event(f"{kind}_ended", job=job, outcome=Code(outcome), seconds=seconds)
        return result

    return work_and_log
