"""The app without a browser: scripts run for real, JavaScript does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from ui import jobs, measurements
from ui.vocabulary import work

ROOT = Path(__file__).parent.parent.parent
LONGEST_RUN_SECONDS = 60


@pytest.fixture
def open_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AppTest]]:
    """Opens a page as a new visitor: open_app("compare", run="sample")."""
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "runs"))

    def opened(page: str = "train", /, **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=LONGEST_RUN_SECONDS)
        app.query_params["goto"] = page
        for name, value in query.items():
            app.query_params[name] = value
        return app.run()

    yield opened
    jobs.manager().close()
    measurements.manager().close()
    for background in (work.searches(), work.counts(), work.previews()):
        background.close()
    st.cache_resource.clear()
