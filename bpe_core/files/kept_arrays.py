"""Keep arrays on disk that take long to make, for later processes.

They lie in a folder named by a key, a hash of everything that they are made from: each array in a
file of NumPy's, and one file of JSON. A process maps the files, so it reads only what it uses, and
writes to a copy of its own. If a file is damaged or missing, all of them count as absent. Nothing
here raises an error: without a folder to write to, nothing is kept.

Arrays are used as they are found, so only the user may write to the folder.
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from bpe_core.files.whole_files import ARRAY_DAMAGE, delete, move_whole, only_this_user_writes

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_KEPT: Final = 32
"""How many keys have a folder; those used least recently are deleted."""
_PACKAGE: Final = Path(__file__).parents[1]
_FACTS: Final = "facts.json"


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
                unfinished.mkdir()
                _write(self, unfinished)
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


def _write(kept: Kept, folder: Path) -> None:
    import numpy as np

    for name, array in kept.arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)
    is_writeable = {name: array.flags.writeable for name, array in kept.arrays.items()}
    described = json.dumps({"facts": kept.facts, "arrays": is_writeable})
    (folder / _FACTS).write_text(described, encoding="utf-8")


def _read(folder: Path) -> Kept:
    """Return the arrays in a folder; raises one of ARRAY_DAMAGE if they are not whole."""
    import numpy as np

    described = json.loads((folder / _FACTS).read_bytes())
    arrays: dict[str, NDArray[Any]] = {}
    for name, is_writeable in described["arrays"].items():
        mapped = np.load(os.path.join(folder, f"{name}.npy"), mmap_mode="c", allow_pickle=False)
        # Kernels take no subclasses of arrays.
        arrays[name] = np.asarray(mapped)
        arrays[name].flags.writeable = is_writeable
    return Kept(described["facts"], arrays)
