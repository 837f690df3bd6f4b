"""Train on a large corpus in a process of its own, so that pages do not share its interpreter.

`python -m ui.work.training_process FOLDER` reads a request that is kept in FOLDER, trains, stores
the run, and writes one JSON object a line to standard output. Any line on its standard input asks
it to stop early, with the merges so far; it exits when the input closes.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, cast

from bpe_core.child_process import child, follow_parent
from bpe_core.corpus.corpus_files import TEXT, read_corpus_files
from bpe_core.errors import BpeError, NotKeptError
from bpe_core.process_limits import limit_this_process
from bpe_core.types import TrainingProgress
from ui.logs import Code, event
from ui.storage.base_tokenizer import Extension, read_base
from ui.storage.run_store import in_memory_run, store_run
from ui.storage.training_requests import read_request
from ui.work.background import Task
from ui.work.training import Follower, StoredTraining, train_and_store
from ui.work.training_report import Report

# Training takes ten times the size of a text, and a run of a million merges a gigabyte.
_MOST_BYTES: Final = 8 * 2**30
_MOST_TIMES_CORPUS: Final = 24
_MOST_SECONDS: Final = 24 * 3_600.0
_SECONDS_BETWEEN_REPORTS: Final = 0.1
_NICENESS: Final = 2
"""Pages go first where processors are short."""


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
    with child("ui.work.training_process", str(folder), most_seconds=_MOST_SECONDS) as process:
        commands = cast("IO[bytes]", process.stdin)
        task.on_cancel(lambda: _ask_to_stop(commands) if is_wanted() else process.kill())
        for line in cast("IO[bytes]", process.stdout):
            match json.loads(line):
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
                case {"error": why}:
                    raise TrainingProcessError(why)
                case {"unforeseen": name}:
                    event("unforeseen_error", "error", error=Code(name), in_process=1)
                    raise TrainingProcessError(
                        f"It stopped because of an error in the app ({name}). Your corpus and "
                        "settings are unchanged; a smaller corpus or other settings may work."
                    )
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
    """Pass on the progress, a few times a second."""

    def __init__(self, training_bytes: int, held_out_bytes: int) -> None:
        self._next_report = 0.0
        _write({"sizes": [training_bytes, held_out_bytes]})

    def __call__(self, progress: TrainingProgress) -> None:
        """Pass on one report, or leave it out."""
        now = time.monotonic()
        is_last = progress.merges_done >= progress.merges_wanted
        if now >= self._next_report or is_last:
            self._next_report = now + _SECONDS_BETWEEN_REPORTS
            _write({"progress": asdict(progress)})

    def saving(self) -> None:
        """Say that the merges are done."""
        _write({"saving": True})


def _write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _main(folder: Path) -> None:
    stopped = threading.Event()
    follow_parent(lambda _: stopped.set())
    if hasattr(os, "nice"):  # not on Windows
        os.nice(_NICENESS)
    request = read_request(folder)
    # Words with counts stand for a corpus of any size, and only they are in memory.
    text = folder / TEXT
    n_bytes = text.stat().st_size if text.is_file() else 0
    limit_this_process(_MOST_BYTES + _MOST_TIMES_CORPUS * n_bytes, round(_MOST_SECONDS))
    try:
        stored = train_and_store(
            request,
            read_corpus_files(folder),
            base=read_base(folder) if isinstance(request.how, Extension) else None,
            store=store_run,
            followed_by=_Pipe,
            should_stop=stopped.is_set,
            is_wanted=lambda: True,
        )
        unkept = None if stored is None else in_memory_run(stored.run_id)
        _write({"stored": stored} if unkept is None else {"not_kept": unkept.not_kept})
    except BpeError as error:
        _write({"error": str(error)})
    except MemoryError:
        # As if the system had ended it.
        sys.exit(1)
    except Exception as error:
        _write({"unforeseen": type(error).__name__})


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
