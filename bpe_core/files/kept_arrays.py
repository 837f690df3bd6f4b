"""Keep arrays on disk that take long to make, for later processes.

Each lies under a key, a hash of everything that it is made from, in one file: a line that names the
layout, a CRC-32 of all that follows, and JSON that says where each array is. A process maps the
file, so it reads only what it uses, and writes to a copy of its own. A file that is damaged counts
as absent. Nothing here raises an error: without a folder to write to, nothing is kept.

Arrays are used as they are found, so the folder must be the user's own, and only the user may write
to it. It holds at most `MAX_BYTES`; what was used least recently is deleted.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from bpe_core.files.regular_files import open_regular

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_BYTES: Final = 500_000_000
_PACKAGE: Final = Path(__file__).parents[1]
_LAYOUT: Final = b"BPE Explorer's arrays, layout 1\n"
_HEAD: Final = struct.Struct(f"<{len(_LAYOUT)}sII")
"""The layout, the CRC-32 of the rest, and the size of the JSON."""
_ALIGNMENT: Final = 64
_ENDING: Final = ".arrays"
_UNFINISHED: Final = ".unfinished-"
_SECONDS_TO_FINISH: Final = 3_600


class Kept(NamedTuple):
    """Arrays by name, and what else is to be known about them."""

    facts: Mapping[str, Any]
    """JSON values."""
    arrays: Mapping[str, NDArray[Any]]


@cache
def hash_package() -> str:
    """Return a hash of this package's sources: they decide which arrays are made, and how.

    >>> len(hash_package())
    64
    """
    digest = hashlib.sha256(sys.byteorder.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(str(path.relative_to(_PACKAGE)).encode() + b" " + path.read_bytes())
    return digest.hexdigest()


def find_kept(key: str) -> Kept | None:
    """Return what is kept under a key, or None. Writing to its arrays changes no file.

    >>> find_kept("no such key") is None
    True
    """
    folder = _folder()
    if folder is None:
        return None
    path = folder / f"{key}{_ENDING}"
    try:
        with open_regular(path) as file:
            view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None
    found = _read(view)
    if found is not None:
        with suppress(OSError):
            os.utime(path)
    return found


def can_keep() -> bool:
    """Return whether there is a folder to keep arrays in; it is made if it is missing."""
    return _folder(create=True) is not None


def keep(key: str, kept: Kept) -> None:
    """Keep arrays under a key, if possible; other processes see all of them or none."""
    with suppress(OSError):
        folder = _folder(create=True)
        if folder is None:
            return
        unfinished = folder / f"{_UNFINISHED}{uuid4().hex}"
        try:
            with unfinished.open("xb") as file:
                file.write(_HEAD.pack(_LAYOUT, 0, 0))
                described, *arrays = _parts(kept)
                crc = len(described)  # so that it covers the size, too
                for part in (described, *arrays):
                    file.write(part)
                    crc = zlib.crc32(part, crc)
                file.seek(0)
                file.write(_HEAD.pack(_LAYOUT, crc, len(described)))
            # Not synced, which would take long: what a power cut damages is made again.
            unfinished.replace(folder / f"{key}{_ENDING}")
        finally:
            unfinished.unlink(missing_ok=True)
        _delete_oldest(folder)


def _folder(*, create: bool = False) -> Path | None:
    """Return a folder that only the user can write to, or None."""
    if not hasattr(os, "geteuid"):  # Windows does not say whose a folder is
        return None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home, "bpe-explorer", "opened")
    if not folder.is_absolute():  # the user has no home folder
        return None
    try:
        if create:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return folder if is_own else None


def _parts(kept: Kept) -> Iterator[bytes | memoryview]:
    """Yield the JSON, padded, and then each array with its padding."""
    places: dict[str, tuple[str, list[int], int, bool]] = {}
    at = 0
    for name, array in kept.arrays.items():
        places[name] = (array.dtype.str, list(array.shape), at, array.flags.writeable)
        at += array.nbytes + -array.nbytes % _ALIGNMENT
    written = json.dumps({"facts": kept.facts, "arrays": places}).encode()
    # Spaces after JSON mean nothing.
    yield written + b" " * (-(_HEAD.size + len(written)) % _ALIGNMENT)
    for array in kept.arrays.values():
        if array.size:
            yield array.reshape(-1).view("u1").data
        yield bytes(-array.nbytes % _ALIGNMENT)


def _read(view: mmap.mmap) -> Kept | None:
    import numpy as np

    if len(view) < _HEAD.size:
        return None
    layout, crc, size = _HEAD.unpack_from(view)
    if layout != _LAYOUT or zlib.crc32(memoryview(view)[_HEAD.size :], size) != crc:
        return None
    start = _HEAD.size + size
    described = json.loads(view[_HEAD.size : start])
    arrays: dict[str, NDArray[Any]] = {}
    for name, (dtype, shape, at, is_writeable) in described["arrays"].items():
        array = (
            np.ndarray(shape, dtype, view, start + at) if 0 not in shape else np.empty(shape, dtype)
        )
        array.flags.writeable = is_writeable
        arrays[name] = array
    return Kept(described["facts"], arrays)


def _delete_oldest(folder: Path) -> None:
    now, left = time.time(), MAX_BYTES
    files = [(file.stat(), file) for file in folder.iterdir()]
    for status, file in sorted(files, key=lambda each: each[0].st_mtime, reverse=True):
        if file.name.startswith(_UNFINISHED):
            if now - status.st_mtime > _SECONDS_TO_FINISH:  # its process was killed
                file.unlink(missing_ok=True)
        elif file.name.endswith(_ENDING):
            left -= status.st_size
            if left < 0:
                file.unlink(missing_ok=True)
