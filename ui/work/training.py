"""Train on one part of a corpus, measure the run on the other, and store it.

On a large corpus, that is done in a process of its own, so that pages do not share its interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from bpe_core.adapting import extend
from bpe_core.comparison import measure_newness, split_by_folder
from bpe_core.corpus import Corpus, FiledCorpus
from bpe_core.errors import NotKeptError
from bpe_core.processes import Report
from bpe_core.runs import TrainingRun, train
from bpe_core.tokenizer import Tokenizer
from bpe_core.types import TrainingConfig, TrainingProgress
from ui.storage import (
    HELD_OUT_SEED,
    CorpusOrigin,
    Extension,
    FolderCheck,
    Trained,
    divide,
    in_memory_run,
    read_base,
    store_run,
)
from ui.work.work_process import call_apart, files_for_process


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

    def follow(progress: TrainingProgress) -> None:
        report(TrainingStep(training.n_bytes, progress))

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
            parts = split_by_folder(corpus, request.held_out_share, HELD_OUT_SEED)
        newness = measure_newness(run.pretokens, held_out, parts, run.config.pretokenizer)
        if parts is not None and newness.depends_on_folder and not should_stop():
            rest, folders = parts
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


def train_in_process(
    request: TrainingRequest,
    corpus: Corpus | FiledCorpus,
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
