"""Find the run that a page shows, and the training that its visitor waits for.

The run is the one named in the address, the open one, or the sample. The training stays in the
address of the page until it ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.errors import BpeError
from ui.shell import address, workspace
from ui.shell.recent_runs import forget_run, remember_run
from ui.storage import SAMPLE_RUN_ID, StoredRun, load_run, note_opened
from ui.work import JobStatus, UnknownWorkError, jobs

_MAX_ID_LENGTH = 100_000
"""An id this long is reported as unknown, not ignored."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """The run that all pages show."""

    id: str = SAMPLE_RUN_ID
    step: int | None = None
    """The number of its merges last shown; None until a step of it has been shown."""


def find_run() -> tuple[StoredRun | None, BpeError | None]:
    """Return the run named in the address, else the open one, else the sample.

    An address that leads nowhere is left unchanged, and so is the open run. The first error is
    returned too.
    """
    current = workspace.get(OpenRun).id
    problem: BpeError | None = None
    for run_id in dict.fromkeys(
        (address.query_text("run", _MAX_ID_LENGTH) or current, current, SAMPLE_RUN_ID)
    ):
        try:
            stored = load_run(run_id)
        except BpeError as error:
            problem = problem or error
            forget_run(run_id)
            continue
        if problem is None:
            _show(run_id)  # a link names a run together with a step of it
            note_opened(run_id)
            if run_id != SAMPLE_RUN_ID:
                remember_run(stored)
        return stored, problem
    return None, problem


def shown_instead(stored: StoredRun | None) -> str:
    """Return the end of an error: which run is shown instead of the address's own."""
    if stored is None:
        return ""
    which = "The sample run" if stored.id == SAMPLE_RUN_ID else "The run that was open"
    return f" {which} is shown instead."


def open_run(run_id: str) -> None:
    """Make a run the one that all pages show, and put it in the address.

    Steps and pairs belong to one run: those of a run that was open are removed from the address.
    """
    if workspace.get(OpenRun).id != run_id:
        address.set_query(step=None, merges=None, pair=None)
    _show(run_id)


def _show(run_id: str) -> None:
    if workspace.get(OpenRun).id != run_id:
        workspace.update(OpenRun, id=run_id, step=None)
    address.set_query(run=None if run_id == SAMPLE_RUN_ID else run_id)


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
        return jobs.status(job_id)
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
