"""Store finished runs on disk, each in a folder named by an unguessable id."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.damage import ARRAY_DAMAGE
from bpe_core.errors import BpeError, FormatError
from bpe_core.formats import run_archive
from bpe_core.runs.run import TrainingRun
from ui.look.run_names import RunName
from ui.storage.compositions import Compositions, compositions_of, read_compositions
from ui.storage.run_name_file import read_run_name, write_run_name
from ui.storage.store import (
    NotKeptError,
    is_id,
    kept_folder,
    new_folder,
    new_id,
    store_folder,
    touch,
)
from ui.storage.training_text import (
    TrainingText,
    places_of,
    read_training_text,
    write_training_text,
)

SAMPLE_RUN_ID = "sample"
SAMPLE_FOLDER = Path(__file__).parents[1] / "data" / "sample_run"
_RUN = "run.npz"
_DETAILS = "details.json"
_HELD_OUT_TOKENS = "held_out_tokens_after.npy"
MOST_UNCLAIMED: Final = 16
"""The number of unsaved runs kept in memory even if no session refers to them. A run on 10 MB of
text takes about 3 MB, one on 200 MB about 30 MB."""


class RunNotFoundError(BpeError):
    """No run has this id."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StoredRun:
    """A finished run with everything the pages show beside it."""

    id: str
    title: str
    """The name of the training text, such as "Python's language reference"; may be user input."""
    run: TrainingRun
    held_out: Corpus
    """The held-out text; may be empty (n_bytes == 0)."""
    held_out_tokens_after: NDArray[np.int64] | None
    """int64[n_merges + 1]: the held-out text's number of tokens after each merge; None if the text
    is empty or counting was cancelled."""
    trained_at: datetime | None = None
    """When it was stored; None for the sample and for runs stored before times were recorded."""
    compositions: Compositions | None = None
    """What the training text and the held-out text consist of; None for a run stored before that
    was kept."""
    not_kept: str = ""
    """Why the run is in memory only, as a sentence for the visitor; empty if it is on disk."""

    @property
    def name(self) -> RunName:
        """The name that distinguishes it from other runs."""
        run = self.run
        return RunName(self.id, self.title, run.tokenizer.vocab_size, run.config, self.trained_at)


_in_memory: WeakValueDictionary[str, StoredRun] = WeakValueDictionary()
"""Unsaved runs, for as long as a visitor's workspace or `_unclaimed` refers to them."""
_unclaimed: deque[StoredRun] = deque(maxlen=MOST_UNCLAIMED)


