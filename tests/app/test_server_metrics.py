"""/metrics is off by default, and has figures about the server only, whose memory is given back."""

from __future__ import annotations

import asyncio
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import bpe_core as bpe
from benchmarks.app_client import connected_tab
from benchmarks.visitors import figures, make_text
from tests.browser.serving import running_app
from tests.waiting import MAX_WAIT_SECONDS
from ui.serving.server import StoreSize, store_size
from ui.storage import Trained, keep_text, store_run

STARTED = {
    "visitors": 0,
    "trainings_waiting": 0,
    "trainings_running": 0,
    "queue_limit": 7,
    "uploads_bytes": 0,
    "uploads_limit_bytes": 2_000_000_000,
    "caches_limit_bytes": 500_000_000,
    "store_runs": 1,
    "store_uploads": 0,
    "store_bytes": 1234,
}
TABS = 2
MEGABYTE = 1_000_000


def test_there_are_no_figures_unless_asked_for(address: str) -> None:
    for path in ("/metrics", "/metrics/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(address + path)
    with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
        assert answer.status == 200


def warm_caches(address: str, log: Path) -> int:
    """Return what the caches hold once the server has warmed up."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    while '"event": "warmed_up"' not in log.read_text("utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return figures(address)["caches_bytes"]


async def upload_and_close(address: str) -> dict[str, int]:
    """Upload a megabyte in each of several tabs, close them, and return the figures from before."""
    tabs = [await connected_tab(address) for _ in range(TABS)]
    for number, tab in enumerate(tabs):
        await tab.open("train")
        await tab.set("corpus_source", "Upload")
        await tab.upload("corpus_uploads", "a.txt", make_text(number, MEGABYTE))
    open_tabs = figures(address)
    for tab in tabs:
        await tab.close()
    return open_tabs


def test_figures_are_served_if_asked_for_and_return_to_the_start_once_tabs_are_closed(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs" / ("a" * 32)).mkdir(parents=True)
    (tmp_path / "runs" / ("a" * 32) / "file").write_bytes(bytes(1234))
    asked = {
        "BPE_EXPLORER_METRICS": "1",
        "BPE_EXPLORER_QUEUE": "7",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1",
    }
    with running_app(tmp_path, asked) as address:
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            kind = answer.headers["content-type"]
            assert "# TYPE bpe_explorer_visitors gauge\n" in answer.read().decode()
        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        found = figures(address)
        assert {name: found[name] for name in STARTED} == STARTED
        own = {name for name in found if not name.startswith(("process_", "python_"))}
        assert own == {*STARTED, "caches_bytes", "caches_results"}
        assert 50e6 < found["process_resident_memory_bytes"] < 2e9
        start = warm_caches(address, tmp_path / "server.log")
        open_tabs = asyncio.run(upload_and_close(address))
        assert open_tabs["visitors"] == TABS
        assert open_tabs["uploads_bytes"] == TABS * MEGABYTE
        assert open_tabs["caches_bytes"] > start + MEGABYTE
        deadline = time.monotonic() + MAX_WAIT_SECONDS
        while (left := figures(address))["uploads_bytes"] or left["caches_bytes"] > start:
            assert time.monotonic() < deadline, (start, left)
            time.sleep(0.1)
        assert left["visitors"] == 0


def test_the_store_is_measured_with_its_own_entries_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_RUNS", str(tmp_path / "runs"))
    assert store_size() == StoreSize(0, 0, 0)
    corpus = bpe.Corpus.from_text("the cat sat on the mat\n" * 20)
    store_run(Trained("A title", bpe.train(corpus, bpe.TrainingConfig(vocab_size=260)), corpus))
    keep_text("A text.")
    before = store_size()
    assert (before.runs, before.uploads) == (1, 1)
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert before.n_bytes == sum(path.stat().st_size for path in files) > 100
    (tmp_path / "runs" / "notes.txt").write_text("not an entry")
    (tmp_path / "runs" / ("f" * 32)).write_text("not a folder")
    assert store_size().n_bytes == before.n_bytes
