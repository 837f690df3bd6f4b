"""The app's store on disk: each run or upload is an entry, a folder with an unguessable name.

In: the name of an entry. Out: its folder, checked against its checksums. The app writes entries and
deletes old ones; this module is what the app and the commands of `bpe store` share.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import shutil
import stat
import threading
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, cast

from bpe_core.errors import IntegrityError, NewerFormatError, NoEntryError, NotPermittedError
from bpe_core.extras import needs_extra
from bpe_core.files.whole_files import (
    NotRegularError,
    make_folder,
    open_regular,
    read_regular,
    write_whole,
)

RUN: Final = "run.npz"
"""A run's training, as `run_archive` saves it."""
NAME: Final = "name.json"
"""A run's title and settings, small enough to be read for a list."""
DETAILS: Final = "details.json"
"""The kind and the file names of an upload."""


MANIFEST: Final = "manifest.json"
_FORMAT: Final = "bpe-explorer-entry"
_VERSION: Final = 1
_replacing = threading.Lock()

Digests = Mapping[str, tuple[str, ...]]
"""The accepted SHA-256 digests of each file, in hexadecimal."""

VARIABLE: Final = "BPE_EXPLORER_RUNS"
UPLOAD_PREFIX: Final = "upload-"
EXPERIMENT_PREFIX: Final = "experiment-"
"""The prefix of the names of folders with the rows that an experiment has measured so far."""
DELETED_PREFIX: Final = "deleted-"
"""The prefix of the names of empty folders that stand for entries which their owners deleted."""
UNFINISHED: Final = ".unfinished-"
"""The prefix of the names of folders that are being written or deleted."""
_OF_OTHERS: Final = 0o077
_CHECKOUT: Final = Path(__file__).absolute().parents[2]
_ID_PATTERN: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Entry:
    """The facts about an entry that a list shows."""

    name: str
    kind: str
    """"run", "experiment", or the kind of an upload: "tokenizer", "sentences", "text" or "corpus";
    empty if unreadable."""
    title: str
    """The title of a run or an experiment, or an upload's file names: a visitor's text. Empty if
    unreadable."""
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


def delete_for_owner(folder: Path) -> None:
    """Delete an entry for the visitor who made it, and note that; raises what `delete_folder` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = Path(name, "0123")
    ...     folder.mkdir()
    ...     delete_for_owner(folder)
    ...     folder.exists(), is_deleted_by_owner(folder)
    (False, True)
    """
    delete_folder(folder)
    with suppress(OSError):
        _deleted(folder).mkdir()


def is_deleted_by_owner(folder: Path) -> bool:
    """Return whether the visitor who made an entry deleted it, as long as that is noted."""
    return _deleted(folder).is_dir()


def _deleted(folder: Path) -> Path:
    return folder.with_name(f"{DELETED_PREFIX}{folder.name}")


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
    try:
        n_bytes = folder_size(folder)
        if folder.name.startswith(UPLOAD_PREFIX):
            kind, title = _upload_words(folder)
        else:
            kind, title = "run" if is_id(folder.name) else "experiment", _title(folder)
    except PermissionError:
        return Entry(folder.name, "", "", 0, opened, is_permitted=False)
    return Entry(folder.name, kind, title, n_bytes, opened)


def _title(folder: Path) -> str:
    title = _read_json(folder / NAME).get("title")
    return title if isinstance(title, str) else ""


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


def write_manifest(folder: Path) -> None:
    """Write the checksums of all files in a folder; call it last, before the folder is renamed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     _ = Path(name, "hug.txt").write_bytes(b"hugs")
    ...     write_manifest(Path(name))
    ...     check_files(Path(name))
    True
    """
    files = {
        path.name: (_hash_file(path),)
        for path in sorted(folder.iterdir())
        if path.name != MANIFEST and path.is_file()
    }
    (folder / MANIFEST).write_bytes(_encode_manifest(files))


def check_files(folder: Path, names: Collection[str] | None = None) -> bool:
    """Check files of an entry, or all, against its manifest; return False if it has none.

    Entries of earlier versions have none. Raises IntegrityError for a damaged or missing file,
    NewerFormatError for an entry of a newer version, and OSError if a file cannot be read. A pipe
    or a device in a file's place is damage.
    """
    digests = _read_manifest(folder)
    if digests is None:
        return False
    for name in digests if names is None else names & digests.keys():
        try:
            found = _hash_file(folder / name)
        except FileNotFoundError:
            raise IntegrityError(f"{name} is missing from {folder.name}.") from None
        _check(folder, name, found, digests)
    return True


def read_checked(folder: Path, name: str) -> bytes:
    """Return the contents of an entry's file, and raise what `check_files` raises."""
    # Read before the manifest, which is replaced first: see `replace_file`.
    data = _read(folder / name)
    digests = _read_manifest(folder)
    if digests is not None:
        _check(folder, name, hashlib.sha256(data).hexdigest(), digests)
    return data


