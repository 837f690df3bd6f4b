"""Train on a large corpus in its own process, so that pages do not share its interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.errors import NotKeptError
from bpe_core.processes.call import call
from bpe_core.processes.report import Report
from bpe_core.types import TrainingProgress
from ui.storage.base_tokenizer import Extension, read_base
from ui.storage.run_store import in_memory_run, store_run
from ui.storage.training_requests import KeptRequest, read_request
from ui.work.task import Task
from ui.work.training import Follower, StoredTraining, train_and_store
from ui.work.training_report import TrainingReport
from ui.work.work_process import failures_advised, work_limits

_ADVICE: Final = (
    "Your corpus and settings are unchanged; a smaller corpus or other settings may work."
)


@dataclass(frozen=True, slots=True)
class TrainingStep:
    """What a process reports of its training."""

    training_bytes: int
    held_out_bytes: int
    progress: TrainingProgress | None = None
    is_saving: bool = False
    """Whether the merges are done and the run is being stored."""


def train_in_process(
    kept: KeptRequest,
    task: Task[TrainingReport],
    followed_by: Callable[[int, int], Follower],
    is_wanted: Callable[[], bool],
) -> StoredTraining | None:
    """Train what is asked for in a folder; return None if there is nothing to store.

    When the task is cancelled, the merges so far are stored, unless `is_wanted` returns False.
    Raises BpeError with what the training raised, NotKeptError if the run could not be written to
    the store, and WorkProcessError if the process was ended without a result.
    """
    follower: Follower | None = None

    def follow(step: TrainingStep) -> None:
        nonlocal follower
        if follower is None:
            follower = followed_by(step.training_bytes, step.held_out_bytes)
        if step.progress is not None:
            follower(step.progress)
        if step.is_saving:
            follower.saving()

    with failures_advised(_ADVICE):
        try:
            return call(
                train_here,
                kept.folder,
                limits=work_limits(kept.text_bytes),
                on_progress=follow,
                should_stop=lambda: task.is_cancelled and not is_wanted(),
                should_finish=lambda: task.is_cancelled,
            )
        except CancelledError:
            return None


def train_here(folder: Path, report: Report[TrainingStep]) -> StoredTraining | None:
    """Train what is asked for in a folder, and store the run; raises NotKeptError if it cannot."""
    request = read_request(folder)
    stored = train_and_store(
        request,
        read_corpus_files(folder, stays_on_disk=True),
        base=read_base(folder) if isinstance(request.how, Extension) else None,
        store=store_run,
        followed_by=partial(_Reporter, report),
        should_stop=report.should_finish,
        is_wanted=lambda: True,
    )
    unkept = None if stored is None else in_memory_run(stored.run_id)
    if unkept is not None:
        raise NotKeptError(unkept.not_kept)
    return stored


class _Reporter:
    """Pass on the progress of the training."""

    def __init__(
        self, report: Report[TrainingStep], training_bytes: int, held_out_bytes: int
    ) -> None:
        self._report = report
        self._sizes = training_bytes, held_out_bytes
        report(TrainingStep(*self._sizes), must_arrive=True)

    def __call__(self, progress: TrainingProgress) -> None:
        """Pass on one report, or leave it out."""
        is_last = progress.merges_done >= progress.merges_wanted
        self._report(TrainingStep(*self._sizes, progress), must_arrive=is_last)

    def saving(self) -> None:
        """Report that the merges are done."""
        self._report(TrainingStep(*self._sizes, is_saving=True), must_arrive=True)
