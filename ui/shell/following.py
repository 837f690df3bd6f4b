"""Find the training that a visitor waits for, and keep it in the address of the page."""

from __future__ import annotations

from dataclasses import dataclass

from ui.shell import address, workspace
from ui.shell.open_run import open_run
from ui.work import jobs
from ui.work.background import UnknownWorkError
from ui.work.jobs import JobStatus


@dataclass(frozen=True, slots=True)
class Followed:
    """The training that the visitor waits for."""

    job_id: str | None = None
    """That of the training last started or returned to; None once its end has been shown."""


def followed_job() -> JobStatus | None:
    """Return the training in the address, else this session's last training, or None.

    If the server does not know it, its state is "unknown".
    """
    if not workspace.navigation_is_drawn():
        return None
    job_id = address.query_text("job", longest=64) or workspace.get(Followed).job_id
    if job_id is None:
        return None
    try:
        return jobs.manager().status(job_id)
    except UnknownWorkError as error:
        return JobStatus(job_id, "", "unknown", error=str(error))


def follow(job: JobStatus | None) -> None:
    """Keep a training in the address while the page shows it, and open its run at the end."""
    if job is None:
        return
    if job.run_id is not None:
        note_training(None)
        open_run(job.run_id)
    else:
        note_training(job.id if job.is_live or job.state == "failed" else None)


def note_training(job_id: str | None) -> None:
    """Make a training the one that the visitor waits for, or none, also in the address."""
    workspace.update(Followed, job_id=job_id)
    address.set_query(job=job_id)
