"""Find the step of a run that a page shows first."""

from __future__ import annotations

from ui.run import results
from ui.shell import address, workspace
from ui.shell.open_run import OpenRun
from ui.storage.run_store import StoredRun


def first_step(stored: StoredRun) -> int:
    """Return the step in the address, else the one last shown, else the run's opening step."""
    n_merges = len(stored.run.merges)
    step = address.query_int("step", -1, 0, n_merges)
    if step < 0:
        step = workspace.get(OpenRun).step
    return results.opening_step(stored.id) if step is None else min(step, n_merges)
