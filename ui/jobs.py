"""Trainings in background threads: a queue, their progress, and a way to stop them."""

from __future__ import annotations

import atexit
import logging
import secrets
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Literal, Protocol

import streamlit as st

from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError
from bpe_core.training import TrainingRun, train
from bpe_core.types import TrainingConfig, TrainingProgress
from ui.run_store import store_run

JobState = Literal["queued", "running", "finished", "cancelled", "failed"]
HELD_OUT_SEED = 0
MOST_REMEMBERED = 64
MOST_WAITING = 16
CURVE_POINTS = 400
_SECONDS_TO_END = 2.0
# The rate of merges is measured over the last few seconds: the first merges are the slowest.
_LONGEST_MEASURED = 3.0
_SHORTEST_MEASURED = 0.5
_log = logging.getLogger(__name__)


class JobNotFoundError(BpeError):
    """No training is known under this id."""


class QueueFullError(BpeError):
    """More trainings wait than the server will keep."""


class StoreRun(Protocol):
    """How a finished run is kept; gives its id."""

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
class TrainingOrder:
    """What a person asked for."""

    corpus: Corpus
    config: TrainingConfig
    held_out_share: float


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """How many tokens the corpus had after so many merges."""

    merges_done: int
    corpus_tokens: int


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A training as it stood when it was asked for."""

    id: str
    title: str
    state: JobState
    queue_position: int
    """How many trainings go before it; 0 once it runs."""
    training_bytes: int
    """The bytes it trains on, held-out text left out; 0 until it runs."""
    progress: TrainingProgress | None
    merges_a_second: float | None
    """Over the last few seconds; None before there is half a second to measure."""
    curve: tuple[CurvePoint, ...]
    is_stopping: bool
    """Whether it was asked to stop and has not ended yet."""
    error: str | None
    """What went wrong, for the person who asked; None save where it failed."""
    run_id: str | None
    """Where the run is stored; None until it is. A cancelled training has the merges so far."""

    @property
    def is_live(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")

    @property
    def bytes_per_token(self) -> float:
        """Of the training text, at this point; 0 before it is counted."""
        tokens = self.progress.corpus_tokens if self.progress else 0
        return self.training_bytes / tokens if tokens else 0.0

    @property
    def seconds_left(self) -> float | None:
        """How long the merges to come take at the rate of now; None where no rate is known."""
        if self.progress is None or not self.merges_a_second:
            return None
        return (self.progress.merges_wanted - self.progress.merges_done) / self.merges_a_second


@dataclass(slots=True)
class _Job:
    id: str
    title: str
    number: int
    order: TrainingOrder | None
    """None once it has ended: a corpus may be large, and many ended jobs are remembered."""
    state: JobState = "queued"
    cancel: Event = field(default_factory=Event)
    training_bytes: int = 0
    progress: TrainingProgress | None = None
    recent: deque[TrainingProgress] = field(default_factory=deque[TrainingProgress])
    """The last few seconds of progress."""
    curve: tuple[CurvePoint, ...] = ()
    error: str | None = None
    run_id: str | None = None


class JobManager:
    """Runs trainings one after another, apart from the sessions that asked for them."""

    def __init__(self, store: StoreRun = store_run) -> None:
        self._store = store
        self._lock = Lock()
        self._jobs: dict[str, _Job] = {}
        self._submitted = 0
        self._closed = Event()
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        # A daemon, unlike a pool's threads: the interpreter doesn't wait for it when it ends.
        self._thread = Thread(target=self._work_on_all, name="training", daemon=True)
        self._thread.start()

    def submit(
        self, corpus: Corpus, config: TrainingConfig, *, title: str, held_out_share: float
    ) -> str:
        """Puts a training in the queue and gives its id; QueueFullError where too many wait."""
        with self._lock:
            if sum(job.state == "queued" for job in self._jobs.values()) >= MOST_WAITING:
                raise QueueFullError(
                    f"{MOST_WAITING} trainings are waiting already. Try again in a minute."
                )
            self._forget_oldest()
            self._submitted += 1
            order = TrainingOrder(corpus, config, held_out_share)
            job = _Job(secrets.token_urlsafe(16), title, self._submitted, order)
            self._jobs[job.id] = job
            self._waiting.put(job)
        return job.id

    def status(self, job_id: str) -> JobStatus:
        """How a training stands; JobNotFoundError for an id that this server doesn't know."""
        with self._lock:
            return self._status_of(self._find(job_id))

    def cancel(self, job_id: str) -> None:
        """Asks a training to stop; what it has learned so far is kept as a run."""
        with self._lock:
            job = self._find(job_id)
            job.cancel.set()
            if job.state == "queued":
                job.state, job.order = "cancelled", None

    def close(self) -> None:
        """Stops all trainings, keeps none, and waits a moment for the thread to end."""
        self._closed.set()
        with self._lock:
            for job in self._jobs.values():
                job.cancel.set()
        self._waiting.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _status_of(self, job: _Job) -> JobStatus:
        ahead = (j for j in self._jobs.values() if j.number < job.number)
        n_ahead = sum(j.state in ("queued", "running") for j in ahead)
        return JobStatus(
            id=job.id,
            title=job.title,
            state=job.state,
            queue_position=n_ahead if job.state == "queued" else 0,
            training_bytes=job.training_bytes,
            progress=job.progress,
            merges_a_second=merges_a_second(job.recent),
            curve=job.curve,
            is_stopping=job.state == "running" and job.cancel.is_set(),
            error=job.error,
            run_id=job.run_id,
        )

    def _find(self, job_id: str) -> _Job:
        job = self._jobs.get(job_id)
        if job is None:
            raise JobNotFoundError(
                "The training at this address is not known any more: the server has started "
                "anew since, or many others came after it. Train again."
            )
        return job

    def _forget_oldest(self) -> None:
        ended = [job.id for job in self._jobs.values() if job.state not in ("queued", "running")]
        for job_id in ended[: max(0, len(self._jobs) - MOST_REMEMBERED + 1)]:
            del self._jobs[job_id]

    def _work_on_all(self) -> None:
        while (job := self._waiting.get()) is not None and not self._closed.is_set():
            self._work(job)

    def _work(self, job: _Job) -> None:
        with self._lock:
            order = job.order
            if order is None:
                return
            job.state = "running"
        try:
            run_id, stop_reason = self._train_and_store(job, order)
        except BpeError as error:
            self._end(job, "failed", error=str(error))
        except Exception as error:
            # Its type and frames alone: the message of an unforeseen error may quote the
            # visitor's text.
            frames = "".join(traceback.format_tb(error.__traceback__))
            _log.error("A training ended in an unforeseen %s\n%s", type(error).__name__, frames)
            message = (
                f"Training stopped on an error of the app ({type(error).__name__}). Your corpus "
                "and settings are as they were; a smaller corpus or other settings may work."
            )
            self._end(job, "failed", error=message)
        else:
            state: JobState = "cancelled" if stop_reason == "cancelled" else "finished"
            self._end(job, state, run_id=run_id)

    def _train_and_store(self, job: _Job, order: TrainingOrder) -> tuple[str | None, str]:
        training, held_out = order.corpus.split(order.held_out_share, seed=HELD_OUT_SEED)
        with self._lock:
            job.training_bytes = training.n_bytes
        run = train(
            training,
            order.config,
            on_progress=lambda progress: self._note(job, progress),
            should_stop=job.cancel.is_set,
        )
        if self._closed.is_set():
            return None, "cancelled"
        run_id = self._store(
            job.title, run, held_out, training=training, should_stop=job.cancel.is_set
        )
        return run_id, run.stop_reason

    def _note(self, job: _Job, progress: TrainingProgress) -> None:
        point = CurvePoint(progress.merges_done, progress.corpus_tokens)
        spacing = max(1, progress.merges_wanted // CURVE_POINTS)
        with self._lock:
            job.progress = progress
            note_recent(job.recent, progress)
            if progress.seconds_compiling is not None:
                return
            if not job.curve or point.merges_done >= job.curve[-1].merges_done + spacing:
                job.curve = (*job.curve, point)

    def _end(
        self, job: _Job, state: JobState, *, run_id: str | None = None, error: str | None = None
    ) -> None:
        with self._lock:
            job.state, job.run_id, job.error, job.order = state, run_id, error, None


@st.cache_resource(show_spinner=False)
def manager() -> JobManager:
    """The one job manager of this server."""
    made = JobManager()
    atexit.register(made.close)
    return made


def note_recent(recent: deque[TrainingProgress], progress: TrainingProgress) -> None:
    """Adds a progress to the last few seconds of them, and drops what is older."""
    if progress.seconds_compiling is not None:
        return
    recent.append(progress)
    while len(recent) > 2 and progress.elapsed_seconds - recent[1].elapsed_seconds >= (
        _LONGEST_MEASURED
    ):
        recent.popleft()


def merges_a_second(recent: Sequence[TrainingProgress]) -> float | None:
    """The rate over the last few seconds; None before there is half a second of merges."""
    if not recent:
        return None
    seconds = recent[-1].elapsed_seconds - recent[0].elapsed_seconds
    merges = recent[-1].merges_done - recent[0].merges_done
    return merges / seconds if seconds >= _SHORTEST_MEASURED and merges else None