def store_run(
    title: str,
    run: TrainingRun,
    held_out: Corpus,
    *,
    training: Corpus | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> str:
    """Write a run to the store, completely or not at all, and return its new id.

    The beginning of the training text, `training`, is stored too. Once `should_stop()` returns
    True, the held-out text is stored without its token counts. If the disk is full or read-only,
    the run stays in memory, so that no training is lost: it is kept while it is among the latest
    `MOST_UNCLAIMED` of its kind, and then for as long as its visitor's workspace refers to it.
    """
    run_id = new_id()
    held_out_tokens = _count_held_out(run, held_out, should_stop)
    stored = StoredRun(
        *(run_id, title, run, held_out, held_out_tokens),
        trained_at=datetime.now(UTC),
        compositions=compositions_of(training, held_out),
    )
    try:
        with kept_folder(run_id) as folder:
            _write(folder, stored, training)
    except NotKeptError as error:
        unkept = _in_memory[run_id] = replace(stored, not_kept=str(error))
        _unclaimed.append(unkept)
    return run_id


def write_run(
    folder: Path,
    title: str,
    run: TrainingRun,
    held_out: Corpus,
    *,
    training: Corpus | None = None,
) -> None:
    """Write a run as a new folder, which appears only once it is complete."""
    stored = StoredRun(
        *(folder.name, title, run, held_out, _count_held_out(run, held_out, None)),
        compositions=compositions_of(training, held_out),
    )
    with new_folder(folder) as unfinished:
        _write(unfinished, stored, training)


def note_opened(run_id: str) -> None:
    """Note that a run was opened, so that it is kept for another 90 days."""
    if run_id != SAMPLE_RUN_ID:
        touch(_folder_of(run_id))


def name_of_run(run_id: str) -> RunName:
    """Return what a run is called, mostly without reading it; raises what `load_run` raises."""
    if (held := in_memory_run(run_id)) is not None:
        return held.name
    folder = _folder_of(run_id)
    name = read_run_name(folder) if (folder / _RUN).is_file() else None
    return name or load_run(run_id).name


def in_memory_run(run_id: str) -> StoredRun | None:
    """Return a run that could not be stored on disk; None for any other."""
    return _in_memory.get(run_id)


def load_run(run_id: str) -> StoredRun:
    """Return the run stored under an id.

    Raises RunNotFoundError for an unknown or malformed id, and FormatError for a damaged run.
    """
    return in_memory_run(run_id) or _loaded(run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _loaded(run_id: str) -> StoredRun:
    folder = _folder_of(run_id)
    if not (folder / _RUN).is_file():
        raise RunNotFoundError(
            "There is no run at this address. It may have been deleted, or the address may be "
            "incomplete. Train again, or ask for the complete address."
        )
    try:
        details = json.loads((folder / _DETAILS).read_text(encoding="utf-8"))
        return StoredRun(
            id=run_id,
            title=_title_of(details),
            run=run_archive.load_run(folder / _RUN),
            held_out=_corpus_of(details),
            held_out_tokens_after=_held_out_tokens(folder / _HELD_OUT_TOKENS),
            trained_at=_time_of(details),
            compositions=read_compositions(details.get("compositions")),
        )
    # The archive's own message names a path on the server, which visitors must not see.
    except (*ARRAY_DAMAGE, BpeError) as error:
        raise FormatError("The run stored at this address is damaged. Train again.") from error


@st.cache_resource(max_entries=4, show_spinner=False)
def training_text(run_id: str) -> TrainingText | None:
    """Return the stored part of the text that a run was trained on; None if none was stored.

    Raises what `load_run` raises, and FormatError if the text is damaged.
    """
    return read_training_text(_folder_of(run_id), load_run(run_id).run.corpus_sha256)


def _count_held_out(
    run: TrainingRun, held_out: Corpus, should_stop: Callable[[], bool] | None
) -> NDArray[np.int64] | None:
    return run.tokens_after_on(held_out, should_stop) if held_out.n_bytes else None


def _write(folder: Path, stored: StoredRun, training: Corpus | None) -> None:
    run_archive.save_run(stored.run, folder / _RUN)
    write_run_name(folder, stored.name)
    words = stored.held_out.word_counts
    details = {
        "title": stored.title,
        "trained_at": stored.trained_at.isoformat() if stored.trained_at is not None else None,
        "documents": list(stored.held_out.documents),
        "names": list(stored.held_out.names),
        "places": list(stored.held_out.places),
        "word_counts": dict(words) if words is not None else None,
        "compositions": stored.compositions,
    }
    text = json.dumps(details, ensure_ascii=False)
    (folder / _DETAILS).write_text(text, encoding="utf-8", newline="")
    if training is not None:
        write_training_text(folder, training)
    if stored.held_out_tokens_after is not None:
        np.save(folder / _HELD_OUT_TOKENS, stored.held_out_tokens_after, allow_pickle=False)


def _held_out_tokens(path: Path) -> NDArray[np.int64] | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _title_of(details: dict[str, Any]) -> str:
    if not isinstance(title := details["title"], str):
        raise TypeError(f"Expected a title, got {type(title).__name__}.")
    return title


def _time_of(details: dict[str, Any]) -> datetime | None:
    stored = details.get("trained_at")
    return datetime.fromisoformat(stored).astimezone(UTC) if stored is not None else None


def _corpus_of(details: dict[str, Any]) -> Corpus:
    # Corpus.from_documents refuses an empty corpus, but the held-out text may be empty.
    return Corpus(
        tuple(details["documents"]),
        tuple(details["names"]),
        details["word_counts"],
        places=places_of(details),
    )


def _folder_of(run_id: str) -> Path:
    """Return the folder of a run; raise RunNotFoundError for a malformed id."""
    if run_id == SAMPLE_RUN_ID:
        return SAMPLE_FOLDER
    if not is_id(run_id):
        raise RunNotFoundError(
            "The run id in this address is malformed: expected 32 digits and letters from a to f. "
            "Copy the complete address."
        )
    return store_folder() / run_id
