"""Train in the background: report progress while a training runs, and store its run."""

from __future__ import annotations

import atexit
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Final, Protocol

import streamlit as st

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import BpeError
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig, TrainingProgress
from ui.failures.unforeseen import log_unforeseen
from ui.storage.run_store import store_run
from ui.work.background import Background, State, Task

HELD_OUT_SEED = 0
MOST_REMEMBERED = 64
MOST_WAITING = 16
CURVE_POINTS = 400
# The rate of merges is measured over the last few seconds, because the first merges are slowest.
_LONGEST_MEASURED = 3.0
_SHORTEST_MEASURED = 0.5


class TrainingStoppedError(BpeError):
    """A training run ended in an unforeseen error."""


class StoreRun(Protocol):
    """A function that stores a finished run and returns its id."""

    def __call__(
        self,
        title: str,
        run: TrainingRun,
        held_out: Corpus,
        *,
        training: Corpus,
        should_stop: Callable[[], bool],
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The number of tokens in the corpus after `merges_done` merges."""

    merges_done: int
    corpus_tokens: int


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A snapshot of a training run."""

    id: str
    title: str
    state: State
    queue_position: int
    """The number of training runs ahead of it; 0 once it runs."""
    training_bytes: int
    """The size of the training text, without held-out text; 0 until the training runs."""
    progress: TrainingProgress | None
    merges_a_second: float | None
    """Measured over the last few seconds; None until half a second can be measured."""
    curve: tuple[CurvePoint, ...]
    is_stopping: bool
    """Whether it is cancelled but has not ended yet."""
    error: str | None
    """What went wrong, as a sentence for the visitor; None unless it failed."""
    run_id: str | None
    """The id of the stored run; None until then. A cancelled training's run has the merges so far.
    """

    @property
    def is_live(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ("queued", "running")

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token of the training text so far; 0 before its tokens are counted."""
        tokens = self.progress.corpus_tokens if self.progress else 0
        return self.training_bytes / tokens if tokens else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time that the remaining merges take at the present rate; None without a rate."""
        if self.progress is None or not self.merges_a_second:
            return None
        return (self.progress.merges_wanted - self.progress.merges_done) / self.merges_a_second


@dataclass(frozen=True, slots=True)
class _Report:
    """What a training run reports while it runs."""

    training_bytes: int
    progress: TrainingProgress | None = None
    merges_a_second: float | None = None
    curve: tuple[CurvePoint, ...] = ()

    @property
    def done(self) -> int:
        return self.progress.merges_done if self.progress else 0

    @property
    def of(self) -> int:
        return self.progress.merges_wanted if self.progress else 0


_NOTHING_YET: Final = _Report(training_bytes=0)


@dataclass(frozen=True, slots=True)
class _Stored:
    """The result of a training run."""

    run_id: str
    was_cancelled: bool


class JobManager:
    """Train one corpus after another, independently of the sessions that started them."""

    def __init__(self, store: StoreRun = store_run) -> None:
        self._store = store
        self._closed = Event()
        self._background = Background[_Report, _Stored](
            "training", most_waiting=MOST_WAITING, most_remembered=MOST_REMEMBERED
        )

    def submit(
        self, corpus: Corpus, config: TrainingConfig, *, title: str, held_out_share: float
    ) -> str:
        """Queue a training run and return its id; raise `TooMuchWorkError` if the queue is full."""
        job_id = secrets.token_urlsafe(16)
        work = partial(self._train_and_store, title, corpus, config, held_out_share)
        self._background.begin(job_id, work, about=title)
        return job_id

    def status(self, job_id: str) -> JobStatus:
        """Return a snapshot of a training run; raise `UnknownWorkError` for an unknown id."""
        status = self._background.status(job_id)
        report, stored = status.progress or _NOTHING_YET, status.result
        return JobStatus(
            id=job_id,
            title=status.about,
            state="cancelled" if stored is not None and stored.was_cancelled else status.state,
            queue_position=status.n_ahead,
            training_bytes=report.training_bytes,
            progress=report.progress,
            merges_a_second=report.merges_a_second,
            curve=report.curve,
            is_stopping=status.is_stopping,
            error=status.problem,
            run_id=None if stored is None else stored.run_id,
        )

    def cancel(self, job_id: str) -> None:
        """Ask a training to stop; if it has learned a merge, the merges so far become a run."""
        self._background.cancel(job_id)

    def close(self) -> None:
        """Cancel all training without storing runs, and wait a moment for the thread to end."""
        self._closed.set()
        self._background.close()

    def _train_and_store(
        self,
        title: str,
        corpus: Corpus,
        config: TrainingConfig,
        held_out_share: float,
        task: Task[_Report],
    ) -> _Stored | None:
        def should_stop() -> bool:
            return task.is_cancelled

        try:
            training, held_out = corpus.split(held_out_share, seed=HELD_OUT_SEED)
            run = train(
                training,
                config,
                on_progress=_progress_reporter(task, training.n_bytes),
                should_stop=should_stop,
            )
            # A run without merges has nothing to show; and if counting was cut short, its figures
            # would describe only a part of the corpus.
            if self._closed.is_set() or (run.stop_reason == "cancelled" and not run.merges):
                return None
            run_id = self._store(title, run, held_out, training=training, should_stop=should_stop)
        except BpeError:
            raise
        except Exception as error:
            raise TrainingStoppedError(
                f"{log_unforeseen(error)} Your corpus and settings are unchanged; a smaller "
                "corpus or other settings may work."
            ) from None
        return _Stored(run_id, run.stop_reason == "cancelled")


def _progress_reporter(
    task: Task[_Report], training_bytes: int
) -> Callable[[TrainingProgress], None]:
    """Return a function that reports a training's progress with its rate and its curve."""
    recent = deque[TrainingProgress]()
    curve: tuple[CurvePoint, ...] = ()

    def report(progress: TrainingProgress) -> None:
        nonlocal curve
        note_recent(recent, progress)
        if progress.seconds_compiling is None:
            spacing = max(1, progress.merges_wanted // CURVE_POINTS)
            if not curve or progress.merges_done >= curve[-1].merges_done + spacing:
                curve = (*curve, CurvePoint(progress.merges_done, progress.corpus_tokens))
        task.report(_Report(training_bytes, progress, merges_a_second(recent), curve))

    task.report(_Report(training_bytes))
    return report


@st.cache_resource(show_spinner=False)
def manager() -> JobManager:
    """Return this server's only job manager."""
    job_manager = JobManager()
    # Exit handlers run last-registered first: this one keeps the handler of the thread from
    # cancelling a training that would then be stored as a run.
    atexit.register(job_manager.close)
    return job_manager


def note_recent(recent: deque[TrainingProgress], progress: TrainingProgress) -> None:
    """Append `progress` to `recent`, and drop entries older than a few seconds."""
    if progress.seconds_compiling is not None:
        return
    recent.append(progress)
    while len(recent) > 2 and progress.elapsed_seconds - recent[1].elapsed_seconds >= (
        _LONGEST_MEASURED
    ):
        recent.popleft()


def merges_a_second(recent: Sequence[TrainingProgress]) -> float | None:
    """Return the rate over the last few seconds; None before half a second of merges."""
    if not recent:
        return None
    seconds = recent[-1].elapsed_seconds - recent[0].elapsed_seconds
    merges = recent[-1].merges_done - recent[0].merges_done
    return merges / seconds if seconds >= _SHORTEST_MEASURED and merges else None
