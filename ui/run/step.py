"""Find the step of a run that a page shows first, and keep the one it shows."""

from __future__ import annotations

from ui.run import results
from ui.shell import address, workspace
from ui.shell.open_run import OpenRun
from ui.storage.run_store import StoredRun


def first_step(stored: StoredRun) -> int:
    """Return the step in the address, else the one last shown, else the run's opening step.

    An address without a step that the browser's Back leads to means the opening step.
    """
    n_merges = len(stored.run.merges)
    step: int | None = address.query_int("step", -1, 0, n_merges)
    if step < 0:
        step = None if address.is_from_history() else workspace.get(OpenRun).step
    return results.opening_step(stored.id) if step is None else min(step, n_merges)


def keep_step(stored: StoredRun, step: int) -> None:
    """Remember the step that a page shows, and put it in the address.

    A first visit adds no entry to the browser's history, so an address without a step is
    left alone at the opening step.
    """
    workspace.update(OpenRun, step=step)
    if address.query_text("step") is not None or step != results.opening_step(stored.id):
        address.set_query(step=step)
