"""Store finished runs on disk, each in a folder named by an unguessable id."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from bpe_core.comparison import Newness
from bpe_core.corpus import Composition, Corpus
from bpe_core.errors import BpeError, FormatError, NewerFormatError, NotKeptError
from bpe_core.files import (
    RUN,
    check_files,
    delete_for_owner,
    is_deleted_by_owner,
    is_id,
    new_id,
    open_regular,
    refused_as_not_permitted,
    store_folder,
    touch,
    write_whole,
)
from bpe_core.formats import run_archive
from bpe_core.runs import TrainingRun
from ui.host import cached, server_cache
from ui.look import RunName
from ui.storage.keeping import kept_folder, new_folder, os_errors_as_not_kept
from ui.storage.run_files import (
    ENTRY,
    ENTRY_DAMAGE,
    BaseName,
    Compositions,
    CorpusOrigin,
    EarlierFormatError,
    FolderCheck,
    RunCorpus,
    StoredCorpus,
    StoredEntry,
    TrainingText,
    corpus_fields,
    read_entry,
    read_run_name,
    stored_check,
    stored_origin,
    stored_text,
    write_entry,
    write_run_name,
)

SAMPLE_RUN_ID = "sample"
SAMPLE_FOLDER = Path(__file__).parents[1] / "data" / "sample_run"
_HELD_OUT_TOKENS = "held_out_tokens_after.npy"
MAX_UNCLAIMED: Final = 16
"""The number of unsaved runs kept in memory even if no session refers to them. A run on 10 MB of
text takes about 3 MB, one on 200 MB about 30 MB."""
_in_memory: WeakValueDictionary[str, StoredRun] = WeakValueDictionary()
"""Unsaved runs, for as long as a visitor's workspace or `_unclaimed` refers to them."""
_unclaimed: deque[StoredRun] = deque(maxlen=MAX_UNCLAIMED)
_just_trained: deque[StoredRun] = deque(maxlen=1)
"""The run stored last, so that its visitor does not wait until it is read again."""
_MAX_FILES = 100


class RunNotFoundError(BpeError):
    """No run has this id."""


class RunDeletedError(RunNotFoundError):
    """The visitor who trained the run with this id deleted it."""


