"""Keep visitors' runs and files on disk, each in a folder named by an unguessable id."""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from bpe_core.errors import BpeError
from bpe_core.whole_files import make_folder, move_whole

_ROOT = Path(__file__).parent.parent
_ID_PATTERN = re.compile(r"[0-9a-f]{32}")
UPLOAD_PREFIX = "upload-"
_UNFINISHED = ".unfinished-"
DAYS_KEPT_UNOPENED = 90
MOST_BYTES_KEPT: Final = 4_000_000_000
"""The limit for all runs and uploads together; beyond it the least recently opened are deleted."""
_DAYS_OPEN = 1
"""Entries opened within this time may be open in a tab, and are never deleted to make room."""
_DAYS_KEPT_UNFINISHED = 1
_SECONDS_A_DAY = 86_400
_SERVERS = 8
"""The number of servers that may share a store: between sweeps each fills at most this part of the
free room, so that together they stay within the limit."""
_SECONDS_A_SWEEP_HOLDS = 3_600
_log = logging.getLogger(__name__)


class NotKeptError(BpeError):
    """The store cannot keep anything now: its disk is full or read-only."""


def store_folder() -> Path:
    """Return the folder of the store."""
    return Path(os.environ.get("BPE_EXPLORER_RUNS") or _ROOT / ".runs")


def new_id() -> str:
    """Return a new random id."""
    # Hexadecimal, because ids become part of component keys, in which Streamlit refuses "__".
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id; nothing else may become part of a path."""
    return _ID_PATTERN.fullmatch(text) is not None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes `folder` if the block succeeds, else is deleted."""
    make_folder(folder.parent)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=folder.parent))
    try:
        yield unfinished
        move_whole(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def kept_folder(name: str) -> Iterator[Path]:
    """Yield a folder to write into; it is kept under `name` if the block succeeds.

    Raises NotKeptError if there is no room for it.
    """
    with os_errors_as_not_kept(), new_folder(store_folder() / name) as folder:
        yield folder
        make_room(_size_of(folder))


@contextmanager
def os_errors_as_not_kept() -> Iterator[None]:
    """Log an OSError raised in the block, and raise a NotKeptError in its place."""
    try:
        yield
    except OSError as error:
        # The path goes to the server's log only: visitors must not see it.
        _log.error("Cannot write to %s: %s", store_folder(), error)
        raise NotKeptError(
            "The server cannot keep anything now: its disk is full or read-only."
        ) from error


def make_room(n_bytes: int) -> None:
    """Delete the least recently opened entries until `n_bytes` more fit.

    Raises NotKeptError if that would take entries opened within a day.
    """
    global _last_sweep
    with _sweeping:
        sweep = _last_sweep
        if sweep is not None and sweep.leaves_room_for(n_bytes):
            sweep.n_bytes_since += n_bytes
            return
        _last_sweep = None
        room = sweep_store(n_bytes)
        if room < 0:
            raise NotKeptError(
                f"The server cannot keep anything now: runs and files opened within a day fill "
                f"all of its {MOST_BYTES_KEPT / 1e9:g} GB. Try again later."
            )
        _last_sweep = _Sweep(store_folder(), MOST_BYTES_KEPT - room)


@dataclass(slots=True)
class _Sweep:
    """The result of a sweep, remembered because walking thousands of folders takes 0.3 seconds."""

    folder: Path
    n_bytes: int
    n_bytes_since: int = 0
    at: float = field(default_factory=time.monotonic)

    def leaves_room_for(self, n_bytes: int) -> bool:
        """Return whether `n_bytes` more fit, even if other servers fill their part meanwhile."""
        room = (MOST_BYTES_KEPT - self.n_bytes) // _SERVERS
        return (
            self.folder == store_folder()
            and time.monotonic() - self.at < _SECONDS_A_SWEEP_HOLDS
            and self.n_bytes_since + n_bytes <= room
        )


_last_sweep: _Sweep | None = None
_sweeping = threading.Lock()


def touch(folder: Path) -> None:
    """Note that a folder was opened, so that it is kept for another 90 days."""
    # A read-only store cannot be swept either, so its times do not matter.
    with suppress(OSError):
        os.utime(folder)


def sweep_store(n_bytes: int = 0) -> int:
    """Delete entries unopened for 90 days and leftovers of crashed writes, and make room.

    The least recently opened entries are deleted until `n_bytes` more fit. Return the room that
    then remains beside those bytes, negative if they do not fit. Other files in the store's folder
    are left alone.
    """
    room = MOST_BYTES_KEPT - n_bytes
    kept: list[tuple[float, int, Path]] = []
    for folder, most_days in _swept():
        # Another server on this store may be deleting it.
        with suppress(OSError):
            days = (time.time() - folder.lstat().st_mtime) / _SECONDS_A_DAY
            if days > most_days:
                shutil.rmtree(folder)
            elif most_days == DAYS_KEPT_UNOPENED:
                size = _size_of(folder)
                kept.append((days, size, folder))
                room -= size
    for days, size, folder in sorted(kept, reverse=True):
        if room >= 0 or days <= _DAYS_OPEN:
            break
        shutil.rmtree(folder, ignore_errors=True)
        room += size
    return room


def _swept() -> Iterator[tuple[Path, int]]:
    """Yield the folders that a sweep may delete, and after how many days."""
    try:
        entries = list(store_folder().iterdir())
    except OSError:
        return
    for entry in entries:
        if is_id(entry.name.removeprefix(UPLOAD_PREFIX)):
            yield entry, DAYS_KEPT_UNOPENED
        elif entry.name.startswith(_UNFINISHED):
            # Another server may still be writing it.
            yield entry, _DAYS_KEPT_UNFINISHED


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
