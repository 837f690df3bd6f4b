"""Trainings in the background: what they tell while they run, and the runs they leave behind."""

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
from ui.failures.unforeseen import told_of_unforeseen
from ui.storage.run_store import store_run
from ui.work.background import Background, State, Task

HELD_OUT_SEED = 0
MOST_REMEMBERED = 64
MOST_WAITING = 16
CURVE_POINTS = 400
# The rate of merges is measured over the last few seconds: the first merges are the slowest.
_LONGEST_MEASURED = 3.0
_SHORTEST_MEASURED = 0.5


class TrainingStoppedError(BpeError):
    """A training ended in an error that nobody foresaw."""


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
class CurvePoint:
    """How many tokens the corpus had after so many merges."""

    merges_done: int
    corpus_tokens: int


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A training as it stood when it was asked for."""

    id: str
    title: str
    state: State
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


@dataclass(frozen=True, slots=True)
class _Told:
    """What a training tells of itself while it runs."""

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


_NOTHING_YET: Final = _Told(training_bytes=0)


@dataclass(frozen=True, slots=True)
class _Kept:
    """What a training left behind."""

    run_id: str
    was_cancelled: bool


class JobManager:
    """Runs trainings one after another, apart from the sessions that asked for them."""

    def __init__(self, store: StoreRun = store_run) -> None:
        self._store = store
        self._closed = Event()
        self._background = Background[_Told, _Kept](
            "training", most_waiting=MOST_WAITING, most_remembered=MOST_REMEMBERED
        )

    def submit(
        self, corpus: Corpus, config: TrainingConfig, *, title: str, held_out_share: float
    ) -> str:
        """Puts a training in the queue and gives its id; raises `TooMuchWorkError`."""
        job_id = secrets.token_urlsafe(16)
        work = partial(self._train_and_store, title, corpus, config, held_out_share)
        self._background.begin(job_id, work, about=title)
        return job_id

    def status(self, job_id: str) -> JobStatus:
        """How a training stands; `UnknownWorkError` for an id that this server doesn't know."""
        status = self._background.status(job_id)
        told, kept = status.progress or _NOTHING_YET, status.result
        return JobStatus(
            id=job_id,
            title=status.about,
            state="cancelled" if kept is not None and kept.was_cancelled else status.state,
            queue_position=status.n_ahead,
            training_bytes=told.training_bytes,
            progress=told.progress,
            merges_a_second=told.merges_a_second,
            curve=told.curve,
            is_stopping=status.is_stopping,
            error=status.problem,
            run_id=None if kept is None else kept.run_id,
        )

    def cancel(self, job_id: str) -> None:
        """Asks a training to stop; what it has learned so far, a merge at least, becomes a run."""
        self._background.cancel(job_id)

    def close(self) -> None:
        """Stops all trainings, keeps none, and waits a moment for the thread to end."""
        self._closed.set()
        self._background.close()

    def _train_and_store(
        self,
        title: str,
        corpus: Corpus,
        config: TrainingConfig,
        held_out_share: float,
        task: Task[_Told],
    ) -> _Kept | None:
        def should_stop() -> bool:
            return task.is_cancelled

        try:
            training, held_out = corpus.split(held_out_share, seed=HELD_OUT_SEED)
            run = train(
                training,
                config,
                on_progress=_teller(task, training.n_bytes),
                should_stop=should_stop,
            )
            # Without a merge there is nothing to keep; and where the counting was cut short, what
            # such a run says of its corpus would be of a part alone.
            if self._closed.is_set() or (run.stop_reason == "cancelled" and not run.merges):
                return None
            run_id = self._store(title, run, held_out, training=training, should_stop=should_stop)
        except BpeError:
            raise
        except Exception as error:
            raise TrainingStoppedError(
                f"{told_of_unforeseen(error)} Your corpus and settings are as they were; a "
                "smaller corpus or other settings may work."
            ) from None
        return _Kept(run_id, run.stop_reason == "cancelled")


def _teller(task: Task[_Told], training_bytes: int) -> Callable[[TrainingProgress], None]:
    """A function that is given a training's progress, and tells it with the rate and the curve."""
    recent = deque[TrainingProgress]()
    curve: tuple[CurvePoint, ...] = ()

    def tell(progress: TrainingProgress) -> None:
        nonlocal curve
        note_recent(recent, progress)
        if progress.seconds_compiling is None:
            spacing = max(1, progress.merges_wanted // CURVE_POINTS)
            if not curve or progress.merges_done >= curve[-1].merges_done + spacing:
                curve = (*curve, CurvePoint(progress.merges_done, progress.corpus_tokens))
        task.tell(_Told(training_bytes, progress, merges_a_second(recent), curve))

    task.tell(_Told(training_bytes))
    return tell


@st.cache_resource(show_spinner=False)
def manager() -> JobManager:
    """The one job manager of this server."""
    made = JobManager()
    # Before its thread is ended: what was learned until then would be kept as a run.
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
