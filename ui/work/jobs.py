"""Train in the background: queue trainings, follow them, cancel them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError, NotKeptError
from bpe_core.files import new_id
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig
from ui.host import log_unforeseen, settings
from ui.storage import CorpusOrigin, Extension, is_stored, store_run_to_show
from ui.work.background import State, Task, UnknownWorkError, WorkKind, queue
from ui.work.training import (
    ADVICE,
    Reporter,
    StoredTraining,
    TrainingReport,
    TrainingRequest,
    logged,
    train_and_store,
    train_in_process,
)

TRAIN: Final = WorkKind[TrainingReport, StoredTraining](
    "training", max_waiting=settings().queue, max_per_visitor=3
)
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


def submit(
    corpus: Corpus,
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
    It is for the visitor of this session, unless another is given. A large corpus is trained on in
    a process of its own.

    Raises `TooMuchWorkError` if the queue is full or the visitor has no place left in it.
    A corpus of moderate size is stored with the run, so that it can be chosen again.
    """
    is_new = isinstance(how, TrainingConfig)
    config, (extension, base) = (how, (None, None)) if is_new else (None, how)
    request = TrainingRequest(
        id=id or new_id(),
        title=title,
        config=config,
        extension=extension,
        held_out_share=held_out_share,
        origin=origin,
    )

    def work(task: Task[TrainingReport]) -> StoredTraining | None:
        try:
            return _train(request, corpus, base, task)
        except BpeError:
            raise
        except Exception as error:
            raise TrainingStoppedError(f"{log_unforeseen(error)} {ADVICE}") from None

    noted = logged(request.id, work, n_bytes=corpus.n_bytes)
    queue.begin(TRAIN, request.id, noted, about=title, visitor=visitor)
    return request.id


def status(job_id: str) -> JobStatus:
    """Return a snapshot of a training run; raise `UnknownWorkError` for an unknown id.

    One that ended before the server was started is known if it has a run.
    """
    try:
        found = queue.status(TRAIN, job_id)
    except UnknownWorkError:
        if is_stored(job_id):
            # An earlier server stored its run.
            return JobStatus(job_id, title="", state="finished", run_id=job_id)
        raise UnknownWorkError(
            "The server no longer knows this training: it was probably restarted. Your text "
            "and settings are still in the form. Begin again."
        ) from None
    stored = found.result
    return JobStatus(
        id=job_id,
        title=found.about,
        state="cancelled" if stored is not None and stored.was_cancelled else found.state,
        queue_position=found.n_ahead,
        report=found.progress or TrainingReport(),
        is_stopping=found.is_stopping,
        error=found.problem,
        run_id=None if stored is None else stored.run_id,
    )


def cancel(job_id: str) -> None:
    """Ask a job to stop; if it has learned a merge, the merges so far become a run."""
    queue.cancel(TRAIN, job_id)


def _train(
    request: TrainingRequest,
    corpus: Corpus,
    base: Tokenizer | None,
    task: Task[TrainingReport],
) -> StoredTraining | None:
    report = Reporter(task)

    def is_cancelled() -> bool:
        return task.is_cancelled

    def is_wanted() -> bool:
        return task.is_wanted

    n_bytes = _text_bytes(corpus)
    if n_bytes >= MIN_BYTES_FOR_PROCESS:
        # If the process cannot store the run, this one trains it and keeps it in memory.
        with suppress(NotKeptError):
            return train_in_process(
                request,
                corpus,
                base=base,
                n_bytes=n_bytes,
                report=report,
                is_cancelled=is_cancelled,
                is_wanted=is_wanted,
            )
    return train_and_store(
        request,
        corpus.read(),
        base=base,
        store=store_run_to_show,
        report=report,
        should_stop=is_cancelled,
        is_wanted=is_wanted,
    )


def _text_bytes(corpus: Corpus) -> int:
    """Return the size of a corpus's text, or of its words, each once."""
    if corpus.word_counts is None:
        return corpus.n_bytes
    return sum(len(word.encode()) for word in corpus.word_counts)
