"""What all tests share."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import settings

# NumPy's linear algebra, which nothing here needs, starts a thread for each processor in each
# process that imports it: 0.1 s of work, in every process that a test starts.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# A server that keeps no bytecode compiles the app's modules anew: 0.3 s of each start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEASURED = "measured"

# Without deadlines: how long one example takes says more about the machine than about the code.
# The same examples at each run: a failure is the change's. `make search` looks for new ones.
settings.register_profile("project", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("project")


def pytest_collection_finish() -> None:
    """Keeps what is there before the first test out of each later garbage collection.

    AppTest collects all garbage after each run of a script, as a server does: see `shell/frame.py`.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests measured, of whichever worker."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    figures = [
        value
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == MEASURED
    ]
    if figures:
        terminalreporter.section("measured")
        for line in figures:
            terminalreporter.line(str(line))
