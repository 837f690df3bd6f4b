"""Read files that others may have written, or replaced by a pipe or a device.

`only_this_user_writes` finds out whether they could; `open_regular` does not wait for a pipe.
`ARCHIVE_DAMAGE` and `ARRAY_DAMAGE` are the exceptions that the standard library and NumPy raise for
damaged files; they were collected by damaging files, one byte at a time.
"""

from __future__ import annotations

import errno
import lzma
import os
import stat
import struct
import tokenize
import zipfile
import zlib
from io import BufferedReader
from pathlib import Path
from typing import Final

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
    bpe_core.files.regular_files.NotRegularError: [Errno 22] not a regular file: '/dev/null'
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
