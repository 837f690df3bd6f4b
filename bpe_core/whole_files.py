"""Files and folders that are there whole or not at all, after a crash or a power cut too."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final
from uuid import uuid4

_CANNOT_SYNC: Final = (errno.EINVAL, errno.ENOTSUP)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file, or replace it: a reader gets all of the old contents or all of the new.

    It is written beside its place and moved there. Who may read it follows the umask, as where a
    file is opened to be written; `tempfile` would leave it to its user alone. Raises OSError, and
    then leaves nothing unfinished behind.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "hug.txt"), b"hugs")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('hug.txt', b'hugs')]
    """
    unfinished = path.with_name(f".unfinished-{uuid4().hex}")
    try:
        unfinished.write_bytes(data)
        move_whole(unfinished, path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def move_whole(finished: Path, place: Path) -> None:
    """Move a file, or a folder of files, to its place in the same file system.

    The system may write a rename to disk before the contents of what is renamed. So the contents
    are written first, and the rename itself before this returns. Raises OSError.
    """
    if finished.is_dir():
        for file in finished.iterdir():
            sync(file)
    sync(finished)
    os.replace(finished, place)
    sync(place.parent)


def make_folder(folder: Path) -> None:
    """Make a folder and those above it where they are missing, to stay. Raises OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for made in reversed(missing):
        sync(made.parent)


def sync(path: Path) -> None:
    """Wait until a file's contents, or the names in a folder, are on the disk. Raises OSError."""
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except PermissionError:
        # Windows opens no folder, and one may be allowed to write to a folder but not to list it.
        if is_folder:
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network drives don't know how to.
        if not is_folder or error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
