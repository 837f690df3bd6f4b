"""Background training: queueing, progress, the time left, cancelling and failures."""

from __future__ import annotations

import io
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import cast

import pytest

import bpe_core as bpe
from bpe_core.corpus import ReadOptions, Upload, divide_in_process
from bpe_core.corpus.reading_process import read_in_process
from bpe_core.views import Ribbon
from tests.new_process import children_with, run_python
from tests.waiting import MAX_WAIT_SECONDS, wait_until
from ui.storage import BaseName, CorpusOrigin, Extension, Trained, load_run
from ui.work import Task, TrainingReport, UnknownWorkError, jobs, queue
from ui.work.jobs import (
    CURVE_POINTS,
    StoredTraining,
    TrainingRequest,
    TrainingStep,
    merges_a_second,
    note_recent,
    train_and_store,
)

# Numbered, so that each line shows whether it was held out.
LINES = bpe.Corpus.from_text(
    "".join(f"line {n}: the cat sat on the mat and the rat sat on the hat\n" for n in range(200))
)
CONFIG = bpe.TrainingConfig(vocab_size=270)
ORIGIN = CorpusOrigin("paste", "", 10)
# Merging words that share little takes a second or two, so training outlasts a request.
SLOW = bpe.Corpus.from_text(" ".join(f"{n * 2_654_435_761 % 2**40:x}" for n in range(80_000)))
SLOW_CONFIG = bpe.TrainingConfig(vocab_size=80_000, pretokenizer="whitespace")
AtAMerge = SimpleQueue[Callable[[], object]]


class Shelf:
    """A store in memory that can be made to block, so that a test decides when a job may end."""

    def __init__(self) -> None:
        self.runs: dict[str, tuple[str, bpe.TrainingRun, bpe.Corpus]] = {}
        self.reached = threading.Event()
        self.open = threading.Event()
        self.open.set()

    def __call__(self, trained: Trained, *, run_id: str, should_stop: Callable[[], bool]) -> str:
        self.should_stop = should_stop
        self.base = trained.base
        self.reached.set()
        assert self.open.wait(MAX_WAIT_SECONDS)
        self.runs[run_id] = (trained.title, trained.run, trained.held_out)
        return run_id


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch, emptied_queue: None) -> Iterator[Shelf]:
    """Store runs in memory."""
    shelf = Shelf()
    monkeypatch.setattr(jobs, "store_run_to_show", shelf)
    yield shelf
    shelf.open.set()


def submit(
    corpus: bpe.Corpus = LINES, config: bpe.TrainingConfig = CONFIG, share: float = 0.1
) -> str:
    return jobs.submit(corpus, config, title="Rhymes", held_out_share=share, origin=ORIGIN)


def test_a_job_trains_on_one_part_and_stores_the_other_with_the_run(shelf: Shelf) -> None:
    status = wait_until(jobs, submit())
    assert status.state == "finished"
    title, run, held_out = shelf.runs[status.id]
    assert title == "Rhymes"
    assert run.tokenizer.vocab_size == CONFIG.vocab_size
    training, expected_held_out = LINES.split(0.1, seed=0)
    assert run.corpus_sha256 == training.sha256
    assert held_out == expected_held_out
    assert held_out.n_bytes > 0


def test_a_job_extends_a_tokenizer(shelf: Shelf) -> None:
    base = bpe.train(LINES, bpe.TrainingConfig(260)).tokenizer
    extension = Extension(BaseName("gpt2", "A base"), n_tokens=5)
    status = wait_until(
        jobs,
        jobs.submit(LINES, (extension, base), title="Rhymes", held_out_share=0.1, origin=ORIGIN),
    )
    assert status.state == "finished"
    _, run, _ = shelf.runs[status.id]
    assert run.base == base
    assert run.tokenizer.vocab_size == base.vocab_size + 5
    assert shelf.base == extension.base


def test_a_finished_job_has_its_last_progress_and_a_falling_curve(shelf: Shelf) -> None:
    report = wait_until(jobs, submit()).progress
    assert report is not None
    assert report.progress is not None
    assert report.done == report.of == 270 - 257
    tokens = [point.corpus_tokens for point in report.curve]
    assert tokens == sorted(tokens, reverse=True)
    assert report.bytes_per_token == report.training_bytes / report.progress.corpus_tokens


def test_a_job_that_is_cancelled_while_it_is_stored_is_stopping_and_tells_the_store(
    shelf: Shelf,
) -> None:
    shelf.open.clear()
    job = submit()
    assert shelf.reached.wait(MAX_WAIT_SECONDS)
    assert not shelf.should_stop()
    jobs.cancel(job)
    assert jobs.status(job).is_stopping
    assert shelf.should_stop()
    shelf.open.set()
    status = wait_until(jobs, job)
    assert not status.is_stopping
    # All merges had been learned by then, so the run is complete.
    assert status.state == "finished"


