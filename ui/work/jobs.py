"""Train in the background: queue trainings, follow them, and begin again what a crash ended."""

from __future__ import annotations

import atexit
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from threading import Event
from typing import Final, Literal

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.errors import BpeError, NotKeptError
from bpe_core.files.store import new_id
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from ui.host.logs import event, log_unforeseen, short_id
from ui.host.settings import settings
from ui.storage.base_tokenizer import Extension
from ui.storage.run_files import CorpusOrigin
from ui.storage.run_store import is_stored, store_run_to_show
from ui.storage.training_requests import (
    KeptRequest,
    TrainingRequest,
    keep_request,
    left_requests,
)
from ui.work.background import Background, TooMuchWorkError, UnknownWorkError, current_visitor
from ui.work.task import State, Task
from ui.work.training import StoredTraining, StoreRun, train_and_store, train_in_process
from ui.work.training_report import EndingTime, Reporter, TrainingReport, logged
from ui.work.work_process import ADVICE

MAX_CACHED = 64
MAX_WAITING: Final = settings().queue
MAX_PER_VISITOR: Final = 3
_MAX_STARTS: Final = 3
"""A training during which this many servers ended is not begun again: it may be why."""
MIN_BYTES_FOR_PROCESS: Final = 4_000_000
"""The size of a text from which on it is worth a process, which takes about two seconds to start.
Smaller ones are trained on in kernels that leave the interpreter to others."""


