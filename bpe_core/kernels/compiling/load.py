"""Find the compiled kernels and load them.

They lie under one name, a hash of what they are made from, in the first of a few folders that has
it: as a library or, if none could be built, as a folder of Numba's own cache.

A process that loads the library does not import Numba. It imports LLVM only if there was no C
compiler to link the library. For each kernel, the library has a function that takes the address of
a row of 8-byte slots, one for each array or number among the kernel's arguments: for an array, the
address of the NumPy object. The function checks the type of every array and then calls the kernel,
without the GIL.
"""

from __future__ import annotations

import _ctypes
import atexit
import ctypes
import hashlib
import json
import os
import platform
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from bpe_core.files import only_this_user_writes

KERNELS: Final = Path(__file__).absolute().parents[1]
"""The folder of the kernels' sources."""
# What else the library is made from: a constant, and the modules whose arrays the kernels take.
_ALSO: Final = (
    "comparison/model_bits.py",
    "corpus/count_compiled.py",
    "kernels/compiling/build.py",
    "kernels/compiling/decorate.py",
    "kernels/compiling/instructions.py",
    "kernels/compiling/load.py",
    "formats/token_parts.py",
    "pretokenizers/scanners.py",
    "tokenizer/compiled.py",
    "trainers/compiled.py",
    "unicode/byte_tables.py",
)
SHARED, OBJECT, CACHE, WASM = ".so", ".o", ".numba", ".wasm"
"""A library linked by the system's C compiler; an object file, for LLVM to link, if there was none;
a folder of Numba's cache; a module for browsers."""
X86_64_V3, ARM64 = "x86-64-v3", "generic"
"""The kinds of processors that portable libraries are for, by LLVM's names."""
_V3_FLAGS: Final = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}

TABLE: Final = "bpe_core_table"
"""The symbol of the table in the library: JSON, the fields of `Shape` by kernel."""
# Where NumPy's C structures hold what the library reads. Compiled extensions rely on it too.
HEAD: Final = object.__basicsize__
DATA, N_DIMENSIONS, DIMENSIONS, DESCRIPTION, FLAGS = (HEAD + at for at in (0, 8, 16, 40, 48))
BYTE_ORDER, TYPE_NUMBER = HEAD + 10, HEAD + 12

_DIGEST: Final = 32  # bytes

OK, NO_MATCH = 0, 1
"""The functions' return codes: NO_MATCH if an array's type is not the one that the kernel takes.
Any other code than OK is an exception, which only a mistake in a kernel or its caller can raise."""


def processor() -> str:
    """Return the kind of processor that machine code is made for: its list of flags.

    With `BPE_KERNELS=portable` it is `portable_kind()`, unless that is None. Encoding then takes a
    seventh longer on x86-64, because such code does without AVX-512.
    """
    is_portable = os.environ.get("BPE_KERNELS") == "portable"
    return (portable_kind() if is_portable else None) or _processor_flags()


def library_is_wanted() -> bool:
    """Return False if Numba is to load the kernels from its own cache: `BPE_KERNELS=numba`."""
    return os.environ.get("BPE_KERNELS") != "numba"


def compiled_name(kind: str | None = None) -> str:
    """Return the name of the kernels compiled from this process's sources, without the suffix.

    kind: the processors that they are for, `processor()` by default.
    """
    digest = hashlib.sha256((kind or processor()).encode()).hexdigest()
    return f"kernels-{first_hash()}-{digest[:8]}"


def hash_sources() -> str:
    """Return a hash of what the kernels are compiled from, as it is now."""
    digest = hashlib.sha256(f"{platform.machine()} {HEAD} ".encode())
    for path in (*sorted(KERNELS.glob("*.py")), *(KERNELS.parent / name for name in _ALSO)):
        digest.update(f"{path.name} ".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


first_hash: Final = cache(hash_sources)
"""Return the hash of the sources that this process goes by, as they were at the first call."""


def portable_kind() -> str | None:
    """Return the kind of portable library that this processor runs, or None.

    These are all ARM processors of 64 bits, and those with x86-64-v3 if the system names their
    flags, as Linux does.
    """
    if platform.machine() in ("aarch64", "arm64"):
        return ARM64
    return X86_64_V3 if set(_processor_flags().split()) >= _V3_FLAGS else None


@cache
def _processor_flags() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            # ARM processors have "Features" in place of "flags".
            return next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return ""


@cache
def folders() -> list[Path]:
    """Return the folders to keep compiled kernels in, the preferred one first.

    Compiled code is executed without further checks, so a folder does not count if other users may
    write there: see `_is_safe`.
    """
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(given).absolute()]
    beside = KERNELS / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # The path still begins with ~ if the user has no home folder.
    return [beside] if home.startswith("~") else [beside, Path(home, "bpe-explorer", "kernels")]