@pytest.fixture
def at_a_merge(monkeypatch: pytest.MonkeyPatch) -> AtAMerge:
    """Return a queue for one function, which the next job's thread calls at its first merges.

    It comes before anything else that the thread does, so no training is too short for it.
    """
    wanted: AtAMerge = SimpleQueue()
    is_over = False

    def report(task: Task[TrainingReport], step: TrainingReport) -> None:
        nonlocal is_over
        task.last_report = step
        if step.done > 0 and not is_over:
            is_over = True
            wanted.get(timeout=MAX_WAIT_SECONDS)()

    monkeypatch.setattr(Task, "report", report)
    return wanted


def test_a_running_job_that_is_cancelled_keeps_the_merges_so_far(
    shelf: Shelf, at_a_merge: AtAMerge
) -> None:
    job = submit(SLOW, SLOW_CONFIG, share=0)
    at_a_merge.put(lambda: jobs.cancel(job))
    status = wait_until(jobs, job)
    assert status.state == "cancelled"
    _, run, _ = shelf.runs[status.id]
    assert run.stop_reason == "cancelled"
    assert len(run.merges) < SLOW_CONFIG.vocab_size - 257


def test_a_job_that_is_cancelled_before_its_first_merge_stores_no_run(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = bpe.train(LINES, bpe.TrainingConfig(257), should_stop=lambda: True)
    assert nothing.stop_reason == "cancelled"
    monkeypatch.setattr("ui.work.jobs.train", lambda *_, **__: nothing)
    status = wait_until(jobs, submit())
    assert status.state == "cancelled"
    assert status.result is None
    assert not shelf.runs


def test_a_job_with_an_impossible_vocabulary_size_fails_with_the_reason(
    shelf: Shelf,
) -> None:
    status = wait_until(jobs, submit(config=bpe.TrainingConfig(vocab_size=100)))
    assert status.state == "failed"
    assert status.problem is not None
    assert "257" in status.problem
    assert status.result is None


class WatchedCorpus(bpe.Corpus):
    """A corpus without slots, so that weak references to it are possible."""


def watched() -> WatchedCorpus:
    return WatchedCorpus(LINES.documents, LINES.names)


def test_an_ended_job_releases_its_corpus(shelf: Shelf) -> None:
    shelf.open.clear()
    first = submit()
    assert shelf.reached.wait(MAX_WAIT_SECONDS)
    corpora = [watched() for _ in range(3)]
    seen = [weakref.ref(corpus) for corpus in corpora]
    finished = submit(corpora[0])
    failed = submit(corpora[1], bpe.TrainingConfig(vocab_size=1))
    cancelled = submit(corpora[2])
    del corpora
    jobs.cancel(cancelled)
    assert seen[2]() is None
    assert seen[0]() is not None
    shelf.open.set()
    # The thread drops its references to earlier jobs once one more has ended.
    for job in (first, finished, failed, submit()):
        wait_until(jobs, job)
    assert [ref() for ref in seen] == [None] * 3
    assert jobs.status(cancelled).about == "Rhymes"


# What is large is trained on in a process


def left_on_disk(store: Path) -> list[Path]:
    """Return the folders that were written for processes."""
    return list(store.glob(".unfinished-*"))


@pytest.fixture
def in_process(store: Path, monkeypatch: pytest.MonkeyPatch, emptied_queue: None) -> Path:
    """Train in processes; return the folder of the store."""
    monkeypatch.setattr(jobs, "MIN_BYTES_FOR_PROCESS", 1)
    return store


@pytest.mark.slow
def test_a_process_trains_the_same_run_and_reports_progress(in_process: Path) -> None:
    status = wait_until(jobs, submit())
    assert (status.state, status.problem) == ("finished", None)
    assert status.progress is not None
    assert status.progress.curve
    assert status.progress.progress is not None
    training, held_out = LINES.split(0.1)
    stored = load_run(status.id)
    assert stored.run.tokenizer == bpe.train(training, CONFIG).tokenizer
    assert (stored.held_out, stored.title) == (held_out, "Rhymes")
    assert status.progress.training_bytes == training.n_bytes
    assert left_on_disk(in_process) == []


@pytest.mark.slow
def test_a_process_extends_a_tokenizer(in_process: Path) -> None:
    base = bpe.train(LINES, bpe.TrainingConfig(260)).tokenizer
    hostile = ("<b>\u202e\0", "New\u2028York", "'; --")
    extension = Extension(BaseName("file-x", "<b>\u202e"), 7, hostile, ("ff00",), ("20687567",))
    job = jobs.submit(LINES, (extension, base), title="Rhymes", held_out_share=0.1, origin=ORIGIN)
    assert wait_until(jobs, job).problem is None
    stored = load_run(job)
    assert (stored.run.base, stored.base) == (base, extension.base)


@pytest.mark.slow
def test_a_cancelled_process_keeps_the_merges_so_far(
    in_process: Path, at_a_merge: AtAMerge
) -> None:
    job = submit(SLOW, SLOW_CONFIG)
    at_a_merge.put(lambda: jobs.cancel(job))
    status = wait_until(jobs, job)
    assert (status.state, status.result) == ("cancelled", StoredTraining(job, was_cancelled=True))
    assert 0 < len(load_run(job).run.merges) < SLOW_CONFIG.vocab_size - 257
    assert left_on_disk(in_process) == []


@pytest.mark.slow
def test_a_killed_process_is_an_error_that_loses_nothing_else(
    in_process: Path, at_a_merge: AtAMerge
) -> None:
    def kill() -> None:
        (process,) = children_with("ui.work.jobs:train_here")
        process.kill()

    job = submit(SLOW, SLOW_CONFIG)
    at_a_merge.put(kill)
    following = submit()
    status = wait_until(jobs, job)
    assert status.state == "failed"
    assert "stopped by the system" in str(status.problem)
    assert wait_until(jobs, following).state == "finished"
    assert left_on_disk(in_process) == []


def test_what_a_process_cannot_store_is_trained_by_the_server(
    in_process: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BPE_EXPLORER_STORE_GB", "0.01")
    (in_process / ("b" * 32)).mkdir(parents=True)
    with (in_process / ("b" * 32) / "run.npz").open("wb") as file:
        file.truncate(20_000_000)
    status = wait_until(jobs, submit())
    assert status.state == "finished"
    assert load_run(status.id).run.merges


@pytest.mark.slow
def test_a_filed_corpus_is_trained_on_from_its_files(store: Path, tmp_path: Path) -> None:
    lines = "".join(f"line {n}: {'hug hugs кот ' * 20}\n" for n in range(80_000)).encode()
    upload = io.BytesIO(lines)
    upload.name = "a.txt"  # type: ignore[attr-defined]
    corpus = read_in_process(
        [cast("Upload", upload)],
        ReadOptions(),
        held_out_share=0.1,
        place=tmp_path,
        on_progress=lambda _: None,
    )
    assert corpus.folder is not None
    training, _ = divide_in_process(corpus.folder, 0.1)
    job = jobs.submit(corpus, CONFIG, title="a.txt", held_out_share=0.1, origin=ORIGIN)
    assert wait_until(jobs, job).state == "finished"
    assert load_run(job).run.corpus_sha256 == training.sha256


@pytest.mark.usefixtures("store", "emptied_queue")
def test_a_training_that_an_earlier_server_ended_is_known_by_its_run() -> None:
    job = submit()
    wait_until(jobs, job)
    queue.clear()
    status = jobs.status(job)
    assert (status.state, status.result) == ("finished", StoredTraining(job, was_cancelled=False))
    with pytest.raises(UnknownWorkError, match="does not know the training"):
        jobs.status("f" * 32)


@pytest.mark.usefixtures("shelf")
def test_the_ribbon_of_a_text_shows_its_tokens_after_the_merges_so_far() -> None:
    documents = ["naïve woodchucks would chuck 木 🙂 wood\n" * 4, SLOW.documents[0][:200_000]]
    corpus = bpe.Corpus.from_documents(documents)
    beginnings = Ribbon.beginnings(corpus.documents)
    assert len("".join(beginnings).encode()) == 300
    for config in (bpe.TrainingConfig(900), bpe.TrainingConfig(3_000, tie_break="first-seen")):
        run = bpe.train(corpus, config)
        steps: list[TrainingStep] = []
        train_and_store(
            TrainingRequest(id="a", title="A", config=config, held_out_share=0.0, origin=ORIGIN),
            corpus,
            base=None,
            store=lambda trained, run_id, should_stop: run_id,
            report=steps.append,
            should_stop=lambda: False,
            is_wanted=lambda: True,
        )
        shown = {step.progress.merges_done: step.ribbon for step in steps if step.progress}
        assert {0, len(run.merges)} < set(shown)
        for n, ribbon in shown.items():
            assert ribbon == Ribbon.pack(run.tokenizer.truncated(n), *beginnings), n
        assert all(not step.progress.new_merges for step in steps if step.progress)


@pytest.mark.usefixtures("shelf")
def test_settings_that_change_the_alphabet_have_no_ribbon() -> None:
    for config in (
        bpe.TrainingConfig(270, pretokenizer="whitespace"),
        bpe.TrainingConfig(270, base="characters"),
        bpe.TrainingConfig(270, alphabet="seen"),
        bpe.TrainingConfig(270, picky=0.9),
    ):
        report = wait_until(jobs, submit(config=config)).progress
        assert report is not None
        assert report.ribbon is None


def test_a_long_curve_is_thinned_out(shelf: Shelf) -> None:
    text = " ".join(f"{n * 2_654_435_761 % 2**40:x}" for n in range(4_000))
    # With this many merges requested, points are further apart than reports.
    config = bpe.TrainingConfig(vocab_size=200_000, pretokenizer="whitespace")
    status = wait_until(jobs, submit(bpe.Corpus.from_text(text), config, share=0))
    assert status.progress is not None
    assert status.progress.progress is not None
    done = [point.merges_done for point in status.progress.curve]
    assert len(done) > 3
    spacing = status.progress.progress.merges_wanted // CURVE_POINTS
    gaps = [later - earlier for earlier, later in pairwise(done)]
    assert min(gaps) >= spacing > 100


def progress(done: int, seconds: float, compiling: float | None = None) -> bpe.TrainingProgress:
    return bpe.TrainingProgress(done, 40_000, seconds, 9, 2, compiling)


def rate_after(*reports: bpe.TrainingProgress) -> float | None:
    recent = deque[bpe.TrainingProgress]()
    for report in reports:
        note_recent(recent, report)
    return merges_a_second(recent)


def test_the_rate_covers_the_last_seconds_not_the_slow_start() -> None:
    slow = [progress(n, float(n)) for n in range(21)]
    fast = [progress(20 + 1_000 * n, 20 + n / 10) for n in range(1, 31)]
    assert rate_after(*slow) == 1
    assert rate_after(*slow, *fast) == pytest.approx(10_000)


def test_the_time_left_is_that_of_the_rest_at_the_rate() -> None:
    report = TrainingReport(progress=progress(30_000, 60.0), merges_a_second=500.0)
    assert report.seconds_left == 20
    assert TrainingReport(progress=progress(30_000, 60.0)).seconds_left is None


def test_there_is_no_rate_in_the_first_half_second_of_merges() -> None:
    assert rate_after() is None
    assert rate_after(progress(0, 9), progress(500, 9.4)) is None
    assert rate_after(progress(0, 1, 0.5), progress(0, 9), progress(500, 9.4)) is None
    assert rate_after(progress(0, 9), progress(500, 10)) == 500


@pytest.mark.slow
def test_the_server_exits_even_during_training() -> None:
    code = """
import threading
from bpe_core.corpus.corpus import Corpus
from bpe_core.types import TrainingConfig
from ui.storage.run_store import CorpusOrigin
from ui.work import jobs

reached = threading.Event()

def store_that_never_ends(trained, **rest):
    reached.set()
    threading.Event().wait()

jobs.store_run_to_show = store_that_never_ends
corpus, origin = Corpus.from_text("hug hugs"), CorpusOrigin("paste", "", 0)
jobs.submit(corpus, TrainingConfig(258), title="", held_out_share=0, origin=origin)
assert reached.wait(200)
print("the end")
"""
    assert run_python(code) == "the end\n"


def test_waiting_for_the_compiler_adds_no_point_to_the_curve(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train_after_a_wait(
        corpus: bpe.Corpus,
        config: bpe.TrainingConfig,
        on_progress: Callable[[bpe.TrainingProgress], None],
        should_stop: Callable[[], bool],
    ) -> bpe.TrainingRun:
        on_progress(bpe.TrainingProgress(0, 13, 1.0, 0, 0, seconds_compiling=1.0))
        return bpe.train(corpus, config, on_progress=on_progress, should_stop=should_stop)

    monkeypatch.setattr("ui.work.jobs.train", train_after_a_wait)
    status = wait_until(jobs, submit())
    assert status.progress is not None
    assert status.progress.curve
    assert all(point.corpus_tokens > 0 for point in status.progress.curve)


def test_reports_hold_each_merge_once(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "hug hugs hugging bugs mugs ugly " * 40
    for has_kernels in (True, False):
        monkeypatch.setattr("bpe_core.trainers.fastest.use_kernels", lambda _, has=has_kernels: has)
        for config in (
            bpe.TrainingConfig(280),
            bpe.TrainingConfig(280, seeds=("hugging",)),
            bpe.TrainingConfig(280, superwords_from=262),
        ):
            reports: list[bpe.TrainingProgress] = []
            run = bpe.train([text], config, on_progress=reports.append)
            reported = [merge for report in reports for merge in report.new_merges]
            assert reported == [(each.left, each.right, each.id) for each in run.tokenizer.merges]