def replace_file(folder: Path, name: str, data: bytes) -> None:
    """Replace a file of an entry; after a crash, the entry has the old or the new file.

    The manifest accepts the new file before it is there, and the old one until the next call.
    Raises OSError, and what `check_files` raises for a damaged manifest.
    """
    with _replacing:
        digests = _read_manifest(folder)
        if digests is not None:
            accepted = (_hash_file(folder / name), hashlib.sha256(data).hexdigest())
            write_whole(folder / MANIFEST, _encode_manifest({**digests, name: accepted}))
        write_whole(folder / name, data)


def _read_manifest(folder: Path) -> Digests | None:
    try:
        data = _read(folder / MANIFEST)
    except FileNotFoundError:
        return None
    try:
        manifest: Any = json.loads(data)
        if manifest["format"] != _FORMAT or not isinstance(version := manifest["version"], int):
            raise ValueError(f"Expected format {_FORMAT!r}, got {manifest['format']!r}.")
        if version > _VERSION:
            raise NewerFormatError(
                f"{folder.name} was stored by a newer version of BPE Explorer. Update BPE Explorer "
                "to open it."
            )
        # No file has a name with a null character or, encoded as UTF-8, a lone surrogate.
        if not all(
            Path(name).name == name and b"\0" not in os.fsencode(name) for name in manifest["files"]
        ):
            raise ValueError("Expected names of files in the entry's folder.")
        return {str(name): tuple(map(str, found)) for name, found in manifest["files"].items()}
    except NewerFormatError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise IntegrityError(f"{MANIFEST} of {folder.name} is damaged.") from error


def _check(folder: Path, name: str, found: str, digests: Digests) -> None:
    if name in digests and found not in digests[name]:
        raise IntegrityError(f"{name} of {folder.name} differs from its SHA-256.")


def _read(path: Path) -> bytes:
    with _opened(path) as file:
        return file.read()


def _hash_file(path: Path) -> str:
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _opened(path: Path) -> BufferedReader:
    try:
        return open_regular(path)
    except NotRegularError:
        raise IntegrityError(f"{path.name} of {path.parent.name} is not a regular file.") from None


def _encode_manifest(digests: Digests) -> bytes:
    return json.dumps({"format": _FORMAT, "version": _VERSION, "files": digests}).encode()


def store_folder() -> Path:
    """Return the folder of the store, which may not exist yet.

    It is what BPE_EXPLORER_RUNS names, or else the `.runs` of a checkout that has one, as earlier
    versions made it, or else `runs` in the user's data folder. Raises MissingExtraError if the
    package that knows the data folder is not installed.

    >>> with_variable = os.environ | {VARIABLE: "/data/runs"}
    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, with_variable):
    ...     store_folder().as_posix()
    '/data/runs'
    """
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if (earlier := _CHECKOUT / ".runs").is_dir():
        return earlier
    with needs_extra("formats", "The store of runs"):
        from platformdirs import user_data_path

    return user_data_path("bpe-explorer", appauthor=False) / "runs"


def make_store_folder() -> Path:
    """Create the store's folder, which only its owner may read, and return it. Raises OSError.

    The names in it open what visitors trained and uploaded.
    """
    folder = store_folder()
    make_folder(folder)
    keep_store_private()
    return folder


def keep_store_private() -> None:
    """Take the permissions of other users from the store's folder, if it exists and is ours."""
    folder = store_folder()
    # Not that of another user, nor on a drive that has no permissions.
    with suppress(OSError):
        if (mode := stat.S_IMODE(folder.stat().st_mode)) & _OF_OTHERS:
            folder.chmod(mode & ~_OF_OTHERS)


def new_id() -> str:
    """Return a new random id.

    >>> is_id(new_id())
    True
    """
    # Hexadecimal, because ids become part of component keys, in which Streamlit refuses "__".
    return secrets.token_hex(16)


def owned_id(key: str) -> str:
    """Return the id that belongs to a key, itself a new id: who has the id cannot find the key.

    >>> owned_id("0123456789abcdef" * 2)
    '3eb1bd439947eb762998e566ccc2e099'
    """
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id; nothing else may become part of a path.

    >>> is_id("0123456789abcdef" * 2), is_id("../secret")
    (True, False)
    """
    return _ID_PATTERN.fullmatch(text) is not None


def is_entry_name(text: str) -> bool:
    """Return whether a text has the form of an entry's name: an id, or a prefix and an id.

    >>> is_entry_name("upload-" + "a" * 32), is_entry_name("upload-..")
    (True, False)
    """
    prefixes = "", UPLOAD_PREFIX, EXPERIMENT_PREFIX
    return any(text.startswith(each) and is_id(text[len(each) :]) for each in prefixes)