def folder_to_write() -> Path:
    """Return the first folder that this user, and no other, may write to.

    It is a temporary one, deleted at exit, if there is no other.
    """
    for folder in folders():
        with suppress(OSError):
            # Whatever the umask: others must not write there, and may use what an administrator has
            # compiled.
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            if _is_safe(folder):
                with tempfile.TemporaryFile(dir=folder):
                    return folder
    folders().append(Path(tempfile.mkdtemp(prefix="bpe-explorer-")))
    atexit.register(shutil.rmtree, folders()[-1], ignore_errors=True)
    return folders()[-1]


def find_compiled() -> Library | Path | None:
    """Return the library, or the folder of Numba's cache in its place, or None."""
    library = find_library() if library_is_wanted() else None
    return library or next(_candidates([processor()], CACHE), None)


def find_library() -> Library | None:
    """Return the library, or None.

    One for this very processor is better than a portable one. One that is damaged, lacks kernels or
    cannot be loaded here does not count, nor one that another user may have written.
    """
    portable = portable_kind()
    kinds = [processor()] if portable is None else [processor(), portable]
    return next(filter(None, map(_load_if_whole, _candidates(kinds, SHARED, OBJECT))), None)


def _candidates(kinds: list[str], *suffixes: str) -> Iterator[Path]:
    """Yield what is there and may be executed."""
    # A wheel can hold a library next to the sources; see `scripts/prebuilt_wheel.py`.
    for kind, folder, suffix in product(kinds, [*folders(), KERNELS], suffixes):
        path = folder / f"{compiled_name(kind)}{suffix}"
        if path.exists() and _is_safe(folder) and _is_safe(path):
            yield path


def _is_safe(path: Path) -> bool:
    """Return True if no other user can have put code there, or could as well change the sources.

    Python executes what lies next to the sources, and Windows does not say whose a folder is.
    """
    return path.is_relative_to(KERNELS) or not hasattr(os, "geteuid") or only_this_user_writes(path)


class Shape(NamedTuple):
    """How a kernel is called."""

    groups: list[str]
    """The classes of the named tuples among its arguments, which are passed field by field."""
    slots: list[str]
    """The name and type of each slot after the first."""
    numbers: list[int]
    """The slots that hold a number, rather than an array."""
    returns: list[str]
    """The types of its results, which are in the first slots: none, one, or a tuple of several."""


class LoadedKernel:
    """A kernel in the library. Given other types than it was compiled for, it calls `otherwise`."""

    def __init__(self, name: str, address: int, shape: Shape, otherwise: Callable[[], Any]) -> None:
        self._name = name
        self._run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(address)
        self._shape = shape
        self._n_slots = len(shape.slots) + 1
        self._otherwise = otherwise

    def __call__(self, *arguments: Any) -> Any:
        row = self._filled(arguments)
        status = NO_MATCH if row is None else self._run(row.buffer_info()[0])
        if row is None or status == NO_MATCH:
            return self._otherwise()(*arguments)
        if status != OK:
            raise RuntimeError(
                f"The kernel {self._name} raised an exception. Set BPE_KERNELS=numba to see which."
            )
        kinds = self._shape.returns
        results = [row[i] != 0 if kind == "bool" else row[i] for i, kind in enumerate(kinds)]
        return tuple(results) if len(results) > 1 else results[0] if results else None

    def _filled(self, arguments: tuple[Any, ...]) -> array[int] | None:
        """Return the row of slots for these arguments, None if they don't fit into it."""
        given: list[Any] = [np.ndarray]
        groups: list[str] = []
        for argument in arguments:
            if isinstance(argument, tuple):
                groups.append(type(argument).__name__)
                given.extend(argument)
            else:
                given.append(argument)
        if groups != self._shape.groups or len(given) != self._n_slots:
            return None
        values = list(map(id, given))
        for slot in self._shape.numbers:
            values[slot] = given[slot]
        try:
            return array("q", values)
        except (TypeError, OverflowError):  # not an int, or one of over 8 bytes
            return None


