"""Trainings survive a killed server or process, and their files are deleted afterwards."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import psutil
import pytest
from msgspec.structs import replace

import bpe_core as bpe
from bpe_core.corpus.corpus_files import FiledCorpus, read_corpus_files, write_corpus
from bpe_core.corpus.readers import ReadOptions, Upload
from bpe_core.corpus.reading_process import read_in_process
from bpe_core.files.store import entries
from tests.new_process import ROOT
from tests.waiting import wait_until
from ui.storage import keeping
from ui.storage.base_tokenizer import BaseName, Extension
from ui.storage.run_files import CorpusOrigin
from ui.storage.run_store import load_run
from ui.storage.training_requests import TrainingRequest, keep_request, left_requests
from ui.work import jobs
from ui.work.background import Background
from ui.work.jobs import JobManager

HOSTILE = bpe.Corpus.from_documents(
    ["hug hugs\r\n" * 50, "", "\ufeffкот 漢字 😀 \0 <b>"], ["../a.txt", "b", "<script>"]
)
CONFIG = bpe.TrainingConfig(vocab_size=270, special_tokens=("<|a|>", "</s>"))
ORIGIN = CorpusOrigin("upload", "", 10)
# Words that share little take many seconds to merge.
SLOW = bpe.Corpus.from_text(" ".join(f"{n * 2_654_435_761 % 2**40:x}" for n in range(100_000)))
SLOW_CONFIG = bpe.TrainingConfig(vocab_size=100_000, pretokenizer="whitespace")


@pytest.fixture
def manager(store: Path) -> Iterator[JobManager]:
    manager = JobManager(is_kept_on_disk=True)
    yield manager
    manager.close()


def folders(store: Path) -> list[Path]:
    return [path for path in store.iterdir() if path.name.startswith("training-")]


def request(id: str = "a" * 32) -> TrainingRequest:
    return TrainingRequest(
        id=id,
        title="<b>",
        config=CONFIG,
        held_out_share=0.1,
        origin=ORIGIN,
        visitor="visitor",
        n_bytes=HOSTILE.n_bytes,
        asked_at=time.time(),
    )


def submit(manager: JobManager, corpus: bpe.Corpus, config: bpe.TrainingConfig = CONFIG) -> str:
    return manager.submit(corpus, config, title="Rhymes", held_out_share=0.1, origin=ORIGIN)


@pytest.mark.parametrize(
    "corpus", [HOSTILE, bpe.Corpus.from_word_counts({"hug": 10, "кот": 2**40})]
)
def test_a_corpus_comes_back_from_its_files(corpus: bpe.Corpus, tmp_path: Path) -> None:
    write_corpus(tmp_path, corpus)
    found = read_corpus_files(tmp_path)
    assert found == corpus
    assert (found.documents, found.names) == (corpus.documents, corpus.names)
    assert (found.n_bytes, found.n_characters) == (corpus.n_bytes, corpus.n_characters)


@pytest.mark.parametrize("name", ["text", "lengths.npy", "corpus.json"])
def test_a_damaged_corpus_is_refused(name: str, tmp_path: Path) -> None:
    write_corpus(tmp_path, HOSTILE)
    data = (tmp_path / name).read_bytes()
    for damaged in (b"", data[:-1], data[:20], bytes([data[0] ^ 1]) + data[1:]):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(bpe.FormatError):
            read_corpus_files(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(bpe.FormatError):
        read_corpus_files(tmp_path)


def test_a_request_is_private_and_taken_over_only_once_its_server_has_ended(store: Path) -> None:
    kept = keep_request(request(), HOSTILE)
    assert kept.folder.stat().st_mode & 0o077 == 0
    assert left_requests() == []
    kept.release()
    ((found, again),) = left_requests()
    assert found == request() or found.asked_at < time.time()
    assert (found.how, found.origin, found.title) == (CONFIG, ORIGIN, "<b>")
    assert again.corpus() == HOSTILE
    assert left_requests() == []
    again.remove()
    assert folders(store) == []


def test_a_request_to_extend_comes_back_with_its_tokenizer(store: Path) -> None:
    base = bpe.train(HOSTILE, CONFIG).tokenizer
    hostile = ("<b>\u202e\0", "New\u2028York", "'; --")
    extension = Extension(BaseName("file-x", "<b>\u202e"), 7, hostile, ("ff00",), ("20687567",))
    asked = replace(request(), config=None, extension=extension)
    keep_request(asked, HOSTILE, base).release()
    ((found, kept),) = left_requests()
    assert found == asked
    assert kept.base() == base
    kept.remove()
    assert folders(store) == []


def rewritten(changes: dict[str, Any]) -> list[TrainingRequest]:
    """Keep a request, change its file, and return what is taken over."""
    kept = keep_request(request(), HOSTILE)
    path = kept.folder / "request.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    kept.release()
    found = left_requests()
    for _, again in found:
        again.remove()
    return [read for read, _ in found]


PASTED = {"source": "paste", "sample_id": "", "held_out_percent": 10}


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (None, CorpusOrigin("paste", "", 10, held_out_by="folder")),
        (PASTED, CorpusOrigin("paste", "", 10, held_out_by="folder")),
        (
            {**PASTED, "source": "upload", "upload_id": "u"},
            CorpusOrigin("upload", "", 10, "u", "folder"),
        ),
    ],
)
def test_a_request_of_version_1_is_taken_over(
    store: Path, origin: dict[str, Any] | None, expected: CorpusOrigin
) -> None:
    of_version_1 = {"version": 1, "origin": origin, "held_out_by": "folder"}
    (found,) = rewritten(of_version_1)
    assert (found.version, found.how, found.origin) == (2, CONFIG, expected)
    extension = {"base": {"key": "gpt2", "name": "GPT-2"}, "n_tokens": 7}
    (found,) = rewritten({**of_version_1, "extension": extension})
    assert found.how == Extension(BaseName("gpt2", "GPT-2"), 7, character_coverage=0)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "changes",
    [
        {"config": None},
        {"config": {}},
        {"config": {**asdict(CONFIG), "vocab_size": -5}},
        {"config": {**asdict(CONFIG), "pretokenizer": "nope("}},
        {"config": {**asdict(CONFIG), "unknown": 1}},
        {"held_out_by": "nope", "origin": {**PASTED, "held_out_by": "nope"}},
        {"held_out_share": 1e308},
        {"held_out_share": "0.1"},
        {"origin": [], "extension": "none"},
        {"asked_at": "x"},
    ],
)
def test_a_request_with_invalid_settings_is_deleted(
    store: Path, version: int, changes: dict[str, Any]
) -> None:
    origin = None if version == 1 else PASTED
    assert rewritten({"version": version, "origin": origin, **changes}) == []
    assert folders(store) == []


def test_a_request_is_no_entry_of_the_store_and_is_not_swept(store: Path) -> None:
    kept = keep_request(request(), HOSTILE)
    assert entries() == []
    keeping.sweep_store(now=time.time() + 1_000 * 86_400)
    assert kept.corpus() == HOSTILE
    kept.remove()


@pytest.mark.parametrize(
    "damaged",
    ["", "{}", "[]", "null", "[" * 100_000, '{"version": 1}', '{"version": 9}'],
    ids=lambda text: text[:20],
)
def test_a_damaged_request_is_deleted_and_the_others_are_taken_over(
    store: Path, damaged: str
) -> None:
    for number in range(3):
        kept = keep_request(request(f"{number:032x}"), HOSTILE)
        if number == 1:
            (kept.folder / "request.json").write_text(damaged)
        kept.release()
    (store / "training-..").mkdir()
    found = left_requests()
    assert {taken.id for taken, _ in found} == {f"{number:032x}" for number in (0, 2)}
    for _, kept in found:
        kept.remove()
    assert [path.name for path in folders(store)] == ["training-.."]


def test_what_a_training_needs_leaves_the_disk_when_it_ends(
    manager: JobManager, store: Path
) -> None:
    job = submit(manager, HOSTILE)
    assert wait_until(manager, job).run_id == job
    failed = submit(manager, HOSTILE, bpe.TrainingConfig(vocab_size=1))
    assert wait_until(manager, failed).state == "failed"
    assert folders(store) == []


def test_a_training_cancelled_when_its_turn_has_come_leaves_the_disk(
    manager: JobManager, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    do = Background._do

    def cancel_and_do(self: Any, piece: Any) -> None:
        manager.cancel(piece.id)
        do(self, piece)

    monkeypatch.setattr(Background, "_do", cancel_and_do)
    job = submit(manager, HOSTILE)
    assert wait_until(manager, job).state == "cancelled"
    assert manager.find_live(job) is None
    assert folders(store) == []


def test_a_cancelled_training_that_waits_leaves_the_disk(manager: JobManager, store: Path) -> None:
    running = submit(manager, SLOW, SLOW_CONFIG)
    waiting = submit(manager, HOSTILE)
    assert len(folders(store)) == 2
    manager.cancel(waiting)
    assert [path.name for path in folders(store)] == [f"training-{running}"]
    manager.cancel(running)
    wait_until(manager, running)
    assert folders(store) == []


def test_a_training_that_ended_in_an_earlier_server_is_known_by_its_run(
    manager: JobManager,
) -> None:
    job = submit(manager, HOSTILE)
    wait_until(manager, job)
    later = JobManager(is_kept_on_disk=True)
    status = later.status(job)
    assert (status.state, status.run_id) == ("finished", job)
    later.close()


def test_a_training_during_which_servers_stopped_is_given_up(
    manager: JobManager, store: Path
) -> None:
    kept = keep_request(request(), HOSTILE)
    for _ in range(3):
        kept.note_start()
    kept.release()
    manager.begin_left()
    status = wait_until(manager, "a" * 32)
    assert status.state == "failed"
    assert "stopped 3 times" in str(status.error)
    assert folders(store) == []


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MIN_BYTES_FOR_PROCESS", 1)


def processes() -> list[psutil.Process]:
    """Return this process's descendants that train."""
    found = psutil.Process().children(recursive=True)
    return [each for each in found if "ui.work.training:train_here" in each.cmdline()]


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_a_process_trains_the_same_run_and_reports_progress(manager: JobManager) -> None:
    job = submit(manager, HOSTILE)
    status = wait_until(manager, job)
    assert (status.state, status.error) == ("finished", None)
    assert status.report.curve
    assert status.report.progress is not None
    training, held_out = HOSTILE.split(0.1)
    stored = load_run(job)
    assert stored.run.tokenizer == bpe.train(training, CONFIG).tokenizer
    assert (stored.held_out, stored.title) == (held_out, "Rhymes")
    assert status.report.training_bytes == training.n_bytes


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_a_cancelled_process_keeps_the_merges_so_far(manager: JobManager) -> None:
    job = submit(manager, SLOW, SLOW_CONFIG)
    wait_until(manager, job, lambda job: job.report.done > 0)
    manager.cancel(job)
    status = wait_until(manager, job)
    assert (status.state, status.run_id) == ("cancelled", job)
    assert 0 < len(load_run(job).run.merges) < 99_000


