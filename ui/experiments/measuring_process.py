"""Measure an experiment in a process of its own, and store the run of each of its rows."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from bpe_core.corpus import Corpus
from bpe_core.errors import NotKeptError
from bpe_core.experiments import Progress as RowsDone
from bpe_core.experiments import Training, experiment
from bpe_core.files import Entry, write_whole
from bpe_core.processes import Report
from bpe_core.trainers import TrainingRun
from ui.storage import (
    Trained,
    in_memory_run,
    make_room,
    os_errors_as_not_kept,
    read_base,
    read_held_out,
    store_run,
)
from ui.work import Progress

CORPUS: Final = "corpus"
"""The name of the visitor's corpus in the settings."""
BASE: Final = "base-"
_RUNS: Final = "runs.json"
_STEPS: Final = 1_000


def measure_here(
    text: Path,
    folder: Path,
    settings: str,
    bases: tuple[str, ...],
    title: str,
    new_ids: tuple[str, ...],
    report: Report[Progress],
) -> None:
    """Measure the rows that are missing in `folder`, and store their runs under `new_ids`.

    `text` is the folder of the corpus, and has folders of the tokenizers that `bases` names and of
    the visitor's own held-out text, if there is one. `settings` is JSON. Raises NotKeptError if the
    store has no room.
    """
    own = json.loads(settings)
    corpus = Corpus.open(text, stays_on_disk=True)
    separate = read_held_out(text)
    if separate is None:
        training, held_out = corpus.split(own["held_out"], own["seed"], own["held_out_by"] or None)
    else:
        training, held_out = corpus.hold_out(separate)
    left, lock = list(new_ids), threading.Lock()
    run_ids, noted = read_ids(folder), Entry(folder).size()

    def store(of: Training, size: int, run: TrainingRun) -> None:
        with lock:
            run_id = store_run(Trained(title, run, held_out, training), run_id=left.pop())
            if (unkept := in_memory_run(run_id)) is not None:
                raise NotKeptError(unkept.not_kept)
            run_ids[row_key(of.settings(size))] = run_id
            write_whole(folder / _RUNS, json.dumps(run_ids).encode())

    def follow(progress: RowsDone) -> None:
        nonlocal noted
        with lock:
            size = Entry(folder).size()
        make_room(max(0, size - noted))
        noted = size
        report(Progress(round(progress.share * _STEPS), _STEPS))

    with os_errors_as_not_kept():
        experiment(
            own,
            {CORPUS: corpus},
            bases={name: read_base(text / f"{BASE}{n}") for n, name in enumerate(bases)},
            held_out=separate,
            work=folder,
            on_progress=follow,
            on_run=store,
        )


def row_key(settings: Mapping[str, Any]) -> str:
    """Return the key of a row; an extended tokenizer has the cut of its base."""
    cut = None if settings["base"] else settings["pretokenizer"]
    names = ("base", "alphabet", "trainer", "vocab_size")
    return json.dumps([cut, *(settings[name] for name in names)])


def read_ids(folder: Path) -> dict[str, str]:
    """Return the ids of the runs that are stored, by the keys of their rows."""
    with suppress(OSError, ValueError, AttributeError):
        found: dict[str, Any] = json.loads((folder / _RUNS).read_text("utf-8"))
        return {key: str(value) for key, value in found.items()}
    return {}
