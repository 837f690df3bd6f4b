"""A lock between processes."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_SECONDS_BETWEEN_TRIES: Final = 0.1


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock of a file, which the system releases when its holder dies; wait for it first.

    A network drive without locks gives the lock to everyone. Raises OSError if there can be no such
    file.
    """
    with open(path, "ab", opener=_open_without_waiting) as file:
        with suppress(OSError):  # the file system has no locks
            _lock(file.fileno())
        yield


def _open_without_waiting(path: str, flags: int) -> int:
    # If the path is a pipe, opening it fails; otherwise it would wait for a reader.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0), 0o666)


def _lock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    msvcrt: Any = import_module("msvcrt")  # pyright knows its functions on Windows only
    while True:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            time.sleep(_SECONDS_BETWEEN_TRIES)
        else:
            return
