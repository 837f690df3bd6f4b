"""Keep arrays on disk that take long to make, for later processes.

They lie in a file named by a key, a hash of everything that they are made from. A process maps the
file, so it reads only what it uses, and writes to a copy of its own. A damaged file counts as
absent. Nothing here raises an error: without a folder to write to, nothing is kept.

Arrays are used as they are found, so only the user may write to the folder.

Browsers get arrays in the same form, which `write_arrays` describes.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple
from uuid import uuid4

from bpe_core.files.whole_files import (
    ARRAY_DAMAGE,
    delete,
    move_whole,
    only_this_user_writes,
    open_regular,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_KEPT: Final = 32
"""How many keys have a file; those used least recently are deleted."""
_PACKAGE: Final = Path(__file__).parents[1]
_LINE: Final = 64
"""Arrays begin at lines of the processor's cache."""
_SIZE: Final = 4
"""The bytes that say how long the head is."""


class Kept(NamedTuple):
    """Arrays by name, and what else is to be known about them."""

    facts: Mapping[str, Any]
    """JSON values."""
    arrays: Mapping[str, NDArray[Any]]

    @staticmethod
    @cache
    def hash_package() -> str:
        """Return a hash of this package's sources: they decide which arrays are made, and how.

        >>> len(Kept.hash_package())
        64
        """
        digest = hashlib.sha256(sys.byteorder.encode())
        for path in sorted(_PACKAGE.rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode() + b" " + path.read_bytes())
        return digest.hexdigest()

    @staticmethod
    def find(key: str) -> Kept | None:
        """Return what is kept under a key, or None. Writing to its arrays changes no file.

        >>> Kept.find("no such key") is None
        True
        """
        folder = _folder()
        if folder is None:
            return None
        try:
            found = _read(folder / key)
        except ARRAY_DAMAGE:
            return None
        with suppress(OSError):
            os.utime(folder / key)
        return found

    @staticmethod
    def is_possible() -> bool:
        """Return whether there is a folder to keep arrays in; it is made if it is missing."""
        folder = _folder(create=True)
        return folder is not None and os.access(folder, os.W_OK)

    def keep(self, key: str) -> None:
        """Keep them under a key, if possible; other processes see all of them or none."""
        with suppress(OSError):
            folder = _folder(create=True)
            if folder is None:
                return
            # What a killed process left unfinished is deleted with the rest.
            oldest_first = sorted(folder.iterdir(), key=os.path.getmtime)
            for old in oldest_first[: 1 - MAX_KEPT]:
                delete(old)
            unfinished = folder / f"unfinished-{uuid4().hex}"
            try:
                can_write = [each for each in self.arrays if self.arrays[each].flags.writeable]
                with unfinished.open("xb") as file:
                    facts = {"facts": self.facts, "writeable": can_write}
                    write_arrays(file, facts, self.arrays)
                if (folder / key).is_dir():
                    delete(folder / key)
                move_whole(unfinished, folder / key)
            finally:
                delete(unfinished)


def _folder(*, create: bool = False) -> Path | None:
    """Return a folder that only the user can write to, or None."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home, "bpe-explorer", "opened")
    # On Windows there is none: it does not say whose a folder is.
    if not folder.is_absolute() or not hasattr(os, "geteuid"):  # or the user has no home folder
        return None
    if create:
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder if only_this_user_writes(folder) else None


def write_arrays(
    to: BinaryIO, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write arrays and facts, which a process maps and `unpack` in `shared/arrays.js` reads.

    First the length of a head, as uint32, then the head, in JSON: the facts, and for each array its
    type, its place behind the head, and its shape. The length is little-endian, and the numbers of
    arrays are as this machine has them.

    >>> import io
    >>> import numpy as np
    >>> written = io.BytesIO()
    >>> write_arrays(written, {"n": 2}, {"ids": np.array([7, 8], np.uint8)})
    >>> written.getvalue()[4:].rstrip(b"\\0")
    b'{"n": 2, "arrays": {"ids": ["uint8", 0, [2]]}}              \\x07\\x08'
    """
    places: dict[str, tuple[str, int, tuple[int, ...]]] = {}
    end = 0
    for name, array in arrays.items():
        places[name] = (array.dtype.name, end, array.shape)
        end += array.nbytes + -array.nbytes % _LINE
    described = json.dumps({**facts, "arrays": places}, ensure_ascii=False)
    head = described.encode("utf-8", "surrogatepass")
    head += b" " * (-(_SIZE + len(head)) % _LINE)
    to.write(len(head).to_bytes(_SIZE, "little") + head)
    for array in arrays.values():
        to.write(array.tobytes())
        to.write(bytes(-array.nbytes % _LINE))


def _read(path: Path) -> Kept:
    """Return the arrays in a file; raises one of ARRAY_DAMAGE if they are not whole."""
    import numpy as np

    with open_regular(path) as file:
        # Kernels take no subclasses of arrays.
        mapped = np.asarray(np.memmap(file, np.uint8, mode="c"))
    start = _SIZE + int.from_bytes(mapped[:_SIZE].tobytes(), "little")
    if mapped.size % _LINE:
        raise ValueError("The file was cut.")
    head = json.loads(mapped[_SIZE:start].tobytes().decode("utf-8", "surrogatepass"))
    arrays: dict[str, NDArray[Any]] = {}
    for name, (kind, place, shape) in head["arrays"].items():
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize
        part = mapped[start + place : start + place + size]
        arrays[name] = part.view(kind).reshape(shape)
        arrays[name].flags.writeable = name in head["writeable"]
    return Kept(head["facts"], arrays)