@dataclass(frozen=True, slots=True)
class Trained:
    """What a training leaves."""

    title: str
    """The name of the training text, such as "Python's built-in help"; may be user input."""
    run: TrainingRun
    held_out: Corpus
    """The held-out text; may be empty (n_bytes == 0)."""
    training: Corpus | None = None
    """The training text, of which the beginning is stored."""
    came_from: tuple[CorpusOrigin, Corpus] | None = None
    """The whole corpus, which is stored if it is small, and where it came from."""
    base: BaseName | None = None
    """What the tokenizer that the run extends is called; None for a run from scratch."""
    newness: Newness | None = None
    """How new the held-out text is."""
    by_folder: FolderCheck | None = None
    """The same settings on folders that training never saw, if that was measured."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StoredRun:
    """A finished run with everything the pages show with it."""

    id: str
    title: str
    """The name of the training text, such as "Python's built-in help"; may be user input."""
    run: TrainingRun
    held_out: Corpus
    """The held-out text; may be empty (n_bytes == 0)."""
    held_out_tokens_after: NDArray[np.int64] | None
    """int64[n_merges + 1]: the held-out text's number of tokens after each merge; None if the text
    is empty or counting was cancelled."""
    trained_at: datetime | None = None
    """When it was stored; None for the sample."""
    compositions: Compositions | None = None
    """What the training text and the held-out text consist of."""
    base: BaseName | None = None
    """What the tokenizer that the run extends is called; None for a run from scratch."""
    newness: Newness | None = None
    """How new the held-out text is; None if that was not measured."""
    came_from: RunCorpus | None = None
    """The corpus, if it is small, and where it came from."""
    training_text: TrainingText | None = None
    """The beginning of the training text."""
    by_folder: FolderCheck | None = None
    """The same settings on folders that training never saw; None if that was not measured."""
    not_kept: str = ""
    """Why the run is in memory only, as a sentence for the visitor; empty if it is on disk."""

    @property
    def name(self) -> RunName:
        """The name that distinguishes it from other runs."""
        run = self.run
        return RunName(self.id, self.title, run.tokenizer.vocab_size, run.config, self.trained_at)


def store_run(
    trained: Trained,
    *,
    run_id: str | None = None,
    should_stop: Callable[[], bool] | None = None,
    is_shown_next: bool = False,
) -> str:
    """Write a run to the store, completely or not at all, and return its id: a new one if None.

    Once `should_stop()` returns True, the held-out text is stored without its token counts. If the
    disk is full or read-only, the run stays in memory, so that no training is lost: it is kept
    while it is among the latest `MAX_UNCLAIMED` of its kind, and then for as long as its visitor's
    workspace refers to it.

    `load_run` reads a run from the disk; the latest one with `is_shown_next` it returns as it is,
    because reading 500,000 merges takes 15 seconds.
    """
    run_id = run_id or new_id()
    stored = _finished(run_id, trained, datetime.now(UTC), should_stop)
    try:
        with kept_folder(run_id) as folder:
            _write(folder, stored)
    except NotKeptError as error:
        unkept = replace(stored, not_kept=str(error))
        _in_memory[run_id] = unkept
        _unclaimed.append(unkept)
    if is_shown_next:
        _just_trained.append(stored)
    return run_id


store_run_to_show = partial(store_run, is_shown_next=True)
"""Stores a run that is shown next."""


def write_run(folder: Path, trained: Trained) -> None:
    """Write a run as a new folder, which appears only once it is complete."""
    stored = _finished(folder.name, trained, None, None)
    with new_folder(folder) as unfinished:
        _write(unfinished, stored)


def _finished(
    run_id: str,
    trained: Trained,
    trained_at: datetime | None,
    should_stop: Callable[[], bool] | None,
) -> StoredRun:
    """Return a run with what is shown of it; count the tokens of the held-out text."""
    run, held_out = trained.run, trained.held_out
    tokens_after = None
    if held_out.n_bytes:
        with suppress(CancelledError):
            tokens_after = run.tokens_after_on(held_out, should_stop)
    return StoredRun(
        id=run_id,
        title=trained.title,
        run=run,
        held_out=held_out,
        held_out_tokens_after=tokens_after,
        trained_at=trained_at,
        compositions=compose_both(trained.training, held_out),
        base=trained.base,
        newness=trained.newness,
        came_from=None if trained.came_from is None else RunCorpus.of(*trained.came_from),
        training_text=None if trained.training is None else TrainingText.of(trained.training),
        by_folder=trained.by_folder,
    )


def is_stored(run_id: str) -> bool:
    """Return whether a run is in the store, or in memory because it could not be written.

    >>> is_stored("../secret")
    False
    """
    if not is_id(run_id):
        return False
    return in_memory_run(run_id) is not None or (store_folder() / run_id / RUN).is_file()


def note_opened(run_id: str) -> None:
    """Note that a run was opened, so that it is kept for another 90 days."""
    if run_id != SAMPLE_RUN_ID:
        touch(_find_folder(run_id))


def find_run_name(run_id: str) -> RunName:
    """Return a run's name, usually without reading the run; raises what `load_run` raises."""
    if (held := in_memory_run(run_id)) is not None:
        return held.name
    folder = _find_folder(run_id)
    with refused_as_not_permitted("The run stored at this address"):
        name = read_run_name(folder) if (folder / RUN).is_file() else None
    return name or load_run(run_id).name


def in_memory_run(run_id: str) -> StoredRun | None:
    """Return a run that could not be stored on disk; None for any other."""
    return _in_memory.get(run_id)


def load_run(run_id: str) -> StoredRun:
    """Return the run stored under an id.

    Raises RunNotFoundError for an unknown or malformed id, FormatError for a damaged run,
    NewerFormatError for one of a newer version, and NotPermittedError for one of another user.
    """
    if (held := in_memory_run(run_id)) is not None:
        return held
    # Another server may have deleted what this one has read.
    _check_is_there(_find_folder(run_id))
    return _loaded(run_id)


def rename_run(run_id: str, title: str) -> None:
    """Give a stored run another name.

    Raises what `load_run` raises, and NotKeptError if it cannot be written.
    """
    folder, name = _find_folder(run_id), load_run(run_id).name
    with os_errors_as_not_kept():
        write_run_name(folder, replace(name, title=title))
    _forget(run_id)


def delete_run(run_id: str) -> None:
    """Delete a stored run; its address says so as long as a run is kept.

    Raises RunNotFoundError if it is no longer there, and NotPermittedError.
    """
    folder = _find_folder(run_id)
    _check_is_there(folder)
    with refused_as_not_permitted("The run stored at this address"), os_errors_as_not_kept():
        delete_for_owner(folder)
    _forget(run_id)


