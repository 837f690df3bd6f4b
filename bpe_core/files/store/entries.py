"""The entries of the store: list them, note that one was opened, delete one."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from bpe_core.errors import NoEntryError, NotPermittedError
from bpe_core.files.regular_files import read_regular
from bpe_core.files.store.place import (
    UNFINISHED,
    UPLOAD_PREFIX,
    is_entry_name,
    new_id,
    store_folder,
)

RUN: Final = "run.npz"
"""A run's training, as `run_archive` saves it."""
NAME: Final = "name.json"
"""A run's title and settings, small enough to be read for a list."""
DETAILS: Final = "details.json"
"""Other facts about a run, or the kind and the file names of an upload."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts about an entry that a list shows."""

    name: str
    kind: str
    """"run", or the kind of an upload: "tokenizer", "sentences", "text" or "corpus"; empty if
    unreadable."""
    title: str
    """A run's title, or an upload's file names: a visitor's text. Empty if unreadable."""
    n_bytes: int
    opened: datetime
    """When it was last opened."""
    is_permitted: bool = True
    """False if it belongs to another user, and could not be read."""


def entries() -> list[Entry]:
    """Return all entries of the store, the one opened last first; unreadable ones too.

    Raises NotPermittedError if the store belongs to another user.
    """
    folder = store_folder()
    with refused_as_not_permitted(f"The store {folder}"):
        try:
            names = [name for name in os.listdir(folder) if is_entry_name(name)]
        except FileNotFoundError:
            return []
        found: list[Entry] = []
        for name in names:
            # The server may be deleting it.
            with suppress(FileNotFoundError, NotADirectoryError):
                found.append(_read_entry(folder / name))
    return sorted(found, key=lambda entry: entry.opened, reverse=True)


def entry_folder(name: str) -> Path:
    """Return the folder of an entry.

    Raises NoEntryError for an unknown or malformed name, and NotPermittedError.
    """
    folder = store_folder() / name if is_entry_name(name) else None
    with refused_as_not_permitted("The store"):
        if folder is None or not folder.is_dir():
            raise NoEntryError(
                f"The store has no entry {name[:60]!r}. List its entries with: bpe store list"
            )
    return folder


def touch(folder: Path) -> None:
    """Note that an entry was opened, so that it is kept for another 90 days."""
    # A read-only store cannot be swept either, so its times do not matter.
    with suppress(OSError):
        os.utime(folder)


def folder_size(folder: Path) -> int:
    """Return the bytes of an entry's files. Raises OSError."""
    # A broken link must not hide the entry, and a circular one must not hide all others.
    return sum(file.lstat().st_size for file in folder.iterdir())


def delete_folder(folder: Path) -> None:
    """Delete a folder of the store; after a crash, its name leads to all of it or to nothing.

    Raises OSError, and PermissionError before anything is changed.
    """
    effective = os.access in os.supports_effective_ids
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
        if not folder.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    doomed = folder.with_name(f"{UNFINISHED}{new_id()}")
    os.rename(folder, doomed)
    shutil.rmtree(doomed)


@contextmanager
def refused_as_not_permitted(what: str) -> Generator[None]:
    """Raise a NotPermittedError in place of a PermissionError: `what` belongs to another user.

    >>> with refused_as_not_permitted("The run at this address"):
    ...     raise PermissionError
    Traceback (most recent call last):
    bpe_core.errors.NotPermittedError: The run at this address belongs to another user of this \
computer, who alone may read or change it. Ask them, or run BPE Explorer as that user.
    """
    try:
        yield
    except PermissionError as error:
        raise NotPermittedError(
            f"{what} belongs to another user of this computer, who alone may read or change it. "
            "Ask them, or run BPE Explorer as that user."
        ) from error


def _read_entry(folder: Path) -> Entry:
    opened = datetime.fromtimestamp(folder.lstat().st_mtime, UTC)
    is_upload = folder.name.startswith(UPLOAD_PREFIX)
    try:
        n_bytes = folder_size(folder)
        kind, title = _upload_words(folder) if is_upload else ("run", _run_title(folder))
    except PermissionError:
        return Entry(folder.name, "", "", 0, opened, is_permitted=False)
    return Entry(folder.name, kind, title, n_bytes, opened)


def _run_title(folder: Path) -> str:
    for name in (NAME, DETAILS):  # runs of earlier versions have no file for the name alone
        if isinstance(title := _read_json(folder / name).get("title"), str):
            return title
    return ""


def _upload_words(folder: Path) -> tuple[str, str]:
    details = _read_json(folder / DETAILS)
    kind, names = details.get("kind"), details.get("names")
    if not isinstance(kind, str) or not isinstance(names, list):
        return "", ""
    return kind, "" if kind == "text" else ", ".join(map(str, cast("list[object]", names)))


def _read_json(path: Path) -> dict[str, Any]:
    """Return an object of a JSON file; empty if it is missing or damaged."""
    try:
        found: Any = json.loads(read_regular(path))
    except PermissionError:
        raise
    except (OSError, ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}
