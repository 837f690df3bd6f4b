"""What many modules need around their tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder, not yet made, in which the test's runs are kept."""
    folder = tmp_path / "runs"
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(folder))
    return folder
