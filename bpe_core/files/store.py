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
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, ClassVar, Final, cast

from bpe_core.errors import IntegrityError, NewerFormatError, NoEntryError, NotPermittedError
from bpe_core.extras import needs_extra
from bpe_core.files.whole_files import (
    NotRegularError,
    make_folder,
    open_regular,
    read_regular,
    write_whole,
)

MANIFEST: Final = "manifest.json"
_FORMAT: Final = "bpe-explorer-entry"
_VERSION: Final = 1
_replacing = threading.Lock()

Digests = Mapping[str, tuple[str, ...]]
"""The accepted SHA-256 digests of each file, in hexadecimal."""

_OF_OTHERS: Final = 0o077
_CHECKOUT: Final = Path(__file__).absolute().parents[2]
_ID_PATTERN: Final = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class EntryFacts:
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


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the store: a run, an upload, or the rows of an experiment."""

    folder: Path

    RUN: ClassVar = "run.npz"
    """A run's training, as `run_archive` saves it."""
    NAME: ClassVar = "name.json"
    """A run's title and settings, small enough to be read for a list."""
    DETAILS: ClassVar = "details.json"
    """The kind and the file names of an upload."""
    UPLOAD: ClassVar = "upload-"
    """The prefix of the names of uploads."""
    EXPERIMENT: ClassVar = "experiment-"
    """The prefix of the names of folders with the rows that an experiment has measured so far."""
    DELETED: ClassVar = "deleted-"
    """The prefix of the names of empty folders that stand for entries which owners deleted."""
    UNFINISHED: ClassVar = ".unfinished-"
    """The prefix of the names of folders that are being written or deleted."""

    @staticmethod
    def new_id() -> str:
        """Return a new random id.

        >>> Entry.is_id(Entry.new_id())
        True
        """
        # Hexadecimal, because ids become part of component keys, in which Streamlit refuses "__".
        return secrets.token_hex(16)

    @staticmethod
    def owned_id(key: str) -> str:
        """Return the id that belongs to a key, itself a new id: who has the id cannot find the key.

        >>> Entry.owned_id("0123456789abcdef" * 2)
        '3eb1bd439947eb762998e566ccc2e099'
        """
        return hashlib.sha256(key.encode()).hexdigest()[:32]

    @staticmethod
    def is_id(text: str) -> bool:
        """Return whether a text has the form of an id; nothing else may become part of a path.

        >>> Entry.is_id("0123456789abcdef" * 2), Entry.is_id("../secret")
        (True, False)
        """
        return _ID_PATTERN.fullmatch(text) is not None

    @staticmethod
    def is_name(text: str) -> bool:
        """Return whether a text has the form of an entry's name: an id, or a prefix and an id.

        >>> Entry.is_name("upload-" + "a" * 32), Entry.is_name("upload-..")
        (True, False)
        """
        prefixes = "", Entry.UPLOAD, Entry.EXPERIMENT
        return any(text.startswith(each) and Entry.is_id(text[len(each) :]) for each in prefixes)

    def touch(self) -> None:
        """Note that it was opened, so that it is kept for another 90 days."""
        # A read-only store cannot be swept either, so its times do not matter.
        with suppress(OSError):
            os.utime(self.folder)

    def size(self) -> int:
        """Return the bytes of its files. Raises OSError."""
        # A broken link must not hide the entry, and a circular one must not hide all others.
        return sum(file.lstat().st_size for file in self.folder.iterdir())

    def delete(self) -> None:
        """Delete the folder; after a crash, its name leads to all of it or to nothing.

        Raises OSError, and PermissionError before anything is changed.
        """
        folder = self.folder
        effective = os.access in os.supports_effective_ids
        if not os.access(folder, os.W_OK | os.X_OK, effective_ids=effective):
            if not folder.exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder))
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        doomed = folder.with_name(f"{self.UNFINISHED}{self.new_id()}")
        os.rename(folder, doomed)
        shutil.rmtree(doomed)

    def delete_for_owner(self) -> None:
        """Delete it for the visitor who made it, and note that; raises what `delete` does.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     folder = Path(name, "0123")
        ...     folder.mkdir()
        ...     Entry(folder).delete_for_owner()
        ...     folder.exists(), Entry(folder).is_deleted_by_owner
        (False, True)
        """
        self.delete()
        with suppress(OSError):
            self._deleted.mkdir()

    @property
    def is_deleted_by_owner(self) -> bool:
        """Whether the visitor who made it deleted it, as long as that is noted."""
        return self._deleted.is_dir()

    @property
    def _deleted(self) -> Path:
        return self.folder.with_name(f"{self.DELETED}{self.folder.name}")

    def facts(self) -> EntryFacts:
        """Return what a list shows; raises OSError if it is deleted meanwhile."""
        folder = self.folder
        opened = datetime.fromtimestamp(folder.lstat().st_mtime, UTC)
        try:
            n_bytes = self.size()
            if folder.name.startswith(self.UPLOAD):
                kind, title = _upload_words(folder)
            else:
                kind, title = "run" if self.is_id(folder.name) else "experiment", _title(folder)
        except PermissionError:
            return EntryFacts(folder.name, "", "", 0, opened, is_permitted=False)
        return EntryFacts(folder.name, kind, title, n_bytes, opened)

    def write_manifest(self) -> None:
        """Write the checksums of all files; call it last, before the folder is renamed.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as name:
        ...     _ = Path(name, "hug.txt").write_bytes(b"hugs")
        ...     Entry(Path(name)).write_manifest()
        ...     Entry(Path(name)).check()
        True
        """
        files = {
            path.name: (_hash_file(path),)
            for path in sorted(self.folder.iterdir())
            if path.name != MANIFEST and path.is_file()
        }
        (self.folder / MANIFEST).write_bytes(_encode_manifest(files))

    def check(self, names: Collection[str] | None = None) -> bool:
        """Check files, or all, against the manifest; return False if it has none.

        Entries of earlier versions have none. Raises IntegrityError for a damaged or missing file,
        NewerFormatError for an entry of a newer version, and OSError if a file cannot be read. A
        pipe or a device in a file's place is damage.
        """
        folder = self.folder
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

    def read(self, name: str) -> bytes:
        """Return the contents of a file, and raise what `check` raises."""
        # Read before the manifest, which is replaced first: see `replace`.
        data = _read(self.folder / name)
        digests = _read_manifest(self.folder)
        if digests is not None:
            _check(self.folder, name, hashlib.sha256(data).hexdigest(), digests)
        return data

    def replace(self, name: str, data: bytes) -> None:
        """Replace a file; after a crash, the entry has the old or the new file.

        The manifest accepts the new file before it is there, and the old one until the next call.
        Raises OSError, and what `check` raises for a damaged manifest.
        """
        folder = self.folder
        with _replacing:
            digests = _read_manifest(folder)
            if digests is not None:
                accepted = (_hash_file(folder / name), hashlib.sha256(data).hexdigest())
                write_whole(folder / MANIFEST, _encode_manifest({**digests, name: accepted}))
            write_whole(folder / name, data)


