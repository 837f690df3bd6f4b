"""Find the training that a visitor waits for, and keep it in the address of the page."""

from __future__ import annotations

from dataclasses import dataclass

from ui.shell import address, workspace
from ui.shell.open_run import open_run
from ui.work import jobs
from ui.work.page_state import (
    CancelledWithoutRun,
    Failed,
    Finished,
    Live,
    NoTraining,
    PageState,
    Unknown,
    page_state,
)


@dataclass(frozen=True, slots=True)
class Followed:
    """The training that the visitor waits for."""

    job_id: str | None = None
    """That of the training last started or returned to; None once its end has been shown."""


def current_state() -> PageState:
    """Return the state of the training in the address, else of this session's last training."""
    if not workspace.navigation_is_drawn():
        return NoTraining()
    job_id = address.query_text("job", longest=64) or workspace.get(Followed).job_id
    return page_state(job_id, jobs.manager().status)


def follow(state: PageState) -> None:
    """Keep the training in the address while the page shows it, and open its run at the end."""
    match state:
        case Live(job_id) | Failed(job_id):
            note_training(job_id)
        case Finished(run_id):
            note_training(None)
            open_run(run_id)
        case CancelledWithoutRun() | Unknown():
            note_training(None)
        case NoTraining():
            pass


def note_training(job_id: str | None) -> None:
    """Make a training the one that the visitor waits for, or none, also in the address."""
    workspace.update(Followed, job_id=job_id)
    address.set_query(job=job_id)
