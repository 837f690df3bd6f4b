"""A lock between processes."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import IO


def _open_without_waiting(path: str, flags: int) -> int:
    # If the path is a pipe, opening it fails; otherwise it would wait for a reader.
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


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
        self._how = fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB
        self._file: IO[bytes] | None = None

    def __enter__(self) -> bool:
        file = open(self._path, "ab", opener=_open_without_waiting)
        try:
            fcntl.flock(file, self._how)
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