@pytest.mark.slow
@pytest.mark.usefixtures("in_process")
def test_a_killed_process_is_an_error_that_loses_nothing_else(
    manager: JobManager, store: Path
) -> None:
    job = submit(manager, SLOW, SLOW_CONFIG)
    following = submit(manager, HOSTILE)
    wait_until(manager, job, lambda job: job.report.progress is not None)
    (process,) = processes()
    process.send_signal(signal.SIGKILL)
    status = wait_until(manager, job)
    assert status.state == "failed"
    assert "stopped by the system" in str(status.error)
    assert wait_until(manager, following).state == "finished"
    assert folders(store) == []


@pytest.mark.usefixtures("in_process")
def test_what_a_process_cannot_store_is_trained_by_the_server(
    manager: JobManager, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_STORE_GB", "0.01")
    (store / ("b" * 32)).mkdir(parents=True)
    with (store / ("b" * 32) / "run.npz").open("wb") as file:
        file.truncate(20_000_000)
    job = submit(manager, HOSTILE)
    status = wait_until(manager, job)
    assert status.state == "finished"
    assert load_run(job).run.merges


def test_a_closed_server_leaves_its_trainings_to_the_next(store: Path) -> None:
    manager = JobManager(is_kept_on_disk=True)
    running = submit(manager, SLOW, SLOW_CONFIG)
    waiting = submit(manager, HOSTILE)
    wait_until(manager, running, lambda job: job.report.progress is not None)
    manager.close()
    assert len(folders(store)) == 2
    later = JobManager(is_kept_on_disk=True)
    later.begin_left()
    later.cancel(running)
    assert wait_until(later, waiting).run_id == waiting
    later.close()


SERVER = """
import json, sys, time
from bpe_core.corpus.corpus import Corpus
from bpe_core.types import TrainingConfig
from ui.storage.run_files import CorpusOrigin
from ui.work import jobs
jobs.MIN_BYTES_FOR_PROCESS = int(sys.argv[1])
manager = jobs.JobManager(is_kept_on_disk=True)
text = " ".join(f"{n * 2_654_435_761 % 2**40:x}" for n in range(100_000))
slow = TrainingConfig(vocab_size=100_000, pretokenizer="whitespace")
how = {"held_out_share": 0.0, "origin": CorpusOrigin("paste", "", 0)}
ids = [
    manager.submit(Corpus.from_text(text), slow, title="slow", **how),
    manager.submit(Corpus.from_text("hug hugs"), TrainingConfig(258), title="h", **how),
]
while manager.status(ids[0]).report.progress is None:
    time.sleep(0.02)
print(json.dumps(ids), flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize("least_bytes", [1, 10**9], ids=["in processes", "in the server"])
def test_trainings_of_a_killed_server_are_begun_again(
    least_bytes: int, manager: JobManager, store: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(least_bytes)], cwd=ROOT, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        slow, short = json.loads(server.stdout.readline())
        workers = psutil.Process(server.pid).children()
        os.kill(server.pid, signal.SIGKILL)
    # The processes of a killed server end with it.
    assert bool(workers) is (least_bytes == 1)
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive
    assert len(folders(store)) == 2
    manager.begin_left()
    assert [manager.status(job).title for job in (slow, short)] == ["slow", "h"]
    manager.cancel(slow)
    assert wait_until(manager, short).run_id == short
    wait_until(manager, slow)
    assert folders(store) == []


@pytest.mark.slow
def test_a_filed_corpus_is_trained_from_its_files(manager: JobManager, store: Path) -> None:
    lines = "".join(f"line {n}: {'hug hugs кот ' * 20}\n" for n in range(80_000)).encode()
    upload = io.BytesIO(lines)
    upload.name = "a.txt"  # type: ignore[attr-defined]
    corpus = read_in_process(
        [cast("Upload", upload)],
        ReadOptions(),
        held_out_share=0.1,
        place=store.parent,
        on_progress=lambda _: None,
    )
    assert isinstance(corpus, FiledCorpus)
    training, _ = corpus.divided(0.1)
    job = manager.submit(corpus, CONFIG, title="a.txt", held_out_share=0.1, origin=ORIGIN)
    live = manager.find_live(job)
    assert live is not None
    assert live.corpus() is corpus
    assert wait_until(manager, job).state == "finished"
    assert load_run(job).run.corpus_sha256 == training.sha256
