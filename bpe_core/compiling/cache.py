"""The folder of compiled kernels, and the stamp that marks it as complete.

The stamp is an empty file whose name contains a hash of everything that the compiled code depends
on. It is written last: if the stamp for the current sources exists, all kernels are compiled.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import tempfile
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bpe_core.compiling.file_lock import FileLock
from bpe_core.whole_files import sync, write_whole

KERNELS: Final = Path(__file__).absolute().parents[1] / "kernels"
"""The folder of the kernels' sources."""
_BESIDE: Final = KERNELS / "__pycache__"
# Numba creates a folder with such a name for each source folder, so programs can share a cache.
_PLACE: Final = hashlib.sha1(str(KERNELS).encode(), usedforsecurity=False).hexdigest()


def kernels_are_compiled() -> bool:
    """Return True if the current kernels have been compiled on this machine."""
    return _stamp().exists()


def mark_compiled() -> None:
    """Write the stamp, once all compiled kernels are on disk."""
    # Numba doesn't sync its files; after a power cut, the stamp could exist without them.
    compiled = _compiled_files()
    for path in {*compiled, *(path.parent for path in compiled)}:
        sync(path)
    write_whole(_stamp(), b"compiled\n")


def forget_compiled() -> None:
    """Delete kernels compiled from other sources.

    Numba only checks a kernel's own file, and would keep using a kernel whose parts have changed in
    another file.
    """
    for stamp in kernels_folder().glob(f"compiled-{_PLACE}-*"):
        stamp.unlink(missing_ok=True)
    for path in _compiled_files():
        path.unlink(missing_ok=True)


def compiling_lock() -> FileLock:
    """Return the lock held while kernels are compiled."""
    return FileLock(kernels_folder() / f"compiling-{_PLACE}")


@cache
def kernels_folder() -> Path:
    """Return a writable folder for compiled kernels, and tell Numba to use it."""
    folder = _writable_folder(os.environ.get("NUMBA_CACHE_DIR"))
    if folder != _BESIDE:
        # Numba reads this once, on import. If it was imported before, it would not find these
        # kernels, and would compile everything again during a call.
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = str(folder)
    return folder


def _writable_folder(given: str | None) -> Path:
    """Return the first writable folder: the given one, one beside the sources, or the user's.

    If none is writable, make a temporary one for this process. Compiled code is executed without
    further checks, so it must not lie where other users can write.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        of_user = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:  # the user has no home folder
        of_user = _BESIDE
    for folder in (Path(given).absolute() if given else _BESIDE, of_user / "bpe-explorer"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return Path(tempfile.mkdtemp(prefix="bpe-explorer-"))


def _compiled_files() -> list[Path]:
    folder = kernels_folder()
    # In a shared cache, Numba creates one folder per source folder.
    ours = folder if folder == _BESIDE else folder / f"{KERNELS.name}_{_PLACE}"
    return list(ours.glob("*.nb[ic]"))


def _stamp() -> Path:
    return kernels_folder() / f"compiled-{_PLACE}-{_fingerprint()}"


@cache
def _fingerprint() -> str:
    """Return a hash of everything that determines whether compiled kernels are valid."""
    digest = hashlib.sha256(sys.version.encode() + platform.machine().encode())
    for path in sorted(KERNELS.glob("*.py")):
        # Numba's cache also identifies a source file by its time and size.
        stat = path.stat()
        digest.update(f"{path} {stat.st_mtime_ns} {stat.st_size}".encode())
    spec = find_spec("numba")
    if spec is not None and spec.origin is not None:
        # An environment can have several paths, for example through a symbolic link.
        numba = Path(spec.origin).resolve()
        digest.update(f"{numba} {numba.stat().st_mtime_ns}".encode())
    processor = Path("/proc/cpuinfo")
    if processor.exists():
        flags = (line for line in processor.read_text().splitlines() if line.startswith("flags"))
        digest.update(next(flags, "").encode())
    return digest.hexdigest()[:16]
