"""Finished runs on disk, each in a folder named by an id that nobody can guess."""

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
from ui.storage.store import (
    NotKeptError,
    is_id,
    kept_folder,
    new_folder,
    new_id,
    store_folder,
    touch,
)
from ui.storage.training_text import TrainingText, read_training_text, write_training_text

SAMPLE_RUN_ID = "sample"
SAMPLE_FOLDER = Path(__file__).parents[1] / "data" / "sample_run"
_RUN = "run.npz"
_DETAILS = "details.json"
_HELD_OUT_TOKENS = "held_out_tokens_after.npy"
MOST_UNCLAIMED: Final = 16
"""Runs in memory alone that stay whether or not a visitor holds them: a run of 10 MB of text takes
some 3 MB, of 200 MB some 30."""


class RunNotFoundError(BpeError):
    """No run is stored under this id."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StoredRun:
    """A finished run with what the pages show beside it."""

    id: str
    title: str
    """What was trained on, such as "Python's language reference"; a visitor's own words."""
    run: TrainingRun
    held_out: Corpus
    """What training never saw; may be empty (n_bytes == 0)."""
    held_out_tokens_after: NDArray[np.int64] | None
    """int64[n_merges + 1]: the held-out text in tokens after each merge; None where it is empty,
    or where counting was cancelled."""
    trained_at: datetime | None = None
    """When it was stored; None for the sample, and for a run stored before times were."""
    not_kept: str = ""
    """Why it lies in memory alone, for its visitor; empty where it is stored."""

    @property
    def name(self) -> RunName:
        """What to call it among other runs."""
        run = self.run
        return RunName(self.id, self.title, run.tokenizer.vocab_size, run.config, self.trained_at)


_in_memory: WeakValueDictionary[str, StoredRun] = WeakValueDictionary()
"""Runs that no disk took, for as long as anybody holds them: a visitor's workspace, or this."""
_unclaimed: deque[StoredRun] = deque(maxlen=MOST_UNCLAIMED)


def store_run(
    title: str,
    run: TrainingRun,
    held_out: Corpus,
    *,
    training: Corpus | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> str:
    """Writes a run to the store, whole or not at all, and gives its new id.

    Of the text that it was trained on, `training`, the beginning is kept. Where `should_stop()`
    comes to say True, the held-out text is stored without its tokens. Where the store takes nothing
    the run stays in memory while its visitor's workspace holds it, and among the latest 16 of such
    runs until then: nobody's training is lost to a full disk.
    """
    run_id = new_id()
    held_out_tokens = _count_held_out(run, held_out, should_stop)
    made = StoredRun(run_id, title, run, held_out, held_out_tokens, trained_at=datetime.now(UTC))
    try:
        with kept_folder(run_id) as folder:
            _write(folder, made, training)
    except NotKeptError as error:
        unkept = _in_memory[run_id] = replace(made, not_kept=str(error))
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
    """Writes a run as a new folder; the folder appears only when all of it is written."""
    made = StoredRun(folder.name, title, run, held_out, _count_held_out(run, held_out, None))
    with new_folder(folder) as unfinished:
        _write(unfinished, made, training)


def note_opened(run_id: str) -> None:
    """Keeps a run from being swept for another 90 days."""
    if run_id != SAMPLE_RUN_ID:
        touch(_folder_of(run_id))


def load_run(run_id: str) -> StoredRun:
    """The run stored under an id; RunNotFoundError for one that is unknown or malformed.

    Raises FormatError where what is stored cannot be read.
    """
    return _in_memory.get(run_id) or _loaded(run_id)


@st.cache_resource(max_entries=16, show_spinner=False)
def _loaded(run_id: str) -> StoredRun:
    folder = _folder_of(run_id)
    if not (folder / _RUN).is_file():
        raise RunNotFoundError(
            "There is no run at this address. It may have been removed, or the address is cut "
            "short. Train again, or ask for the whole address."
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
        )
    # The archive's own message names the file: that is for the server, not for its visitors.
    except (*ARRAY_DAMAGE, BpeError) as error:
        raise FormatError("The run stored at this address is damaged. Train again.") from error


@st.cache_resource(max_entries=4, show_spinner=False)
def training_text(run_id: str) -> TrainingText | None:
    """The text that a run was trained on, as far as it was kept; None where it wasn't.

    Raises what `load_run` raises, and FormatError where the text is damaged.
    """
    return read_training_text(_folder_of(run_id), load_run(run_id).run.corpus_sha256)


def _count_held_out(
    run: TrainingRun, held_out: Corpus, should_stop: Callable[[], bool] | None
) -> NDArray[np.int64] | None:
    return run.tokens_after_on(held_out, should_stop) if held_out.n_bytes else None


def _write(folder: Path, made: StoredRun, training: Corpus | None) -> None:
    run_archive.save_run(made.run, folder / _RUN)
    words = made.held_out.word_counts
    details = {
        "title": made.title,
        "trained_at": made.trained_at.isoformat() if made.trained_at is not None else None,
        "documents": list(made.held_out.documents),
        "names": list(made.held_out.names),
        "word_counts": dict(words) if words is not None else None,
    }
    text = json.dumps(details, ensure_ascii=False)
    (folder / _DETAILS).write_text(text, encoding="utf-8", newline="")
    if training is not None:
        write_training_text(folder, training)
    if made.held_out_tokens_after is not None:
        np.save(folder / _HELD_OUT_TOKENS, made.held_out_tokens_after, allow_pickle=False)


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
    # Not by Corpus.from_documents, which refuses an empty corpus: nothing may be held out.
    return Corpus(tuple(details["documents"]), tuple(details["names"]), details["word_counts"])


def _folder_of(run_id: str) -> Path:
    """Where a run is stored; an id that this store never gave out reaches no path."""
    if run_id == SAMPLE_RUN_ID:
        return SAMPLE_FOLDER
    if not is_id(run_id):
        raise RunNotFoundError(
            "This address names no run: its id is malformed. An id is 32 digits and letters from "
            "a to f; copy the whole address."
        )
    return store_folder() / run_id
