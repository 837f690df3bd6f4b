"""A lock between processes, so that only one at a time compiles the kernels."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Final

from bpe_core.regular_files import open_regular

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_MOST_SECONDS: Final = 300.0
"""Without system locks, a lock file older than this counts as abandoned."""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK, 0o666)


class FileLock:
    """A lock between processes, released by the system when its holder dies.

    `with` does not wait: its value is True if the lock was free. On systems without such locks, the
    file itself is the lock, for at most five minutes. On a network drive without locks, processes
    don't exclude each other, and work may be done twice.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lock, other = FileLock(Path(folder, "lock")), FileLock(Path(folder, "lock"))
    ...     with lock as first, other as second:
    ...         print(first, second, other.seconds_held() is None)
    ...     print(other.seconds_held())
    True False False
    None
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> bool:
        file = self._opened()
        if file is None:
            return False
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                return False
            except OSError:
                pass
        os.utime(self.path)
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
            if fcntl is None:
                self.path.unlink(missing_ok=True)

    def seconds_held(self) -> float | None:
        """Return how many seconds the lock has been held, or None if it is free."""
        try:
            if fcntl is not None:
                with open_regular(self.path) as file:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
        except BlockingIOError:
            pass  # another process holds it
        except OSError:
            return None
        try:
            return max(0.0, time.time() - self.path.stat().st_mtime)
        except FileNotFoundError:
            return None

    def _opened(self) -> IO[bytes] | None:
        if fcntl is not None:
            # If the path is a pipe, opening it fails here; otherwise it would wait for a reader.
            return open(self.path, "ab", opener=_without_waiting)
        try:
            return self.path.open("xb")
        except FileExistsError:
            if (self.seconds_held() or 0.0) > _MOST_SECONDS:
                self.path.unlink(missing_ok=True)  # the next attempt finds it free
            return None
