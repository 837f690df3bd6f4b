"""Settings and reports for all tests."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# NumPy's linear algebra is not used, but starts a thread per processor in every process that
# imports NumPy, which costs 0.1 s each time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Without bytecode files every server that a test starts compiles the app's modules again: 0.3 s.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MEASURED = "measured"
MEGABYTES_TO_KEEP = 700
"""The memory from which a worker empties all caches after a module."""

# No deadlines, because the time of one example depends on the machine more than on the code. The
# same examples in every run, so that a failure is due to the change; `make search` draws new ones.
settings.register_profile("project", deadline=None, derandomize=True)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=10)
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


_caches: list[Callable[[], None]] = []
"""What empties the caches of tests and their helpers, such as opened tokenizers."""


@pytest.fixture(scope="module", autouse=True)
def empty_caches() -> Iterator[None]:
    """Forget, after each module, what tests and their helpers cache; give back much memory."""
    yield
    for clear in _caches:
        clear()
    if sys.platform == "linux" and resident_megabytes() > MEGABYTES_TO_KEEP:
        free_memory()


def resident_megabytes() -> int:
    """Return the memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") // 1_000_000


def free_memory() -> None:
    """Empty the package's own caches, and return to the system what is free."""
    # These import NumPy, for which the environment is set above.
    from bpe_core.tokenizer import forget_words
    from bpe_core.unicode import forget_characters

    forget_words()
    forget_characters()
    gc.collect()
    # glibc keeps what is freed for the process.
    ctypes.CDLL(None).malloc_trim(0)


def pytest_collection_finish() -> None:
    """List the caches of tests, and exclude all objects made so far from garbage collection."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("tests.")]
    for value in {id(each): each for module in modules for each in vars(module).values()}.values():
        if str(getattr(value, "__module__", "")).startswith("tests."):
            clear = getattr(value, "cache_clear", None)
            if clear is not None:
                _caches.append(clear)
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


@pytest.fixture
def rendered_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Render chat templates in this process, where the text is tested and not what they may do."""

    def here(function: Callable[..., Any], *arguments: Any, limits: object) -> Any:
        return function(*arguments)

    monkeypatch.setattr("bpe_core.processes.calling.call", here)
    monkeypatch.setattr("bpe_core.processes.calling.stream", here)
