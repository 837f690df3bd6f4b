"""Keep new entries in the store, completely or not at all, and delete those not opened for long."""

from __future__ import annotations

import logging
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn

from bpe_core.errors import NotKeptError
from bpe_core.files import Entry, Store, move_whole
from ui.host import settings

DAYS_KEPT_UNOPENED: Final = settings().days_kept
MAX_BYTES_KEPT: Final = round(settings().store_gigabytes * 1e9)
"""The limit for all entries together; beyond it the least recently opened are deleted."""
_DAYS_OPEN: Final = 1
"""Entries opened within this time may be open in a tab, and are never deleted to make room."""
_DAYS_KEPT_UNFINISHED: Final = 1
_SECONDS_A_DAY: Final = 86_400
_SERVERS: Final = 8
"""The number of servers that may share a store: between sweeps each fills at most this part of the
free room, so that together they stay within the limit."""
SECONDS_BETWEEN_SWEEPS: Final = 3_600
_log = logging.getLogger(__name__)


def make_room(n_bytes: int) -> None:
    """Delete old entries once an hour, and the least recently opened until `n_bytes` more fit.

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
                f"all of its {MAX_BYTES_KEPT / 1e9:g} GB. Try again later."
            )
        _last_sweep = _Sweep(Store().folder, MAX_BYTES_KEPT - room)


@dataclass(slots=True)
class _Sweep:
    """The result of a sweep, remembered because walking thousands of folders takes 0.3 seconds."""

    folder: Path
    n_bytes: int
    n_bytes_since: int = 0
    at: float = field(default_factory=time.monotonic)

    def leaves_room_for(self, n_bytes: int) -> bool:
        """Return whether `n_bytes` more fit, even if other servers fill their part meanwhile."""
        room = (MAX_BYTES_KEPT - self.n_bytes) // _SERVERS
        return (
            self.folder == Store().folder
            and time.monotonic() - self.at < SECONDS_BETWEEN_SWEEPS
            and self.n_bytes_since + n_bytes <= room
        )


_last_sweep: _Sweep | None = None
_sweeping = threading.Lock()


def start_sweeping() -> None:
    """Sweep the store now and every hour, in a thread that ends with the process."""
    threading.Thread(target=sweep_hourly, name="store-sweep", daemon=True).start()


def sweep_hourly(
    wait: Callable[[float], object] = time.sleep, now: Callable[[], float] = time.time
) -> NoReturn:
    """Sweep the store, wait for an hour, and so on; tests pass a clock of their own."""
    while True:
        try:
            with _sweeping:
                sweep_store(now=now())
        except Exception:
            # A server runs for months: what fails now may work in an hour.
            _log.exception("Cannot sweep the store.")
        wait(SECONDS_BETWEEN_SWEEPS)


def sweep_store(n_bytes: int = 0, *, now: float | None = None) -> int:
    """Delete entries unopened for 90 days and leftovers of crashed writes, and make room.

    The least recently opened entries are deleted until `n_bytes` more fit. Return the room that
    then remains after those bytes, negative if they do not fit. Other files in the store's folder
    are left alone, and so are entries of other users. `now` is in seconds, as `time.time()`.
    """
    now = time.time() if now is None else now
    room = MAX_BYTES_KEPT - n_bytes
    n_refused = 0
    kept: list[tuple[float, int, Path]] = []
    for folder, max_days in _swept():
        try:
            days = (now - folder.lstat().st_mtime) / _SECONDS_A_DAY
            if days > max_days:
                Entry(folder).delete()
            elif max_days == DAYS_KEPT_UNOPENED:
                size = Entry(folder).size()
                kept.append((days, size, folder))
                room -= size
        except PermissionError:
            n_refused += 1
        except OSError:
            # Another server on this store may be deleting it.
            continue
    for days, size, folder in sorted(kept, reverse=True):
        if room >= 0 or days <= _DAYS_OPEN:
            break
        with suppress(OSError):
            Entry(folder).delete()
            room += size
    if n_refused:
        _log.warning(
            "%s entries of %s belong to another user and cannot be deleted.",
            n_refused,
            Store().folder,
        )
    return room


def _swept() -> Iterator[tuple[Path, int]]:
    """Yield the folders that a sweep may delete, and after how many days."""
    try:
        found = list(Store().folder.iterdir())
    except PermissionError as error:
        _log.warning("Cannot sweep the store: %s", error)
        return
    except OSError:
        return
    for entry in found:
        if Entry.is_name(entry.name.removeprefix(Entry.DELETED)):
            yield entry, DAYS_KEPT_UNOPENED
        elif entry.name.startswith(Entry.UNFINISHED):
            # Another server may still be writing it.
            yield entry, _DAYS_KEPT_UNFINISHED


@contextmanager
def new_folder(folder: Path) -> Generator[Path]:
    """Yield a temporary folder that becomes `folder` if the block succeeds, else is deleted."""
    unfinished = Path(tempfile.mkdtemp(prefix=Entry.UNFINISHED, dir=Store().make()))
    try:
        yield unfinished
        move_whole(unfinished, folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


@contextmanager
def kept_folder(name: str) -> Generator[Path]:
    """Yield a folder to write into; it is kept under `name` if the block succeeds.

    The checksums of its files are written next to them. Raises NotKeptError if there is no room for
    it, or no permission.
    """
    with os_errors_as_not_kept(), new_folder(Store().folder / name) as folder:
        yield folder
        Entry(folder).write_manifest()
        make_room(Entry(folder).size())


@contextmanager
def os_errors_as_not_kept() -> Generator[None]:
    """Log an OSError raised in the block, and raise a NotKeptError in its place."""
    try:
        yield
    except OSError as error:
        # The path goes to the server's log only: visitors must not see it.
        _log.error("Cannot write to %s: %s", Store().folder, error)
        if isinstance(error, PermissionError):
            raise NotKeptError(
                "The server cannot keep anything now: the folder for it belongs to another user of "
                "this computer, or is read-only."
            ) from error
        raise NotKeptError(
            "The server cannot keep anything now: its disk is full or read-only."
        ) from error