class Library(NamedTuple):
    """A library in this process."""

    shapes: dict[str, Shape]
    """How each kernel is called, by its name."""
    address_of: Callable[[str], int]

    def entry_point(self, name: str, otherwise: Callable[[], Any]) -> LoadedKernel | None:
        """Return a kernel of the library, or None if it lacks the kernel.

        name: `module.function`. otherwise: returns what to call for other types of arguments.
        """
        if name not in self.shapes:
            return None
        return LoadedKernel(name, self.address_of(name), self.shapes[name], otherwise)


def digest(content: bytes) -> bytes:
    """Return the hash that stands at the end of a library's file.

    The system would execute a damaged library, and LLVM crashes on one.
    """
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def load(path: Path) -> Library:
    """Load a library or an object file.

    Raises OSError if it is damaged, may not be executed here, lacks a kernel or the table of them,
    or was built for another NumPy.
    """
    content = path.read_bytes()
    if content[-_DIGEST:] != digest(content[:-_DIGEST]):
        raise OSError(f"{path} is damaged")
    if not _is_as_expected():
        raise OSError(f"{path} was built for a NumPy whose arrays are laid out otherwise")
    return _loaded_by_llvm(path) if path.suffix == OBJECT else _loaded_by_system(path)


def _with_table(path: Path, address_of: Callable[[str], int]) -> Library:
    """Return a library that was loaded; raises OSError if it is not one of kernels."""
    try:
        table = json.loads(ctypes.string_at(address_of(TABLE)))
        shapes = {name: Shape(**shape) for name, shape in table.items()}
        for name in shapes:
            address_of(name)
    except (AttributeError, TypeError, ValueError) as error:
        raise OSError(f"{path} is not a library of kernels: {error}") from error
    return Library(shapes, address_of)


_loaded: Final[dict[Path, Library]] = {}


def _load_if_whole(path: Path) -> Library | None:
    with suppress(OSError):
        _loaded[path] = _loaded.get(path) or load(path)
    return _loaded.get(path)


def _loaded_by_system(path: Path) -> Library:
    library = ctypes.CDLL(str(path))
    try:
        return _with_table(path, lambda name: ctypes.addressof(ctypes.c_char.in_dll(library, name)))
    except OSError:
        # While it is open, the system takes what is built in its place for the same library.
        if hasattr(_ctypes, "dlclose"):  # not on Windows
            _ctypes.dlclose(library._handle)
        raise


def _loaded_by_llvm(path: Path) -> Library:
    try:
        from llvmlite import binding as llvm
    except ImportError as error:
        raise OSError(f"LLVM, which could load {path}, is not installed") from error

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    try:
        engine.add_object_file(llvm.ObjectFileRef.from_path(str(path)))
        engine.finalize_object()
    except RuntimeError as error:
        raise OSError(f"LLVM could not load {path}: {error}") from error

    def address_of(name: str) -> int:
        address = engine.get_global_value_address(name)
        if not address:
            raise ValueError(f"undefined symbol: {name}")
        return address

    return _with_table(path, address_of)


def _is_as_expected() -> bool:
    """Return True if NumPy's structures have their fields where this module says."""
    array = np.zeros((3, 5), np.int32)
    at = id(array)
    description = ctypes.c_size_t.from_address(at + DESCRIPTION).value
    return (
        ctypes.c_size_t.from_address(at + DATA).value == array.ctypes.data
        and ctypes.c_int.from_address(at + N_DIMENSIONS).value == 2
        and ctypes.c_int.from_address(at + FLAGS).value == array.flags.num
        and description == id(array.dtype)
        and ctypes.c_int.from_address(description + TYPE_NUMBER).value == array.dtype.num
        and ctypes.c_char.from_address(description + BYTE_ORDER).value == b"="
        and ctypes.c_ssize_t.from_address(
            ctypes.c_size_t.from_address(at + DIMENSIONS).value + 8
        ).value
        == 5
    )
