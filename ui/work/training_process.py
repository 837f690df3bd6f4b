"""Train on a large corpus in a process of its own, so that pages do not share its interpreter.

`python -m ui.work.training_process FOLDER` reads a request that is kept in FOLDER, trains, stores
the run, and writes one JSON object a line to standard output. Any line on its standard input asks
it to stop early, with the merges so far; it exits when the input closes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, cast

from bpe_core.child_process import follow_parent
from bpe_core.corpus.corpus_files import TEXT, read_corpus_files
from bpe_core.errors import BpeError, NotKeptError
from bpe_core.types import TrainingProgress
from ui.storage.base_tokenizer import Extension, read_base
from ui.storage.run_store import in_memory_run, store_run
from ui.storage.training_requests import read_request
from ui.work.task import Task
from ui.work.training import Follower, StoredTraining, train_and_store
from ui.work.training_report import Report
from ui.work.work_process import Reporter, answers_of, work_and_answer, work_process, write

_ADVICE: Final = (
    "Your corpus and settings are unchanged; a smaller corpus or other settings may work."
)


class TrainingProcessError(BpeError):
    """The process of a training ended without a result."""


def train_in_process(
    folder: Path,
    task: Task[Report],
    followed_by: Callable[[int, int], Follower],
    is_wanted: Callable[[], bool],
) -> StoredTraining | None:
    """Train what is asked for in a folder; return None if there is nothing to store.

    When the task is cancelled, the merges so far are stored, unless `is_wanted` returns False.
    Raises BpeError with what the training raised, NotKeptError if the run could not be written to
    the store, and TrainingProcessError if the process was killed.
    """
    follower: Follower | None = None
    with work_process("ui.work.training_process", folder) as process:
        commands = cast("IO[bytes]", process.stdin)
        task.on_cancel(lambda: _ask_to_stop(commands) if is_wanted() else process.kill())
        for answer in answers_of(process, TrainingProcessError, _ADVICE):
            match answer:
                case {"sizes": [training_bytes, held_out_bytes]}:
                    follower = followed_by(training_bytes, held_out_bytes)
                case {"progress": progress} if follower is not None:
                    follower(TrainingProgress(**progress))
                case {"saving": True} if follower is not None:
                    follower.saving()
                case {"stored": stored}:
                    return None if stored is None else StoredTraining(*stored)
                case {"not_kept": why}:
                    raise NotKeptError(why)
                case _:
                    break
    raise TrainingProcessError(
        "The process that trained was stopped by the system, most likely because memory ran out. "
        "Your corpus and settings are unchanged: train again, on a smaller corpus if it happens "
        "again."
    )


def _ask_to_stop(commands: IO[bytes]) -> None:
    try:
        commands.write(b"stop\n")
        commands.flush()
    except (OSError, ValueError):
        pass  # it has ended


class _Pipe:
    """Pass on the progress of the training."""

    def __init__(self, training_bytes: int, held_out_bytes: int) -> None:
        self._report = Reporter()
        write({"sizes": [training_bytes, held_out_bytes]})

    def __call__(self, progress: TrainingProgress) -> None:
        """Pass on one report, or leave it out."""
        is_last = progress.merges_done >= progress.merges_wanted
        self._report(asdict(progress), is_last=is_last)

    def saving(self) -> None:
        """Report that the merges are done."""
        write({"saving": True})


def _main(folder: Path) -> None:
    stopped = threading.Event()
    follow_parent(lambda _: stopped.set())
    request = read_request(folder)

    def work() -> dict[str, Any]:
        stored = train_and_store(
            request,
            read_corpus_files(folder, stays_on_disk=True),
            base=read_base(folder) if isinstance(request.how, Extension) else None,
            store=store_run,
            followed_by=_Pipe,
            should_stop=stopped.is_set,
            is_wanted=lambda: True,
        )
        unkept = None if stored is None else in_memory_run(stored.run_id)
        return {"stored": stored} if unkept is None else {"not_kept": unkept.not_kept}

    # Words with counts stand for a corpus of any size, and only they are in memory.
    text = folder / TEXT
    work_and_answer(work, text.stat().st_size if text.is_file() else 0)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
