"""Write files and folders whole or not at all, and read only what is a regular file.

Nothing is left half written, even in a crash or a power cut. `locked` lets one process at a time
write. Others may have written what is read, or replaced it by a pipe or a device:
`only_this_user_writes` finds out whether they could, and `open_regular` does not wait for a pipe.
`ARCHIVE_DAMAGE` and `ARRAY_DAMAGE` are the exceptions that the standard library and NumPy raise for
damaged files; they were collected by damaging files, one byte at a time.
"""

from __future__ import annotations

import errno
import lzma
import os
import shutil
import stat
import struct
import time
import tokenize
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, cast
from uuid import uuid4

_CANNOT_SYNC: Final = (errno.EINVAL, errno.ENOTSUP)
_MAX_BYTES_IN_MEMORY: Final = 64 << 20


def write_whole(path: Path, data: bytes) -> None:
    """Write or replace a file: readers see all of the old contents or all of the new.

    Writes as `open_whole` does. Raises OSError and leaves no partial file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "hug.txt"), b"hugs")
    ...     [(file.name, file.read_bytes()) for file in Path(folder).iterdir()]
    [('hug.txt', b'hugs')]
    """
    with open_whole(path) as file:
        file.write(data)


@contextmanager
def open_whole(path: Path, *, sync_to_disk: bool = True) -> Generator[BinaryIO]:
    """Open a file to write; its new contents appear at the end of the block, if no error is raised.

    The file is written next to its destination and renamed. A symbolic link is followed, and a file
    that is replaced keeps its permissions and its owner; those of a new file follow the umask
    (`tempfile` would let only the owner read it). A device or a pipe cannot be replaced: it is
    written to. Without `sync_to_disk`, which waits for the disk, a power cut may lose the file.
    Raises OSError and leaves no partial file.

    >>> with open_whole(Path("/dev/null")) as file:
    ...     file.write(b"hugs")
    4
    """
    try:
        old = path.stat()
    except FileNotFoundError:
        old = None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with SpooledTemporaryFile(_MAX_BYTES_IN_MEMORY) as complete:
            yield cast("BinaryIO", complete)
            complete.seek(0)
            # Not created: Linux refuses to create a pipe of another user that exists in /tmp.
            with os.fdopen(os.open(path, os.O_WRONLY), "wb") as file:
                shutil.copyfileobj(complete, file)
        return
    place = Path(os.path.realpath(path))
    if old is not None and not os.access(place, os.W_OK):
        # A rename would need only the permission to write to the folder.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    unfinished = place.with_name(f".unfinished-{uuid4().hex}")
    try:
        with unfinished.open("xb") as file:
            if old is not None and hasattr(os, "fchown"):  # not on Windows
                with suppress(PermissionError):
                    os.fchown(file.fileno(), old.st_uid, old.st_gid)
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
            yield file
        if sync_to_disk:
            move_whole(unfinished, place)
        else:
            os.replace(unfinished, place)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def move_whole(finished: Path, place: Path) -> None:
    """Move a file or a folder within a file system, so that it survives a power cut.

    The system may write a rename to disk before the contents. So the contents are synced first, and
    the rename before this function returns. Raises OSError.
    """
    if finished.is_dir():
        for file in finished.rglob("*"):
            sync(file)
    sync(finished)
    os.replace(finished, place)
    sync(place.parent)


def delete(path: Path) -> None:
    """Delete a file or a folder, if it is there. Raises OSError."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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


# Not on Windows, whose folders have neither pipes nor devices.
_AT_ONCE: Final[int] = getattr(os, "O_NONBLOCK", 0)
_WRITABLE_BY_OTHERS: Final = 0o022
ARCHIVE_DAMAGE: Final = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    # The last two are for encrypted archives and for newer compression methods.
    ValueError,
    IndexError,
    OverflowError,
    RuntimeError,
    NotImplementedError,
)

# An array's header is Python source that states how much memory to allocate.
ARRAY_DAMAGE: Final = (
    EOFError,
    OSError,
    ValueError,
    KeyError,
    TypeError,
    SyntaxError,
    tokenize.TokenError,
    OverflowError,
    MemoryError,
)


class NotRegularError(OSError):
    """A pipe, a device, a socket or a folder is in the place of a file."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", os.fspath(path))


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading, without waiting.

    Raises NotRegularError if something else is in its place, and OSError.

    >>> open_regular(Path("/dev/null"))
    Traceback (most recent call last):
    bpe_core.files.whole_files.NotRegularError: [Errno 22] not a regular file: '/dev/null'
    """

    def opened(path: str, flags: int) -> int:
        # Opening a pipe for reading waits until somebody writes to it.
        return os.open(path, flags | _AT_ONCE)

    try:
        file = open(path, "rb", opener=opened)  # noqa: SIM115
    except OSError as error:
        # These are the errors for a socket and for a folder.
        if error.errno in (errno.ENXIO, errno.EISDIR):
            raise NotRegularError(path) from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise NotRegularError(path)
    return file


def read_regular(path: Path) -> bytes:
    """Return the contents of a file; raises what `open_regular` raises."""
    with open_regular(path) as file:
        return file.read()


def only_this_user_writes(path: Path) -> bool:
    """Return True if a file or folder is this user's or root's, and nobody else may write to it.

    False if it is missing, and always on Windows, which does not say whose a file is.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as name:
    ...     only_this_user_writes(Path(name))
    ...     Path(name).chmod(0o777)
    ...     only_this_user_writes(Path(name))
    True
    False
    """
    if not hasattr(os, "geteuid"):
        return False
    try:
        status = path.stat()
    except OSError:
        return False
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & _WRITABLE_BY_OTHERS