def _forget(run_id: str) -> None:
    """Drop what this server has read of a run, and computed from it."""
    if any(stored.id == run_id for stored in _just_trained):
        _just_trained.clear()
    server_cache.forget(lambda key: isinstance(key, tuple) and run_id in key)


def _check_is_there(folder: Path) -> None:
    with refused_as_not_permitted("The run stored at this address"):
        if (folder / RUN).is_file():
            return
        if is_deleted_by_owner(folder):
            raise RunDeletedError("This run was deleted by the visitor who trained it.")
    raise RunNotFoundError(
        "There is no run at this address. It may have been deleted, or the address may be "
        "incomplete. Train again, or ask for the complete address."
    )


@cached()
def _loaded(run_id: str) -> StoredRun:
    with refused_as_not_permitted("The run stored at this address"):
        return _read(run_id, _find_folder(run_id))


def _read(run_id: str, folder: Path) -> StoredRun:
    _check_is_there(folder)
    for stored in _just_trained:
        if stored.id == run_id:
            _just_trained.clear()
            return stored
    try:
        check_files(folder, (RUN, ENTRY, _HELD_OUT_TOKENS))
        entry, name = read_entry(folder), read_run_name(folder)
        run = run_archive.load_run(folder / RUN)
        return StoredRun(
            id=run_id,
            title=entry.title if name is None else name.title,
            run=run,
            held_out=entry.held_out.corpus(),
            held_out_tokens_after=_held_out_tokens(folder / _HELD_OUT_TOKENS),
            trained_at=None if entry.trained_at is None else entry.trained_at.astimezone(UTC),
            compositions=entry.compositions,
            base=entry.base,
            newness=_newness(entry.newness),
            came_from=entry.came_from(),
            training_text=entry.training_text(run.corpus_sha256),
            by_folder=entry.by_folder(),
        )
    except PermissionError:
        raise
    except NewerFormatError as error:
        raise NewerFormatError(
            "The run stored at this address was stored by a newer version of BPE Explorer. Update "
            "BPE Explorer to open it."
        ) from error
    except EarlierFormatError as error:
        raise FormatError(
            "The run stored at this address was stored by an earlier version of BPE Explorer, "
            "which this one does not read. Train again."
        ) from error
    # The archive's own message names a path on the server, which visitors must not see.
    except ENTRY_DAMAGE as error:
        raise FormatError("The run stored at this address is damaged. Train again.") from error


def _write(folder: Path, stored: StoredRun) -> None:
    write_whole(folder / RUN, run_archive.run_to_bytes(stored.run))
    write_run_name(folder, stored.name)
    entry = StoredEntry(
        title=stored.title,
        held_out=StoredCorpus(**corpus_fields(stored.held_out)),
        trained_at=stored.trained_at,
        compositions=stored.compositions,
        newness=stored.newness,
        base=stored.base,
        origin=stored_origin(stored.came_from),
        text=stored_text(stored.training_text),
        check=stored_check(stored.by_folder),
    )
    write_entry(folder, entry)
    if stored.held_out_tokens_after is not None:
        np.save(folder / _HELD_OUT_TOKENS, stored.held_out_tokens_after, allow_pickle=False)


def _held_out_tokens(path: Path) -> NDArray[np.int64] | None:
    if not path.is_file():
        return None
    with open_regular(path) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def _newness(stored: tuple[float | None, float | None] | None) -> Newness | None:
    if stored is None:
        return None
    unseen, by_folder = stored
    return Newness(math.nan if unseen is None else unseen, by_folder)


def _find_folder(run_id: str) -> Path:
    """Return the folder of a run; raise RunNotFoundError for a malformed id."""
    if run_id == SAMPLE_RUN_ID:
        return SAMPLE_FOLDER
    if not is_id(run_id):
        raise RunNotFoundError(
            "The run id in this address is malformed: expected 32 digits and letters from a to f. "
            "Copy the complete address."
        )
    return store_folder() / run_id


def compose_both(training: Corpus | None, held_out: Corpus) -> Compositions | None:
    """Return the compositions of both texts, with the largest hundred files of each."""
    if training is None:
        return None
    return Compositions(
        _largest(training.composition()),
        _largest(held_out.composition()) if held_out.n_bytes else None,
    )


def _largest(found: Composition) -> Composition:
    return found._replace(files=found.files[:_MAX_FILES], types=found.types[:_MAX_FILES])
