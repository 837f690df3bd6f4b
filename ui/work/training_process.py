"""Train on a large corpus in its own process, so that pages do not share its interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Final

from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.errors import NotKeptError
from bpe_core.processes.call import call
from bpe_core.processes.report import Report
from ui.storage.base_tokenizer import Extension, read_base
from ui.storage.run_store import in_memory_run, store_run
from ui.storage.training_requests import KeptRequest, read_request
from ui.work.training import StoredTraining, TrainingStep, train_and_store
from ui.work.work_process import failures_advised, work_limits

_ADVICE: Final = (
    "Your corpus and settings are unchanged; a smaller corpus or other settings may work."
)


def train_in_process(
    kept: KeptRequest,
    on_progress: Callable[[TrainingStep], None],
    *,
    is_cancelled: Callable[[], bool],
    is_wanted: Callable[[], bool],
) -> StoredTraining | None:
    """Train what is asked for in a folder; return None if there is nothing to store.

    Once `is_cancelled` returns True, the merges so far are stored, unless `is_wanted` returns
    False. Raises BpeError with what the training raised, NotKeptError if the run could not be
    written to the store, and WorkProcessError if the process was ended without a result.
    """
    with failures_advised(_ADVICE):
        try:
            return call(
                train_here,
                kept.folder,
                limits=work_limits(kept.text_bytes),
                on_progress=on_progress,
                should_stop=lambda: is_cancelled() and not is_wanted(),
                should_finish=is_cancelled,
            )
        except CancelledError:
            return None


def train_here(folder: Path, report: Report[TrainingStep]) -> StoredTraining | None:
    """Train what is asked for in a folder, and store the run; raises NotKeptError if it cannot."""

    def follow(step: TrainingStep) -> None:
        progress = step.progress
        is_last = progress is None or progress.merges_done >= progress.merges_wanted
        report(step, must_arrive=is_last)

    request = read_request(folder)
    stored = train_and_store(
        request,
        read_corpus_files(folder, stays_on_disk=True),
        base=read_base(folder) if isinstance(request.how, Extension) else None,
        store=store_run,
        report=follow,
        should_stop=report.should_finish,
        is_wanted=lambda: True,
    )
    unkept = None if stored is None else in_memory_run(stored.run_id)
    if unkept is not None:
        raise NotKeptError(unkept.not_kept)
    return stored
