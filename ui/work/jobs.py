"""Train in the background: queue trainings, follow them, cancel them; large ones in a process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from bpe_core.adapting import extend
from bpe_core.comparison import Newness
from bpe_core.corpus import Corpus
from bpe_core.errors import BpeError, ConfigError, NotKeptError, ProcessError, UnforeseenError
from bpe_core.files import Entry, Store
from bpe_core.processes import Limits, Report, call
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers import TrainingRun, train
from bpe_core.types import TrainingConfig, TrainingProgress
from bpe_core.views import Ribbon
from ui.host import Code, event, log_unforeseen, settings, short_id
from ui.storage import (
    HELD_OUT_SEED,
    CorpusOrigin,
    Extension,
    FolderCheck,
    Trained,
    divide,
    in_memory_run,
    is_stored,
    os_errors_as_not_kept,
    read_base,
    store_run,
    store_run_to_show,
    write_base,
    write_held_out,
)
from ui.work.background import (
    Result,
    Status,
    Step,
    Task,
    UnknownWorkError,
    Work,
    WorkKind,
    queue,
)

CURVE_POINTS = 400
# The rate of merges is measured over the last few seconds, because the first merges are slowest.
_MAX_MEASURED = 3.0
_MIN_MEASURED = 0.5

ADVICE: Final = (
    "Your corpus and settings are unchanged; a smaller corpus or other settings may work."
)
"""What a visitor is told after the reason why work ended without a result."""
# Training takes ten times the size of a text, and a run of a million merges a gigabyte.
_MAX_BYTES: Final = 8 * Limits.GB
_MAX_CORPUS_RATIO: Final = 24
_MAX_SECONDS: Final = 24 * 3_600.0
_NICENESS: Final = 2
"""Pages go first when processors are busy."""
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The number of tokens in the corpus after `merges_done` merges."""

    merges_done: int
    corpus_tokens: int


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The values that a training run reports in progress."""

    training_bytes: int = 0
    """The size of the training text, without held-out text; 0 until the training runs."""
    progress: TrainingProgress | None = None
    merges_a_second: float | None = None
    """Measured over the last few seconds; None until half a second can be measured."""
    curve: tuple[CurvePoint, ...] = ()
    is_saving: bool = False
    """Whether its merges are done and its run is being stored."""
    ribbon: dict[str, Any] | None = None
    """How its text begins, with the tokens so far; None if the settings have no ribbon."""

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token of the training text so far; 0 before its tokens are counted."""
        tokens = self.progress.corpus_tokens if self.progress else 0
        return self.training_bytes / tokens if tokens else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time until the last merge at the present rate, None without one.

        Merges get faster, so the rest takes less than that.
        """
        rate = self.merges_a_second
        return None if rate is None else (self.of - self.done) / rate

    @property
    def done(self) -> int:
        return self.progress.merges_done if self.progress else 0

    @property
    def of(self) -> int:
        return self.progress.merges_wanted if self.progress else 0


class Reporter:
    """Report a job's progress with its rate and its curve."""

    def __init__(self, task: Task[TrainingReport]) -> None:
        self._task = task
        self._recent = deque[TrainingProgress]()
        self._last = TrainingReport()

    def __call__(self, step: TrainingStep) -> None:
        """Report a step of the training."""
        if step.progress is not None:
            self._last = replace(self._after(step.progress), ribbon=step.ribbon)
        elif step.is_saving:
            self._last = replace(self._last, is_saving=True)
        else:
            self._recent.clear()
            self._last = TrainingReport(step.training_bytes)
        self._task.report(self._last)

    def _after(self, progress: TrainingProgress) -> TrainingReport:
        curve = self._last.curve
        note_recent(self._recent, progress)
        if progress.seconds_compiling is None:
            spacing = max(1, progress.merges_wanted // CURVE_POINTS)
            if not curve or progress.merges_done >= curve[-1].merges_done + spacing:
                curve = (*curve, CurvePoint(progress.merges_done, progress.corpus_tokens))
        rate = merges_a_second(self._recent)
        return replace(self._last, progress=progress, merges_a_second=rate, curve=curve)


def note_recent(recent: deque[TrainingProgress], progress: TrainingProgress) -> None:
    """Append `progress` to `recent`, and drop entries older than a few seconds."""
    if progress.seconds_compiling is not None:
        return
    recent.append(progress)
    while len(recent) > 2 and progress.elapsed_seconds - recent[1].elapsed_seconds >= (
        _MAX_MEASURED
    ):
        recent.popleft()


def merges_a_second(recent: Sequence[TrainingProgress]) -> float | None:
    """Return the rate over the last few seconds; None before half a second of merges."""
    if not recent:
        return None
    seconds = recent[-1].elapsed_seconds - recent[0].elapsed_seconds
    merges = recent[-1].merges_done - recent[0].merges_done
    return merges / seconds if seconds >= _MIN_MEASURED and merges else None


def duration(seconds: float) -> str:
    """Return a rounded duration in words.

    >>> duration(5), duration(200), duration(56_000)
    ('5 s', '3 min', '16 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:,.0f} h"


def logged(id: str, work: Work[Step, Result], *, n_bytes: int) -> Work[Step, Result]:
    """Return `work` with an event when it begins and one when it ends; `n_bytes` is its input."""
    job, queued = short_id(id), time.monotonic()

    def work_and_log(task: Task[Step]) -> Result | None:
        started = time.monotonic()
        waited = round(started - queued, 3)
        event("training_started", job=job, bytes=n_bytes, waited_seconds=waited)
        outcome = "cancelled"
        try:
            result = work(task)
            if result is not None and not task.is_cancelled:
                outcome = "finished"
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            seconds = round(time.monotonic() - started, 3)
            event("training_ended", job=job, outcome=Code(outcome), seconds=seconds)
        return result

    return work_and_log


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What to train, apart from the corpus: from scratch, or by extending a tokenizer."""

    id: str
    """Also the id of the run that it will become."""
    title: str
    """The name of the text; may be user input."""
    config: TrainingConfig | None = None
    extension: Extension | None = None
    held_out_share: float
    origin: CorpusOrigin

    @property
    def how(self) -> TrainingConfig | Extension:
        """The settings to train with, or how it extends a tokenizer."""
        how = self.extension or self.config
        assert how is not None
        return how


class StoreRun(Protocol):
    """A function that stores a finished run and returns its id."""

    def __call__(
        self, trained: Trained, *, run_id: str, should_stop: Callable[[], bool]
    ) -> str: ...


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """What a training reports: that it begins, its progress, and that its merges are done."""

    training_bytes: int
    progress: TrainingProgress | None = None
    is_saving: bool = False
    """Whether the merges are done and the run is being stored."""
    ribbon: dict[str, Any] | None = None
    """See `TrainingReport`."""


class StoredTraining(NamedTuple):
    """A training run that was stored."""

    run_id: str
    was_cancelled: bool


def train_and_store(
    request: TrainingRequest,
    corpus: Corpus,
    *,
    base: Tokenizer | None,
    store: StoreRun,
    report: Callable[[TrainingStep], object],
    should_stop: Callable[[], bool],
    is_wanted: Callable[[], bool],
) -> StoredTraining | None:
    """Train and store the run under the request's id; return None if there is nothing to store.

    An extension extends `base`. `should_stop` ends the training early, with the merges so far; once
    `is_wanted` returns False, nothing is stored. Raises what `train`, `extend` and `store` raise.
    """
    training, held_out = divide(corpus, request.held_out_share, request.origin.held_out_by)
    report(TrainingStep(training.n_bytes))
    how = request.how

    ribbon = None
    if not isinstance(how, Extension):
        ribbon = Ribbon.before(how, *Ribbon.beginnings(training.documents))

    def follow(progress: TrainingProgress) -> None:
        drawn = None
        if ribbon is not None:
            ribbon.join(progress.new_merges)
            drawn = ribbon.packed()
        # The merges themselves are not sent from process to process.
        report(TrainingStep(training.n_bytes, replace(progress, new_merges=()), ribbon=drawn))

    def learn(text: Corpus, on_progress: Callable[[TrainingProgress], None] | None) -> TrainingRun:
        if not isinstance(how, Extension):
            return train(text, how, on_progress=on_progress, should_stop=should_stop)
        assert base is not None
        return extend(
            base,
            text,
            n_tokens=how.n_tokens,
            terms=how.tried_first(),
            left_out=how.excluded(),
            character_coverage=how.character_coverage,
            on_progress=on_progress,
            should_stop=should_stop,
        )

    run = learn(training, follow)
    # A run without merges has nothing to show; and if counting was cut short, its figures
    # would describe only a part of the corpus.
    was_cancelled = run.stop_reason == "cancelled"
    if not is_wanted() or (was_cancelled and not run.merges):
        return None
    report(TrainingStep(training.n_bytes, is_saving=True))
    newness = by_folder = None
    if held_out.documents and not was_cancelled:
        is_by_document = held_out.how is not None and held_out.how.by == "document"
        parts = None
        if is_by_document:
            parts = _split_by_folder(corpus, request.held_out_share)
        newness = Newness.measure(run.pretokens, held_out, run.config.pretokenizer, parts)
        if parts is not None and newness.depends_on_folder and not should_stop():
            rest, folders = parts
            # With parity, folders are languages, of which training needs two.
            if run.parity is None or len(rest.by_language()) > 1:
                by_folder = FolderCheck(learn(rest, None).tokenizer, folders)
    trained = Trained(
        request.title,
        run,
        held_out,
        training=training,
        came_from=(request.origin, corpus),
        base=how.base if isinstance(how, Extension) else None,
        newness=newness,
        by_folder=by_folder,
    )
    run_id = store(trained, run_id=request.id, should_stop=should_stop)
    return StoredTraining(run_id, was_cancelled)


def _split_by_folder(corpus: Corpus, share: float) -> tuple[Corpus, Corpus] | None:
    """Return a corpus without whole folders, and these folders; None if it has too few folders.

    Also None if the share is 0, because then a separate text is held out.
    """
    if not share:
        return None
    try:
        return corpus.split(share, HELD_OUT_SEED, "folder")
    except ConfigError:
        return None


def train_in_process(
    request: TrainingRequest,
    corpus: Corpus,
    *,
    base: Tokenizer | None,
    n_bytes: int,
    report: Callable[[TrainingStep], None],
    is_cancelled: Callable[[], bool],
    is_wanted: Callable[[], bool],
) -> StoredTraining | None:
    """Train as `train_and_store` does, in a process; `n_bytes` is the size of the text.

    Once `is_cancelled` returns True, the merges so far are stored, unless `is_wanted` returns
    False. Raises BpeError with what the training raised, NotKeptError if the corpus or the run
    could not be written to the store, and WorkProcessError if the process was ended without a
    result.
    """
    with files_for_process(corpus, base) as folder:
        try:
            return call_apart(
                train_here,
                folder,
                request,
                n_bytes=n_bytes,
                on_progress=report,
                should_stop=lambda: is_cancelled() and not is_wanted(),
                should_finish=is_cancelled,
            )
        except CancelledError:
            return None


def train_here(
    folder: Path, request: TrainingRequest, report: Report[TrainingStep]
) -> StoredTraining | None:
    """Train on the corpus in a folder, and store the run; raises NotKeptError if it cannot."""

    def follow(step: TrainingStep) -> None:
        progress = step.progress
        is_last = progress is None or progress.merges_done >= progress.merges_wanted
        report(step, must_arrive=is_last)

    stored = train_and_store(
        request,
        Corpus.open(folder, stays_on_disk=True),
        base=read_base(folder) if request.extension is not None else None,
        store=store_run,
        report=follow,
        should_stop=report.should_finish,
        is_wanted=lambda: True,
    )
    unkept = None if stored is None else in_memory_run(stored.run_id)
    if unkept is not None:
        raise NotKeptError(unkept.not_kept)
    return stored


class WorkProcessError(BpeError):
    """A process that did a visitor's work ended without a result."""


@contextmanager
def files_for_process(
    corpus: Corpus, tokenizer: Tokenizer | None, held_out_id: str | None = None
) -> Generator[Path]:
    """Write a corpus, a tokenizer and a kept text to a folder that is deleted with the block.

    Raises NotKeptError if there is no room for them, and what `load_uploaded` raises.
    """
    with os_errors_as_not_kept():
        place = TemporaryDirectory(
            prefix=Entry.UNFINISHED, dir=Store().make(), ignore_cleanup_errors=True
        )
    with place as name:
        folder = Path(name)
        with os_errors_as_not_kept():
            corpus.save(folder)
            if tokenizer is not None:
                write_base(folder, tokenizer)
            if held_out_id is not None:
                write_held_out(folder, held_out_id)
        yield folder


def call_apart(
    function: Callable[..., _Answer],
    *arguments: object,
    n_bytes: int,
    on_progress: Callable[[Any], object],
    should_stop: Callable[[], bool],
    should_finish: Callable[[], bool] | None = None,
) -> _Answer:
    """Call a function in a process, as `call` does, within limits for a corpus of `n_bytes`.

    Raises WorkProcessError if the process ends without a result.
    """
    limits = Limits(_MAX_SECONDS, _MAX_BYTES + _MAX_CORPUS_RATIO * n_bytes, niceness=_NICENESS)
    try:
        return call(
            function,
            *arguments,
            limits=limits,
            on_progress=on_progress,
            should_stop=should_stop,
            should_finish=should_finish,
        )
    except ProcessError as error:
        if isinstance(error, UnforeseenError):
            event("unforeseen_error", "error", error=Code(error.name), in_process=1)
        raise WorkProcessError(f"{error} {ADVICE}") from None


TRAIN: Final = WorkKind[TrainingReport, StoredTraining](
    "training", max_waiting=settings().queue, max_per_visitor=3
)
MIN_BYTES_FOR_PROCESS: Final = 4_000_000
"""The size of a text from which on it is worth a process, which takes about two seconds to start.
Smaller ones are trained on in kernels that leave the interpreter to others."""


class TrainingStoppedError(BpeError):
    """A training run ended with an unexpected error."""


Training = Status[TrainingReport, StoredTraining]


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
        id=id or Entry.new_id(),
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


def status(job_id: str) -> Training:
    """Return a snapshot of a training run; raise `UnknownWorkError` for an unknown id.

    One that ended before the server was started is known if it has a run. A cancelled training's
    run has the merges so far.
    """
    try:
        found = queue.status(TRAIN, job_id)
    except UnknownWorkError:
        if is_stored(job_id):
            # An earlier server stored its run.
            stored = StoredTraining(job_id, was_cancelled=False)
            return Status(TRAIN, job_id, "finished", result=stored)
        raise UnknownWorkError(
            "This server does not know the training in this address. If it was restarted, that "
            "training is lost. Check the text and the settings in the form, then train again."
        ) from None
    was_cancelled = found.result is not None and found.result.was_cancelled
    return replace(found, state="cancelled") if was_cancelled else found


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