class TrainingStoppedError(BpeError):
    """A training run ended with an unexpected error."""


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A snapshot of a training run."""

    id: str
    title: str
    state: State | Literal["unknown"]
    """"unknown" if the server has no training with this id."""
    queue_position: int = 0
    """The number of training runs ahead of it; 0 once it runs."""
    report: TrainingReport = field(default_factory=TrainingReport)
    is_stopping: bool = False
    """Whether it is cancelled but has not ended yet."""
    error: str | None = None
    """What went wrong, as a sentence for the visitor; None unless it failed or is unknown."""
    run_id: str | None = None
    """The id of the stored run; None until then. A cancelled training's run has the merges so far.
    """

    @property
    def is_live(self) -> bool:
        """Whether it is queued or running."""
        return self.state in ("queued", "running")


class LiveTraining:
    """A training that has not ended: its request, and its corpus in memory or on disk."""

    def __init__(
        self,
        request: TrainingRequest,
        corpus: Corpus | FiledCorpus | None,
        kept: KeptRequest | None,
        base: Tokenizer | None = None,
    ) -> None:
        self.request = request
        self._base = base
        self.kept = kept
        self.is_large = kept is not None and kept.text_bytes >= MIN_BYTES_FOR_PROCESS
        self._corpus = None if self.is_large and isinstance(corpus, Corpus) else corpus

    def corpus(self) -> Corpus | FiledCorpus:
        """Return the corpus, held-out text included; raise FormatError if it is damaged."""
        if self._corpus is not None:
            return self._corpus
        assert self.kept is not None
        return self.kept.corpus()

    def corpus_in_memory(self) -> Corpus:
        """Return the corpus itself, from the disk if need be; raises FormatError."""
        corpus = self.corpus()
        return corpus.read() if isinstance(corpus, FiledCorpus) else corpus

    def base(self) -> Tokenizer | None:
        """Return the tokenizer to extend, or None; raises FormatError."""
        if self._base is not None or not isinstance(self.request.how, Extension):
            return self._base
        assert self.kept is not None
        return self.kept.base()

    def remove(self) -> None:
        """Remove it from the disk."""
        if self.kept is not None:
            self.kept.remove()


class JobManager:
    """Train one corpus after another, independently of the sessions that started them.

    With `is_kept_on_disk`, a training survives the server: what it needs is in the store until it
    ends, and `begin_left` begins what an earlier server left. Large corpora are then trained on in
    processes of their own.
    """

    def __init__(
        self,
        store: StoreRun = store_run_to_show,
        *,
        is_kept_on_disk: bool = False,
    ) -> None:
        self._store = store
        self._is_kept_on_disk = is_kept_on_disk
        self._closed = Event()
        self._ending = EndingTime()
        self._live: dict[str, LiveTraining] = {}
        self._background = Background[TrainingReport, StoredTraining](
            "training",
            max_waiting=MAX_WAITING,
            max_cached=MAX_CACHED,
            max_per_visitor=MAX_PER_VISITOR,
        )

    def submit(
        self,
        corpus: Corpus | FiledCorpus,
        how: TrainingConfig | tuple[Extension, Tokenizer],
        *,
        title: str,
        held_out_share: float,
        origin: CorpusOrigin,
        visitor: str | None = None,
        id: str | None = None,
    ) -> str:
        """Queue a training run and return its id, a new one if None: also the id of its run.

        `how` is a configuration to train with, or an extension and the tokenizer that it extends.
        It is for the visitor of this session, unless another is given.

        Raises `TooMuchWorkError` if the queue is full or the visitor has no place left in it.
        A corpus of moderate size is stored with the run, so that it can be chosen again.
        """
        visitor = current_visitor() if visitor is None else visitor
        # Before the corpus is written.
        self._background.check_places(visitor)
        is_new = isinstance(how, TrainingConfig)
        config, (extension, base) = (how, (None, None)) if is_new else (None, how)
        request = TrainingRequest(
            id=id or new_id(),
            title=title,
            config=config,
            extension=extension,
            held_out_share=held_out_share,
            origin=origin,
            visitor=visitor,
            n_bytes=corpus.n_bytes,
            asked_at=time.time(),
        )
        live = LiveTraining(request, corpus, None, base)
        if self._is_kept_on_disk:
            # Without room for it on the disk, it is trained all the same.
            with suppress(NotKeptError):
                live = LiveTraining(request, corpus, keep_request(request, corpus, base), base)
        try:
            self._begin(live)
        except TooMuchWorkError:
            live.remove()
            raise
        return request.id

    def begin_left(self) -> None:
        """Begin the trainings that an earlier server left queued or running."""
        for request, kept in left_requests():
            if is_stored(request.id):
                kept.remove()
                continue
            event("training_begun_again", job=short_id(request.id), starts=kept.n_starts)
            # If the queue is shorter now than it was, what does not fit waits for the next start.
            with suppress(TooMuchWorkError):
                self._begin(LiveTraining(request, None, kept))

    def find_live(self, job_id: str) -> LiveTraining | None:
        """Return a training that has not ended, or None."""
        return self._live.get(job_id)

    def status(self, job_id: str) -> JobStatus:
        """Return a snapshot of a training run; raise `UnknownWorkError` for an unknown id.

        One that ended before the server was started is known if it has a run.
        """
        try:
            status = self._background.status(job_id)
        except UnknownWorkError:
            if self._is_kept_on_disk and is_stored(job_id):
                # An earlier server stored its run.
                return JobStatus(job_id, title="", state="finished", run_id=job_id)
            raise
        report, stored = status.progress or TrainingReport(), status.result
        if report.seconds_left is not None:
            left = max(0.0, report.seconds_left - status.seconds_since_report)
            report = replace(report, seconds_left=left)
        return JobStatus(
            id=job_id,
            title=status.about,
            state="cancelled" if stored is not None and stored.was_cancelled else status.state,
            queue_position=status.n_ahead,
            report=report,
            is_stopping=status.is_stopping,
            error=status.problem,
            run_id=None if stored is None else stored.run_id,
        )

    def count(self, state: State) -> int:
        """Return the number of training runs in a state."""
        return self._background.count(state)

    def cancel(self, job_id: str) -> None:
        """Ask a job to stop; if it has learned a merge, the merges so far become a run."""
        self._background.cancel(job_id)
        if not self._background.status(job_id).is_live:
            self._forget(job_id)

    def close(self) -> None:
        """End all training without storing runs, and wait a moment for the thread to end.

        What is kept on disk stays there for the next server.
        """
        self._closed.set()
        self._background.close()
        for job_id in list(self._live):
            if not self._background.status(job_id).is_live:
                self._forget(job_id)

    def _begin(self, live: LiveTraining) -> None:
        request = live.request

        def work(task: Task[TrainingReport]) -> StoredTraining | None:
            try:
                return self._train(live, task)
            except BpeError:
                raise
            except Exception as error:
                raise TrainingStoppedError(f"{log_unforeseen(error)} {ADVICE}") from None
            finally:
                self._forget(request.id)

        work_noted = logged(request.id, work, n_bytes=request.n_bytes)
        self._live[request.id] = live
        try:
            self._background.begin(
                request.id, work_noted, about=request.title, visitor=request.visitor
            )
        except BpeError:
            del self._live[request.id]
            raise

    def _forget(self, job_id: str) -> None:
        live = self._live.pop(job_id, None)
        if live is None or live.kept is None:
            return
        if self._closed.is_set():
            # The next server begins again what this one did not end.
            live.kept.release()
        else:
            live.kept.remove()

    def _train(self, live: LiveTraining, task: Task[TrainingReport]) -> StoredTraining | None:
        report = Reporter(task, self._ending)
        stored = self._train_followed(live, task, report)
        if stored is not None and not task.is_cancelled:
            report.saved(stored.n_merges)
        return stored

    def _train_followed(
        self, live: LiveTraining, task: Task[TrainingReport], report: Reporter
    ) -> StoredTraining | None:
        def is_cancelled() -> bool:
            return task.is_cancelled

        if live.kept is not None:
            _check_starts(live.kept)
        if live.is_large and live.kept is not None:
            # If the process cannot store the run, this one trains it and keeps it in memory.
            with suppress(NotKeptError):
                return train_in_process(
                    live.kept, report, is_cancelled=is_cancelled, is_wanted=self._is_open
                )
        return train_and_store(
            live.request,
            live.corpus_in_memory(),
            base=live.base(),
            store=self._store,
            report=report,
            should_stop=is_cancelled,
            is_wanted=self._is_open,
        )

    def _is_open(self) -> bool:
        return not self._closed.is_set()


def _check_starts(kept: KeptRequest) -> None:
    """Note that a training starts; raise TrainingStoppedError if it did so too often."""
    if kept.n_starts >= _MAX_STARTS:
        raise TrainingStoppedError(
            f"The server stopped {_MAX_STARTS} times while this training ran, so it is not "
            "started again. Train on a smaller corpus."
        )
    with suppress(OSError):
        kept.note_start()


@cache
def manager() -> JobManager:
    """Return this server's only job manager; the first call begins what an earlier server left."""
    job_manager = JobManager(is_kept_on_disk=True)
    # Exit handlers run last-registered first: this one keeps the handler of the thread from
    # cancelling a job that would then be stored as a run.
    atexit.register(job_manager.close)
    job_manager.begin_left()
    return job_manager
