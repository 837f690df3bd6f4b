"""Simulate a power cut: record what is safely on the disk and what could be lost."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

Contents = bytes | frozenset[str]
"""The bytes of a file, or the names in a folder."""


def _contents(path: str | os.PathLike[str]) -> Contents:
    return frozenset(os.listdir(path)) if os.path.isdir(path) else Path(path).read_bytes()


def _inode(path: str | os.PathLike[str]) -> int:
    return os.stat(path).st_ino


class Disk:
    """Record what `os.fsync` writes to the disk, and what is moved before its contents are synced.

    A system may write a rename to the disk at any time after the call, but must have done so only
    once the folder is synced.
    """

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.moved: list[str] = []
        """The destinations of moves, in order."""
        self._synced: dict[int, Contents] = {}
        self._lost: list[str] = []
        self._waiting: set[str] = set()
        self._fsync, self._mkdir = os.fsync, os.mkdir
        patch.setattr(os, "fsync", self._note_sync)
        patch.setattr(os, "mkdir", self._note_folder)
        for name in ("replace", "rename"):
            patch.setattr(os, name, self._noting_move(getattr(os, name)))

    def lost(self) -> list[str]:
        """Return the paths that a power cut, now or earlier, would have lost or left incomplete."""
        return [*self._lost, *(f"the name {path}" for path in sorted(self._waiting))]

    def is_synced(self, path: Path) -> bool:
        """Return True if the current contents of a file or folder are on the disk."""
        return self._synced.get(_inode(path)) == _contents(path)

    def _note_sync(self, descriptor: int) -> None:
        self._fsync(descriptor)
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            self._synced[status.st_ino] = frozenset(os.listdir(descriptor))
            here = {
                name for name in self._waiting if _inode(os.path.dirname(name)) == status.st_ino
            }
            self._waiting -= here
        else:
            self._synced[status.st_ino] = os.pread(descriptor, status.st_size, 0)

    def _note_folder(self, path: str | os.PathLike[str], *rest: int) -> None:
        self._mkdir(path, *rest)
        self._waiting.add(os.path.abspath(path))

    def _noting_move(self, move: Callable[[str, str], None]) -> Callable[[str, str], None]:
        def noting(source: str, target: str) -> None:
            below = [source]
            if os.path.isdir(source):
                below += [os.path.join(source, name) for name in os.listdir(source)]
            for path in below:
                if self._synced.get(_inode(path)) != _contents(path):
                    self._lost.append(f"the contents of {path}")
            move(source, target)
            self.moved.append(os.path.basename(target))
            self._waiting.discard(os.path.abspath(source))
            self._waiting.add(os.path.abspath(target))

        return noting
