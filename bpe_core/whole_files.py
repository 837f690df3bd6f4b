"""Write files and folders completely or not at all, even in a crash or a power cut."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final
from uuid import uuid4

_CANNOT_SYNC: Final = (errno.EINVAL, errno.ENOTSUP)


def write_whole(path: Path, data: bytes) -> None:
    """Write or replace a file: readers see all of the old contents or all of the new.

    The file is written beside its destination and renamed. Its permissions follow the umask;
    `tempfile` would let only the owner read it. Raises OSError and leaves no partial file.

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
    """Move a file, or a folder of files, within a file system, so that it survives a power cut.

    The system may write a rename to disk before the contents. So the contents are synced first, and
    the rename before this function returns. Raises OSError.
    """
    if finished.is_dir():
        for file in finished.iterdir():
            sync(file)
    sync(finished)
    os.replace(finished, place)
    sync(place.parent)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, and sync them. Raises OSError."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for created in reversed(missing):
        sync(created.parent)


def sync(path: Path) -> None:
    """Wait until a file's contents, or the names in a folder, are on the disk. Raises OSError."""
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except PermissionError:
        # Windows cannot open folders, and a folder may be writable but not readable.
        if is_folder:
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network drives cannot sync folders.
        if not is_folder or error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)
