"""What many modules need around their tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bpe_core.corpus import parquet_process


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder, not yet made, in which the test's runs are kept."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(folder))
    return folder


@pytest.fixture
def emptied_queue() -> Iterator[None]:
    """Cancel and forget the work that the test began."""
    yield
    # Most tests do without what this imports.
    from ui.work.background import queue

    queue.clear()


@pytest.fixture
def parquet_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read Parquet files in this process, where what is read is tested and not the process."""

    def here(function: Callable[..., Any], *arguments: Any, limits: object) -> Any:
        return function(*arguments)

    monkeypatch.setattr(parquet_process, "call", here)
    monkeypatch.setattr(parquet_process, "stream", here)
