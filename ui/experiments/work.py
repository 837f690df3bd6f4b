"""Measure an experiment in the background, and store the run of each of its rows."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import Corpus, FiledCorpus
from bpe_core.experiments import Experiment, Training, experiment
from bpe_core.experiments import Progress as RowsDone
from bpe_core.files import make_store_folder, new_id, write_whole
from bpe_core.runs import TrainingRun
from ui.host import event
from ui.storage import Trained, is_stored, store_run
from ui.work import Progress, Status, Task, WorkKind, queue

NAME: Final = "corpus"
"""The visitor's corpus in the settings."""
MAX_BYTES: Final = 64_000_000
"""The limit for a corpus; the command line has none."""
MAX_ROWS: Final = 60
_FOLDER: Final = "experiments"
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


def measuring(order: Order) -> Status[Progress, Measured] | None:
    """Return the status of an experiment; None if it was not begun."""
    return queue.find(EXPERIMENT, order.id)


def begin_measuring(order: Order) -> None:
    """Queue an experiment; raises TooMuchWorkError. What an earlier server measured is kept."""
    queue.begin(EXPERIMENT, order.id, partial(measure, order), about=order.title)


def measure(order: Order, task: Task[Progress]) -> Measured:
    """Measure all rows that are missing; raises CancelledError if the task is cancelled."""
    corpus = order.corpus.read()
    folder = make_store_folder() / _FOLDER / order.id
    training, held_out = _divided(order, corpus)
    run_ids = _read_ids(folder)
    lock = threading.Lock()

    def store(of: Training, size: int, run: TrainingRun) -> None:
        with lock:
            trained = Trained(order.title, run, held_out, training)
            run_ids[_row(of.settings(size))] = store_run(
                trained, run_id=new_id(), should_stop=lambda: task.is_cancelled
            )
            write_whole(folder / _RUNS, json.dumps(run_ids).encode())

    def report(progress: RowsDone) -> None:
        task.report(Progress(round(progress.share * _STEPS), _STEPS))

    found = experiment(
        order.settings,
        {NAME: corpus},
        work=folder,
        on_progress=report,
        on_run=store,
        should_stop=lambda: task.is_cancelled,
    )
    event("experiment_ended", rows=len(found.rows))
    ids = {row.name: run_ids.get(_row(row.settings), "") for row in found.rows}
    return Measured(found, {name: id for name, id in ids.items() if id and is_stored(id)})


def _divided(order: Order, corpus: Corpus) -> tuple[Corpus, Corpus]:
    own = order.settings
    return corpus.split(own["held_out"], own["seed"], own["held_out_by"] or None)


def _row(settings: Mapping[str, Any]) -> str:
    """Return the key of a row; an extended tokenizer has the cut of its base."""
    cut = None if settings["base"] else settings["pretokenizer"]
    return json.dumps([settings["base"], cut, settings["alphabet"], settings["vocab_size"]])


def _read_ids(folder: Path) -> dict[str, str]:
    with suppress(OSError, ValueError, AttributeError):
        found: dict[str, Any] = json.loads((folder / _RUNS).read_text("utf-8"))
        return {key: str(value) for key, value in found.items()}
    return {}
