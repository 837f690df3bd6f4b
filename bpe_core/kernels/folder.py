"""Where compiled kernels are kept, and the stamps that tell which sources they belong to."""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final

KERNELS: Final = Path(__file__).absolute().parent
"""The folder of the kernels' sources."""
# What else the library is built from: a constant, and the modules whose arrays the kernels take.
_PACKAGE: Final = KERNELS.parent
_ALSO: Final = (
    "counting/compiled.py",
    "counting/compiled_row.py",
    "pretokenizers/blocks.py",
    "pretokenizers/scanners.py",
    "tokenizer/compiled.py",
    "tokenizer/compiled_tables.py",
    "trainers/compiled.py",
    "trainers/indexing.py",
    "unicode/utf8_states.py",
)
BESIDE: Final = KERNELS / "__pycache__"
# Numba creates a folder named like this for each source folder, so programs can share a cache.
PLACE: Final = hashlib.sha1(str(KERNELS).encode(), usedforsecurity=False).hexdigest()
"""The part of a file's name that distinguishes the kernels of two copies of this package."""

_temporary: Final[list[Path]] = []
"""The temporary folder of this process, if it needed one."""

MADE: Final = "library"
"""The name of the library's file, without its suffix, in the folder where it is built."""
SHARED, OBJECT = ".so", ".o"
"""A library linked by the system's C compiler; an object file, for LLVM to link, if it has none."""
X86_64_V3: Final = "x86-64-v3"
_OF_V3: Final = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}


def kernels_folder() -> Path:
    """Return a writable folder for compiled kernels: a temporary one if there is no other."""
    return _lasting_folder() or _temporary_folder()


def _folders() -> list[Path]:
    """Return the folders in which to look for the library."""
    lasting = _lasting_folder()
    writable = _temporary if lasting is None else [lasting]
    # Beside the sources, an administrator may have compiled for users who cannot write there.
    beside = [] if _given_folder() else [BESIDE]
    return list(dict.fromkeys([*writable, *beside]))


def numba_variables() -> dict[str, str]:
    """Return the environment of a process in which Numba is to use `kernels_folder()`."""
    folder = kernels_folder()
    return {} if folder == BESIDE else {"NUMBA_CACHE_DIR": str(folder)}


def tell_numba_the_folder() -> None:
    """Have Numba keep kernels in `kernels_folder()`, in this process and those that it starts."""
    for name, folder in numba_variables().items():
        # Numba reads this once, on import. If it was imported before, it would not find these
        # kernels, and would compile everything again during a call.
        os.environ[name] = folder
        if "numba" in sys.modules:
            sys.modules["numba"].config.CACHE_DIR = folder


def library_file(suffix: str = SHARED, kind: str | None = None, folder: Path | None = None) -> Path:
    """Return where the library for the current sources is, or would be.

    kind: the processors that it is built for, `processor()` by default. folder: where to look for
    it, `kernels_folder()` by default.
    """
    of_kind = hashlib.sha256((kind or processor()).encode()).hexdigest()[:8]
    return (folder or kernels_folder()) / f"{library_prefix()}-{of_kind}{suffix}"


def library_prefix() -> str:
    """Return how the names of all libraries for the current sources begin."""
    return f"kernels-{PLACE}-{library_stamp()}"


def library_is_wanted() -> bool:
    """Return False if Numba is to load the kernels from its own cache: `BPE_KERNELS=numba`."""
    return os.environ.get("BPE_KERNELS") != "numba"


def found_libraries() -> Iterator[Path]:
    """Yield the libraries for the current sources, the best first; none if not wanted.

    One that is built for this processor takes precedence over a portable one.
    """
    if library_is_wanted():
        kinds = dict.fromkeys([processor(), X86_64_V3] if _is_v3() else [processor()])
        for kind, folder, suffix in product(kinds, _folders(), (SHARED, OBJECT)):
            path = library_file(suffix, kind, folder)
            if path.exists():
                yield path
        prebuilt = prebuilt_file()
        if prebuilt is not None and prebuilt.exists():
            yield prebuilt


@cache
def prebuilt_file() -> Path | None:
    """Return where a wheel has a library that was built elsewhere, if it suits this processor.

    `scripts/prebuilt_wheel.py` makes such wheels. They need no Numba.
    """
    if not sys.platform.startswith("linux") or not _is_v3():
        return None
    return KERNELS / f"prebuilt-{_hash_of(_sources())}{SHARED}"


@cache
def _given_folder() -> str | None:
    """Return the folder that the environment names, which `tell_numba_the_folder` changes later."""
    return os.environ.get("NUMBA_CACHE_DIR")


@cache
def _lasting_folder() -> Path | None:
    """Return the first writable folder: the given one, one beside the sources, or the user's.

    Compiled code is executed without further checks, so it must not lie where other users can
    write.
    """
    given = _given_folder()
    home = os.environ.get("XDG_CACHE_HOME")
    try:
        of_user = Path(home) if home else Path.home() / ".cache"
    except RuntimeError:  # the user has no home folder
        of_user = BESIDE
    for folder in (Path(given).absolute() if given else BESIDE, of_user / "bpe-explorer"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _temporary_folder() -> Path:
    """Return a folder that this process makes when it first needs it, and deletes at its end."""
    if not _temporary:
        _temporary.append(Path(tempfile.mkdtemp(prefix="bpe-explorer-")))
        atexit.register(shutil.rmtree, _temporary[0], ignore_errors=True)
    return _temporary[0]


def processor() -> str:
    """Return the kind of processor that machine code is made for: its list of flags.

    With `BPE_KERNELS=portable` it is "x86-64-v3" if possible, which most servers and laptops are.
    Encoding takes a seventh longer then, because such code does without AVX-512.
    """
    is_portable = os.environ.get("BPE_KERNELS") == "portable" and _is_v3()
    return X86_64_V3 if is_portable else _processor_flags()


def _is_v3() -> bool:
    return set(_processor_flags().split()) >= _OF_V3


@cache
def library_stamp() -> str:
    """Return the stamp of the sources that this process goes by, as they were at the first call."""
    return current_library_stamp()


def current_library_stamp() -> str:
    """Return a hash of what the library is built from as it is now: sources, Numba's version."""
    numba = _numba()
    return _hash_of(_sources() if numba is None else [*_sources(), numba.with_name("_version.py")])


def _sources() -> list[Path]:
    return [*sorted(KERNELS.glob("*.py")), *(_PACKAGE / name for name in _ALSO)]


def _hash_of(sources: list[Path]) -> str:
    digest = hashlib.sha256(f"{platform.machine()} ".encode())
    for path in sources:
        digest.update(f"{path.name} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_stamp() -> str:
    """Return a hash of everything that kernels in Numba's own cache depend on."""
    digest = hashlib.sha256(sys.version.encode() + platform.machine().encode())
    for path in _sources():
        # Numba's cache also identifies a source file by its time and size.
        stat = path.stat()
        digest.update(f"{path} {stat.st_mtime_ns} {stat.st_size}".encode())
    numba = _numba()
    if numba is not None:
        digest.update(f"{numba} {numba.stat().st_mtime_ns}".encode())
    digest.update(_processor_flags().encode())
    return digest.hexdigest()[:16]


def _numba() -> Path | None:
    spec = find_spec("numba")
    # An environment can have several paths, for example through a symbolic link.
    return None if spec is None or spec.origin is None else Path(spec.origin).resolve()


@cache
def _processor_flags() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            # ARM processors have "Features" in place of "flags".
            return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return ""
