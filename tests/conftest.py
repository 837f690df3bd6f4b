"""Settings and reports for all tests."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# NumPy's linear algebra is not used, but starts a thread per processor in every process that
# imports NumPy, which costs 0.1 s each time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Without bytecode files every server that a test starts compiles the app's modules again: 0.3 s.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEASURED = "measured"

# No deadlines, because the time of one example depends on the machine more than on the code. The
# same examples in every run, so that a failure is due to the change; `make search` draws new ones.
settings.register_profile("project", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("project")


@pytest.fixture(scope="session", autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the developer's own store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BPE_EXPLORER_RUNS", str(tmp_path_factory.getbasetemp() / "store"))
        patch.setenv("BPE_EXPLORER_TOKENIZERS", str(tmp_path_factory.getbasetemp() / "tokenizers"))
        # No folder can be made there, so each test opens tokenizers' files as for the first time.
        patch.setenv("XDG_CACHE_HOME", os.devnull)
        patch.setenv("HF_HOME", str(tmp_path_factory.getbasetemp() / "hub-home"))
        # Nothing listens there, so no test asks the hub; some start one on this machine.
        patch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
        patch.setenv("HF_HUB_CACHE", str(tmp_path_factory.getbasetemp() / "hub"))
        yield


@pytest.fixture(scope="module", autouse=True)
def empty_caches() -> Iterator[None]:
    """Forget, after each module, what tests and their helpers cache, such as opened tokenizers."""
    yield
    for name, module in list(sys.modules.items()):
        if name.startswith("tests."):
            for value in list(vars(module).values()):
                owner = str(getattr(value, "__module__", ""))
                if owner.startswith("tests.") and hasattr(value, "cache_clear"):
                    value.cache_clear()
    gc.collect()


def pytest_collection_finish() -> None:
    """Exclude all objects created so far from garbage collection.

    AppTest, like a server, collects garbage after every run of a script: see `shell/frame.py`.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures that tests measured, from all workers."""
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
