"""Measure an experiment in the background, and store the run of each of its rows."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import Corpus, FiledCorpus
from bpe_core.experiments import Experiment, Training, experiment
from bpe_core.experiments import Progress as RowsDone
from bpe_core.files import (
    EXPERIMENT_PREFIX,
    NAME,
    delete_folder,
    folder_size,
    make_store_folder,
    new_id,
    owned_id,
    touch,
    write_whole,
)
from bpe_core.runs import TrainingRun
from ui.host import event
from ui.shell import hold_keys
from ui.storage import Trained, is_stored, make_room, os_errors_as_not_kept, store_run
from ui.work import Progress, Status, Task, WorkKind, queue

MAX_BYTES: Final = 64_000_000
"""The limit for a corpus; the command line has none."""
MAX_ROWS: Final = 60
MAX_BYTES_OF_ROWS: Final = 1_200_000_000
"""The limit for the bytes of a corpus times the number of rows, because others wait meanwhile."""
_CORPUS: Final = "corpus"
"""The name of the visitor's corpus in the settings."""
_RUNS: Final = "runs.json"
_STEPS: Final = 1_000


class Measured(NamedTuple):
    """What was found, and the ids of the runs by the names of their rows."""

    found: Experiment
    run_ids: Mapping[str, str]


EXPERIMENT: Final = WorkKind[Progress, Measured]("experiments", max_per_visitor=2)
"""By the id of the order."""


@dataclass(frozen=True, slots=True)
class Order:
    """Settings and the corpus that they are tried on."""

    settings: Mapping[str, Any]
    corpus: Corpus | FiledCorpus
    title: str

    @property
    def id(self) -> str:
        """The same for the same settings and corpus, no matter who asks."""
        words = json.dumps([self.corpus.sha256, self.settings], sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:32]

    @property
    def n_rows(self) -> int:
        """The number of combinations."""
        return count_rows(self.settings)


def count_rows(settings: Mapping[str, Any]) -> int:
    """Return the number of combinations of some settings."""
    own = (len(settings[name]) for name in ("vocab_sizes", "pretokenizers", "alphabets"))
    return math.prod(own) + len(settings["extend"]) * len(settings["new_tokens"])


def measuring(order: Order) -> Status[Progress, Measured] | None:
    """Return the status of an experiment; None if it was not begun."""
    return queue.find(EXPERIMENT, order.id)


def begin_measuring(order: Order) -> None:
    """Queue an experiment, whose runs belong to this visitor; raises TooMuchWorkError.

    What an earlier server measured is kept.
    """
    keys = [new_id() for _ in range(order.n_rows)]
    work = partial(measure, order, [owned_id(key) for key in keys])
    queue.begin(EXPERIMENT, order.id, work, about=order.title)
    hold_keys(keys)


def measure(order: Order, new_ids: Sequence[str], task: Task[Progress]) -> Measured:
    """Measure all rows that are missing; raises CancelledError if the task is cancelled.

    Their runs get `new_ids`. The rows are an entry of the store, and are deleted like the others.
    Raises NotKeptError if the store has no room.
    """
    corpus = order.corpus.read()
    training, held_out = corpus.split(
        order.settings["held_out"], order.settings["seed"], order.settings["held_out_by"] or None
    )
    left, lock = list(new_ids), threading.Lock()
    with os_errors_as_not_kept():
        folder, run_ids = _open_folder(order)
        noted = folder_size(folder)

        def store(of: Training, size: int, run: TrainingRun) -> None:
            with lock:
                trained = Trained(order.title, run, held_out, training)
                run_ids[_row(of.settings(size))] = store_run(
                    trained, run_id=left.pop(), should_stop=lambda: task.is_cancelled
                )
                write_whole(folder / _RUNS, json.dumps(run_ids).encode())

        def report(progress: RowsDone) -> None:
            nonlocal noted
            with lock:
                size = folder_size(folder)
            make_room(max(0, size - noted))
            noted = size
            task.report(Progress(round(progress.share * _STEPS), _STEPS))

        found = experiment(
            order.settings,
            {_CORPUS: corpus},
            work=folder,
            on_progress=report,
            on_run=store,
            should_stop=lambda: task.is_cancelled,
        )
    event("experiment_ended", rows=len(found.rows))
    ids = {row.name: run_ids.get(_row(row.settings), "") for row in found.rows}
    return Measured(found, {name: id for name, id in ids.items() if id})


def _open_folder(order: Order) -> tuple[Path, dict[str, str]]:
    """Return the folder of the rows, and the ids of their runs.

    A row whose run was deleted could not be opened, so all are then measured again.
    """
    folder = make_store_folder() / f"{EXPERIMENT_PREFIX}{order.id}"
    run_ids = _read_ids(folder)
    if not all(map(is_stored, run_ids.values())):
        delete_folder(folder)
        run_ids = {}
    folder.mkdir(exist_ok=True)
    touch(folder)
    write_whole(folder / NAME, json.dumps({"title": order.title}).encode())
    return folder, run_ids


def _row(settings: Mapping[str, Any]) -> str:
    """Return the key of a row; an extended tokenizer has the cut of its base."""
    cut = None if settings["base"] else settings["pretokenizer"]
    return json.dumps([settings["base"], cut, settings["alphabet"], settings["vocab_size"]])


def _read_ids(folder: Path) -> dict[str, str]:
    with suppress(OSError, ValueError, AttributeError):
        found: dict[str, Any] = json.loads((folder / _RUNS).read_text("utf-8"))
        return {key: str(value) for key, value in found.items()}
    return {}
