"""Find the run that a page shows: the one named in its address, the open one, or the sample."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.errors import BpeError
from ui.shell import address, workspace
from ui.shell.recent_runs import forget_run, remember_run
from ui.storage.run_store import SAMPLE_RUN_ID, StoredRun, load_run, note_opened

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
