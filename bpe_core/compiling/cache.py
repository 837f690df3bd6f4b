"""Where compiled kernels are kept, and the lock that lets one process at a time compile them."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Final

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_MOST_SECONDS: Final = 300.0
"""Where locks are mere files, one older than this is nobody's."""


class FileLock:
    """A lock between processes, which one that dies cannot keep: the system takes it back.

    `with` tells whether it was free; it doesn't wait. Where the system has no such locks, the file
    is the lock while it exists, and for five minutes at most. A network drive may be without any:
    then nobody waits for another, and some work is done twice.

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
        """How long some process, or thread, has held it; None where none does."""
        try:
            if fcntl is not None:
                with self.path.open("rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
        except BlockingIOError:
            pass  # so some process has it
        except OSError:
            return None
        try:
            return max(0.0, time.time() - self.path.stat().st_mtime)
        except FileNotFoundError:
            return None

    def _opened(self) -> IO[bytes] | None:
        if fcntl is not None:
            return self.path.open("ab")
        try:
            return self.path.open("xb")
        except FileExistsError:
            if (self.seconds_held() or 0.0) > _MOST_SECONDS:
                self.path.unlink(missing_ok=True)  # the next look finds it free
            return None


def cache_folder(beside: Path, given: str | None) -> Path:
    """Find a folder that can be written: the given one or that beside the sources, or the user's.

    Where none can, one is made for this process alone: compiled code is read as it was left, so it
    lies where no other user can put any.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        of_user = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
        of_user = beside
    for folder in (Path(given).absolute() if given else beside, of_user / "bpe-explorer"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="bpe-explorer-"))
