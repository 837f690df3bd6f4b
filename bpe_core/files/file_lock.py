"""A lock between processes."""

from __future__ import annotations

import os
import time
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SECONDS_BETWEEN_TRIES: Final = 0.1


def _open_without_waiting(path: str, flags: int) -> int:
    # If the path is a pipe, opening it fails; otherwise it would wait for a reader.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def _lock(descriptor: int, *, wait: bool) -> None:
    """Lock an open file; raises BlockingIOError if another process has, and OSError."""
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    msvcrt: Any = import_module("msvcrt")  # pyright knows its functions on Windows only
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            if not wait:
                raise BlockingIOError from error
            time.sleep(_SECONDS_BETWEEN_TRIES)
        else:
            return


class FileLock:
    """A lock between processes, which the system releases when its holder dies.

    The value of `with` is True if the lock is held. It is False if another process holds the lock,
    unless `wait` is set. A network drive without locks gives the lock to everyone.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FileLock(Path(folder, "lock")) as first, FileLock(Path(folder, "lock")) as second:
    ...         print(first, second)
    True False
    """

    def __init__(self, path: Path, *, wait: bool = False) -> None:
        self._path = path
        self._wait = wait
        self._file: IO[bytes] | None = None

    def __enter__(self) -> bool:
        file = open(self._path, "ab", opener=_open_without_waiting)
        try:
            _lock(file.fileno(), wait=self._wait)
        except BlockingIOError:
            file.close()
            return False
        except OSError:  # the file system has no locks
            pass
        self._file = file
        return True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
