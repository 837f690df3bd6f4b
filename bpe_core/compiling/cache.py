"""Where compiled kernels are kept, and the stamp that says they are all there.

The stamp is an empty file whose name holds a hash of all that the compiled code depends on. It is
written last, so kernels are compiled if the stamp of the present sources exists.
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
# Numba names the folder of one program within a folder for all like this: several may share it.
_PLACE: Final = hashlib.sha1(str(KERNELS).encode(), usedforsecurity=False).hexdigest()


def kernels_are_compiled() -> bool:
    """Return True if the present kernels have been compiled on this machine."""
    return _stamp().exists()


def mark_compiled() -> None:
    """Say that all kernels are compiled, once they are on the disk."""
    # Numba doesn't wait for the disk: without this the stamp might outlive what it stands for.
    compiled = _compiled_files()
    for path in {*compiled, *(path.parent for path in compiled)}:
        sync(path)
    write_whole(_stamp(), b"compiled\n")


def forget_compiled() -> None:
    """Remove what was compiled here from other sources.

    Numba looks at a kernel's own file alone, and would go on using one whose parts, in another
    file, have changed since.
    """
    for stamp in kernels_folder().glob(f"compiled-{_PLACE}-*"):
        stamp.unlink(missing_ok=True)
    for path in _compiled_files():
        path.unlink(missing_ok=True)


def compiling_lock() -> FileLock:
    """Return the lock of whoever compiles the kernels."""
    return FileLock(kernels_folder() / f"compiling-{_PLACE}")


@cache
def kernels_folder() -> Path:
    """Return a writable folder for compiled kernels, and tell Numba to use it."""
    folder = _writable_folder(os.environ.get("NUMBA_CACHE_DIR"))
    if folder != _BESIDE:
        # Numba reads this once, when it is imported. If it was imported before, it would find
        # nothing that was compiled here, and compile everything again within a call.
        os.environ["NUMBA_CACHE_DIR"] = str(folder)
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = str(folder)
    return folder


def _writable_folder(given: str | None) -> Path:
    """Find a folder that can be written: the given one or that beside the sources, or the user's.

    If none can be written, make one for this process alone: compiled code is executed as it was
    left, so it lies where no other user can write.
    """
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        of_user = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:  # a user without a home
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
    # In a folder for all programs, Numba makes one for each folder of sources.
    ours = folder if folder == _BESIDE else folder / f"{KERNELS.name}_{_PLACE}"
    return list(ours.glob("*.nb[ic]"))


def _stamp() -> Path:
    return kernels_folder() / f"compiled-{_PLACE}-{_fingerprint()}"


@cache
def _fingerprint() -> str:
    """Return a hash of all that decides whether compiled kernels may be used."""
    digest = hashlib.sha256(sys.version.encode() + platform.machine().encode())
    for path in sorted(KERNELS.glob("*.py")):
        # Numba's cache goes by a file's time and size.
        stat = path.stat()
        digest.update(f"{path} {stat.st_mtime_ns} {stat.st_size}".encode())
    spec = find_spec("numba")
    if spec is not None and spec.origin is not None:
        # One environment can be reached by several paths, as by a link to it.
        numba = Path(spec.origin).resolve()
        digest.update(f"{numba} {numba.stat().st_mtime_ns}".encode())
    processor = Path("/proc/cpuinfo")
    if processor.exists():
        flags = (line for line in processor.read_text().splitlines() if line.startswith("flags"))
        digest.update(next(flags, "").encode())
    return digest.hexdigest()[:16]
