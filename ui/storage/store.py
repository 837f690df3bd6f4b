"""What is kept on disk for visitors, each in a folder named by an id that nobody can guess."""

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
"""Of all runs and uploads together: beyond it those that nobody opened for longest make room."""
_DAYS_OPEN = 1
"""What was made or opened so lately may still be open somewhere, and never makes room."""
_DAYS_KEPT_UNFINISHED = 1
_SECONDS_A_DAY = 86_400
_SERVERS = 8
"""So many on one store keep to its room together, each with its part of what a look found free."""
_SECONDS_A_LOOK_HOLDS = 3_600
_log = logging.getLogger(__name__)


class NotKeptError(BpeError):
    """The store takes nothing now: its disk is full, or may not be written to."""


def store_folder() -> Path:
    """Where all of it lies."""
    return Path(os.environ.get("BPE_EXPLORER_RUNS") or _ROOT / ".runs")


def new_id() -> str:
    """An id that was never given out."""
    # In hexadecimal: Streamlit refuses a component's key with "__" in it, and ids stand in keys.
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Whether a text has the form of an id: what has not must reach no path."""
    return _ID_PATTERN.fullmatch(text) is not None


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A place to write into; it becomes `folder` where the block ends well, else is gone."""
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
    """A place to write into, for which room is made; it stays under `name` where all ends well.

    Raises NotKeptError.
    """
    with told_if_not_kept(), new_folder(store_folder() / name) as folder:
        yield folder
        make_room(_size_of(folder))


@contextmanager
def told_if_not_kept() -> Iterator[None]:
    """Has what the system says against keeping something told as a NotKeptError."""
    try:
        yield
    except OSError as error:
        # Which folder is for the server, not for its visitors.
        _log.error("%s takes nothing: %s", store_folder(), error)
        raise NotKeptError(
            "The server can keep nothing now: its disk is full, or may not be written to."
        ) from error


def make_room(n_bytes: int) -> None:
    """Removes what nobody opened for longest until so much more may be kept.

    Raises NotKeptError where all the rest was made or opened within a day.
    """
    global _last_look
    with _looking:
        look = _last_look
        if look is not None and look.leaves_room_for(n_bytes):
            look.n_bytes_since += n_bytes
            return
        _last_look = None
        room = sweep_store(n_bytes)
        if room < 0:
            raise NotKeptError(
                f"The server can keep nothing now: what was opened within a day takes all of the "
                f"{MOST_BYTES_KEPT / 1e9:g} GB that it keeps. Try again later."
            )
        _last_look = _Look(store_folder(), MOST_BYTES_KEPT - room)


@dataclass(slots=True)
class _Look:
    """What a sweep found in the store; to look through thousands of folders takes 0.3 seconds."""

    folder: Path
    n_bytes: int
    n_bytes_since: int = 0
    at: float = field(default_factory=time.monotonic)

    def leaves_room_for(self, n_bytes: int) -> bool:
        """Whether so much more fits by what is known; others may write to the store meanwhile."""
        room = (MOST_BYTES_KEPT - self.n_bytes) // _SERVERS
        return (
            self.folder == store_folder()
            and time.monotonic() - self.at < _SECONDS_A_LOOK_HOLDS
            and self.n_bytes_since + n_bytes <= room
        )


_last_look: _Look | None = None
_looking = threading.Lock()


def touch(folder: Path) -> None:
    """Keeps a folder from being swept for another 90 days."""
    # A store that may only be read is never swept either.
    with suppress(OSError):
        os.utime(folder)


def sweep_store(n_bytes: int = 0) -> int:
    """Removes what nobody opened for 90 days, and what a server that died left half written.

    Then, until there is room for so many bytes more, what nobody opened for longest. Gives how many
    fit beside those, negative where they don't; whatever else lies in the store's folder stays.
    """
    room = MOST_BYTES_KEPT - n_bytes
    kept: list[tuple[float, int, Path]] = []
    for folder, most_days in _swept():
        # Another server on this store may be removing it.
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
    """What is removed from the store some day, and after how many days."""
    try:
        entries = list(store_folder().iterdir())
    except OSError:
        return
    for entry in entries:
        if is_id(entry.name.removeprefix(UPLOAD_PREFIX)):
            yield entry, DAYS_KEPT_UNOPENED
        elif entry.name.startswith(_UNFINISHED):
            # Not at once: another server may be writing it.
            yield entry, _DAYS_KEPT_UNFINISHED


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())
