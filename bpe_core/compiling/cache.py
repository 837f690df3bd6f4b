"""Tell whether kernels are compiled on this machine, and mark them as complete.

Kernels are compiled to a library, one file that is written whole. If it cannot be built, or with
`BPE_KERNELS=numba`, Numba keeps each kernel in files of its own. These are complete if there is a
stamp, a file whose name contains a hash of everything that they depend on; it is written last.
"""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bpe_core.compiling.file_lock import FileLock
from bpe_core.kernels.folder import (
    BESIDE,
    KERNELS,
    MADE,
    PLACE,
    cache_stamp,
    kernels_folder,
    library_file,
    library_is_wanted,
    library_prefix,
)
from bpe_core.whole_files import move_whole, sync, write_whole

MOST_SECONDS: Final = 300.0
"""The most time that compiling may take."""
_BUILDING: Final = f"building-{PLACE}"


def kernels_are_compiled() -> bool:
    """Return True if the current kernels have been compiled on this machine, and can be loaded."""
    return library_loads() or _stamp().exists()


def library_loads() -> bool:
    """Return True if there is a library for the current sources, and it can be loaded."""
    from bpe_core.kernels.library import loaded_library  # with NumPy, which small texts don't need

    return loaded_library() is not None


def scratch_folder() -> TemporaryDirectory[str]:
    """Return a folder to build the library in, on the same file system as its place."""
    return TemporaryDirectory(prefix=f"{_BUILDING}-", dir=kernels_folder())


def keep_library(scratch: Path) -> None:
    """Move a library that has just been built to its place. Raises OSError."""
    (made,) = (path for path in scratch.iterdir() if path.name.startswith(MADE))
    move_whole(made, library_file(made.suffix))


def mark_compiled() -> None:
    """Write the stamp, once all kernels are in Numba's cache."""
    # Numba doesn't sync its files; after a power cut, the stamp could exist without them.
    compiled = _compiled_files()
    for path in {*compiled, *(path.parent for path in compiled)}:
        sync(path)
    write_whole(_stamp(), b"compiled\n")


def forget_libraries() -> None:
    """Delete libraries that are outdated or damaged, and the folders of builders that were killed.

    A recent folder stays: where the system has no locks, another process may be building in it.
    """
    for path in kernels_folder().glob(f"kernels-{PLACE}-*"):
        # Those for other processors stay, because machines may share the folder.
        if not path.name.startswith(library_prefix()) or path == library_file(path.suffix):
            path.unlink(missing_ok=True)
    for folder in kernels_folder().glob(f"{_BUILDING}-*"):
        with suppress(FileNotFoundError):  # its builder has just finished
            if folder.stat().st_mtime < time.time() - MOST_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def forget_fallback() -> None:
    """Forget that the library could not be built here, so that it is tried again."""
    if library_is_wanted():
        _stamp().unlink(missing_ok=True)


def forget_compiled() -> None:
    """Delete kernels that Numba compiled from other sources.

    Numba only checks a kernel's own file, and would keep using a kernel whose parts have changed in
    another file.
    """
    for stamp in kernels_folder().glob(f"compiled-{PLACE}-*"):
        stamp.unlink(missing_ok=True)
    for path in _compiled_files():
        path.unlink(missing_ok=True)


def compiling_lock() -> FileLock:
    """Return the lock held while kernels are compiled."""
    return FileLock(kernels_folder() / f"compiling-{PLACE}")


def _compiled_files() -> list[Path]:
    folder = kernels_folder()
    # In a shared cache, Numba creates one folder per source folder.
    ours = folder if folder == BESIDE else folder / f"{KERNELS.name}_{PLACE}"
    return list(ours.glob("*.nb[ic]"))


def _stamp() -> Path:
    # The name tells why Numba's cache is used: the library could not be built, or was not wanted.
    why = "fallback" if library_is_wanted() else "chosen"
    return kernels_folder() / f"compiled-{PLACE}-{cache_stamp()}-{why}"
