"""Measure an experiment in the background, and store the run of each of its rows."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from bpe_core.corpus import Corpus
from bpe_core.experiments import Experiment, experiment
from bpe_core.files import Entry, Store, write_whole
from bpe_core.tokenizer import Tokenizer
from ui.experiments.measuring_process import (
    BASE,
    CORPUS,
    measure_here,
    read_ids,
    row_key,
)
from ui.host import event
from ui.shell import hold_keys
from ui.storage import (
    is_stored,
    load_uploaded,
    os_errors_as_not_kept,
    write_base,
)
from ui.work import Progress, Status, Task, WorkKind, call_apart, files_for_process, queue

MAX_BYTES: Final = 64_000_000
"""The limit for a corpus; the command line has none."""
MAX_ROWS: Final = 60
MAX_BYTES_OF_ROWS: Final = 1_200_000_000
"""The limit for the bytes of a corpus times the number of rows, because others wait meanwhile."""


class Measured(NamedTuple):
    """What was found, and the ids of the runs by the names of their rows."""

    found: Experiment
    run_ids: Mapping[str, str]

    @property
    def lacks_runs(self) -> bool:
        """Whether a run was deleted since."""
        ids = [self.run_ids.get(row.name, "") for row in self.found.rows]
        return not all(map(is_stored, ids))


EXPERIMENT: Final = WorkKind[Progress, Measured]("experiments", max_per_visitor=2)
"""By the id of the order."""


@dataclass(frozen=True, slots=True)
class Order:
    """Settings and the corpus that they are tried on."""

    settings: Mapping[str, Any]
    corpus: Corpus
    title: str
    bases: Mapping[str, Tokenizer] = field(default_factory=dict[str, Tokenizer])
    """The tokenizers to extend, by the names in the settings."""
    held_out_id: str | None = None
    """What the visitor's own held-out text is kept under, if there is one."""

    @property
    def id(self) -> str:
        """The same for the same settings and corpus, no matter who asks."""
        bases = {name: base.fingerprint for name, base in self.bases.items()}
        known_by = [self.corpus.sha256, self.settings, bases, self.held_out_id]
        words = json.dumps(known_by, sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:32]

    @property
    def n_rows(self) -> int:
        """The number of combinations."""
        return count_rows(self.settings)


def count_rows(settings: Mapping[str, Any]) -> int:
    """Return the number of combinations of some settings."""
    names = ("vocab_sizes", "pretokenizers", "alphabets", "trainers")
    own = math.prod(len(settings[name]) for name in names)
    return own + len(settings["extend"]) * len(settings["new_tokens"])


def measuring(order: Order) -> Status[Progress, Measured] | None:
    """Return the status of an experiment; None if it was not begun."""
    return queue.find(EXPERIMENT, order.id)


def begin_measuring(order: Order) -> None:
    """Queue an experiment, whose runs belong to this visitor; raises TooMuchWorkError.

    What an earlier server measured is kept. If a run of a finished experiment was deleted, it is
    begun again.
    """
    earlier = measuring(order)
    if earlier is not None and earlier.result is not None and earlier.result.lacks_runs:
        queue.forget(EXPERIMENT, order.id)
    keys = [Entry.new_id() for _ in range(order.n_rows)]
    work = partial(measure, order, [Entry.owned_id(key) for key in keys])
    queue.begin(EXPERIMENT, order.id, work, about=order.title)
    hold_keys(keys)


def measure(order: Order, new_ids: Sequence[str], task: Task[Progress]) -> Measured:
    """Measure all rows that are missing, in a process; raises CancelledError if it is cancelled.

    Their runs get `new_ids`. The rows are an entry of the store, and are deleted like the others.
    Raises NotKeptError if the store has no room, and WorkProcessError if the process was ended
    without a result.
    """
    with os_errors_as_not_kept():
        folder = _open_folder(order)
    with files_for_process(order.corpus, None, order.held_out_id) as text:
        with os_errors_as_not_kept():
            for number, base in enumerate(order.bases.values()):
                (text / f"{BASE}{number}").mkdir()
                write_base(text / f"{BASE}{number}", base)
        call_apart(
            measure_here,
            text,
            folder,
            json.dumps(order.settings),
            tuple(order.bases),
            order.title,
            tuple(new_ids),
            n_bytes=order.corpus.n_bytes,
            on_progress=task.report,
            should_stop=lambda: task.is_cancelled,
        )
    # All rows are there, so this only reads them.
    own = order.held_out_id
    found = experiment(
        order.settings,
        {CORPUS: order.corpus.read()},
        bases=order.bases,
        held_out=None if own is None else load_uploaded(own)[0].read(),
        work=folder,
    )
    event("experiment_ended", rows=len(found.rows))
    run_ids = read_ids(folder)
    ids = {row.name: run_ids.get(row_key(row.settings), "") for row in found.rows}
    return Measured(found, {name: id for name, id in ids.items() if id})


def _open_folder(order: Order) -> Path:
    """Return the folder of the rows.

    A row whose run was deleted could not be opened, so all are then measured again.
    """
    folder = Store().make() / f"{Entry.EXPERIMENT}{order.id}"
    if not all(map(is_stored, read_ids(folder).values())):
        Entry(folder).delete()
    folder.mkdir(exist_ok=True)
    Entry(folder).touch()
    write_whole(folder / Entry.NAME, json.dumps({"title": order.title}).encode())
    return folder
