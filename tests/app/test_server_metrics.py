"""/metrics is off by default, and has figures about the server only."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import bpe_core as bpe
from tests.browser.serving import running_app
from ui.serving.metrics import StoreSize, store_size
from ui.storage.run_store import Trained, store_run
from ui.storage.upload_store import keep_text

OWN = ("/metrics", "/metrics/")
NAMES = (
    "visitors",
    "trainings_waiting",
    "trainings_running",
    "queue_limit",
    "uploads_bytes",
    "uploads_limit_bytes",
    "caches_bytes",
    "caches_results",
    "caches_limit_bytes",
    "store_runs",
    "store_uploads",
    "store_bytes",
)


def ask(address: str) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return answer.status, answer.headers["content-type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, "", error.read().decode()


def test_there_are_no_figures_unless_asked_for(address: str) -> None:
    for path in OWN:
        assert ask(address + path)[0] == 404, path
    assert ask(f"{address}/_stcore/health")[0] == 200


def test_figures_are_served_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "runs" / ("a" * 32)).mkdir(parents=True)
    (tmp_path / "runs" / ("a" * 32) / "file").write_bytes(bytes(1234))
    asked = {"BPE_EXPLORER_METRICS": "1", "BPE_EXPLORER_QUEUE": "7"}
    with running_app(tmp_path, asked) as address:
        status, kind, text = ask(f"{address}/metrics")
        assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found = dict(re.findall(r"^bpe_explorer_(\w+) (.+)$", text, re.M))
    assert tuple(found) == NAMES
    for name in NAMES:
        assert f"# TYPE bpe_explorer_{name} gauge\n" in text
    (memory,) = re.findall(r"^process_resident_memory_bytes (.+)$", text, re.M)
    assert 50e6 < float(memory) < 2e9
    found = {name: int(float(value)) for name, value in found.items()}
    # The caches grow while the server warms up.
    assert found.pop("caches_bytes") < found.pop("caches_limit_bytes") == 500_000_000
    assert found.pop("uploads_limit_bytes") == 2_000_000_000
    del found["caches_results"]
    expected = dict.fromkeys(found, 0)
    assert found == {**expected, "queue_limit": 7, "store_runs": 1, "store_bytes": 1234}


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