@dataclass(frozen=True, slots=True)
class Store:
    """The store of runs and uploads, in a folder that may not exist yet.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {Store.VARIABLE: "/data/runs"}):
    ...     Store().folder.as_posix()
    '/data/runs'
    """

    folder: Path = field(default_factory=lambda: _find_folder())
    """The folder that BPE_EXPLORER_RUNS names, or else the `.runs` of a checkout that has one, as
    earlier versions made it, or else `runs` in the user's data folder. Making a Store raises
    MissingExtraError if the package that knows the data folder is not installed."""

    VARIABLE: ClassVar = "BPE_EXPLORER_RUNS"

    def entries(self) -> list[EntryFacts]:
        """Return the facts about all entries, the one opened last first; unreadable ones too.

        Raises NotPermittedError if the store belongs to another user.
        """
        folder = self.folder
        with self.permitted(f"The store {folder}"):
            try:
                names = [name for name in os.listdir(folder) if Entry.is_name(name)]
            except FileNotFoundError:
                return []
            found: list[EntryFacts] = []
            for name in names:
                # The server may be deleting it.
                with suppress(FileNotFoundError, NotADirectoryError):
                    found.append(Entry(folder / name).facts())
        return sorted(found, key=lambda entry: entry.opened, reverse=True)

    def entry(self, name: str) -> Entry:
        """Return an entry.

        Raises NoEntryError for an unknown or malformed name, and NotPermittedError.
        """
        folder = self.folder / name if Entry.is_name(name) else None
        with self.permitted("The store"):
            if folder is None or not folder.is_dir():
                raise NoEntryError(
                    f"The store has no entry {name[:60]!r}. List its entries with: bpe store list"
                )
        return Entry(folder)

    def make(self) -> Path:
        """Create the folder, which only its owner may read, and return it. Raises OSError.

        The names in it open what visitors trained and uploaded.
        """
        make_folder(self.folder)
        self.keep_private()
        return self.folder

    def keep_private(self) -> None:
        """Take the permissions of other users from the folder, if it exists and is ours."""
        folder = self.folder
        # Not that of another user, nor on a drive that has no permissions.
        with suppress(OSError):
            if (mode := stat.S_IMODE(folder.stat().st_mode)) & _OF_OTHERS:
                folder.chmod(mode & ~_OF_OTHERS)

    @staticmethod
    @contextmanager
    def permitted(what: str) -> Generator[None]:
        """Raise a NotPermittedError in place of a PermissionError: `what` belongs to another user.

        >>> with Store.permitted("The run at this address"):
        ...     raise PermissionError
        Traceback (most recent call last):
        bpe_core.errors.NotPermittedError: The run at this address belongs to another user of this \
computer, who alone may read or change it. Ask them, or run BPE Explorer as that user.
        """
        try:
            yield
        except PermissionError as error:
            raise NotPermittedError(
                f"{what} belongs to another user of this computer, who alone may read or change "
                "it. Ask them, or run BPE Explorer as that user."
            ) from error


def _find_folder() -> Path:
    if named := os.environ.get(Store.VARIABLE):
        return Path(named)
    if (earlier := _CHECKOUT / ".runs").is_dir():
        return earlier
    with needs_extra("formats", "The store of runs"):
        from platformdirs import user_data_path

    return user_data_path("bpe-explorer", appauthor=False) / "runs"


def _title(folder: Path) -> str:
    title = _read_json(folder / Entry.NAME).get("title")
    return title if isinstance(title, str) else ""


def _upload_words(folder: Path) -> tuple[str, str]:
    details = _read_json(folder / Entry.DETAILS)
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
