"""Load the library of kernels: machine code that `library_builder` made with Numba.

A process that loads it does not import Numba. It imports LLVM only if there was no C compiler to
link the library. For each kernel, the library has a function that takes the address of a row of
8-byte slots, one for each array or number among the kernel's arguments: for an array, the address
of the NumPy object. The function checks the type of every array and then calls the kernel, without
the GIL.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from bpe_core.kernels.folder import OBJECT, found_libraries

TABLE: Final = "bpe_core_table"
"""The symbol of the table in the library: JSON, the fields of `Shape` by kernel, and at "head" the
HEAD that it was built with."""
# Where NumPy's C structures hold what the library reads. Compiled extensions rely on it too.
HEAD: Final = object.__basicsize__
DATA, N_DIMENSIONS, DIMENSIONS, DESCRIPTION, FLAGS = (HEAD + at for at in (0, 8, 16, 40, 48))
BYTE_ORDER, TYPE_NUMBER = HEAD + 10, HEAD + 12

_DIGEST: Final = 32  # bytes

OK, NO_MATCH = 0, 1
"""The functions' return codes: NO_MATCH if an array's type is not the one that the kernel takes.
Any other code than OK is an exception, which only a mistake in a kernel or its caller can raise."""


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


def entry_point(name: str, otherwise: Callable[[], Any]) -> LoadedKernel | None:
    """Return a kernel of the library, None if there is no library or it lacks the kernel.

    name: `module.function`. otherwise: returns what to call for other types of arguments.
    """
    library = loaded_library()
    if library is None or name not in library.shapes:
        return None
    return LoadedKernel(name, library.address_of(name), library.shapes[name], otherwise)


class Library(NamedTuple):
    """A library in this process."""

    shapes: dict[str, Shape]
    """How each kernel is called, by its name."""
    address_of: Callable[[str], int]


_loaded: dict[Path, Library] = {}


def loaded_library() -> Library | None:
    """Load the library for the current sources; return None if there is none that can be loaded."""
    for path in found_libraries():
        if path not in _loaded:
            try:
                _loaded[path] = load(path)
            except OSError:
                continue
        return _loaded[path]
    return None


def digest(content: bytes) -> bytes:
    """Return the hash that stands at the end of a library's file.

    The system would execute a damaged library, and LLVM crashes on one.
    """
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def load(path: Path) -> Library:
    """Load a library or an object file.

    Raises OSError if it is damaged, may not be executed here, or was built for another Python.
    """
    content = path.read_bytes()
    if content[-_DIGEST:] != digest(content[:-_DIGEST]):
        raise OSError(f"{path} is damaged")
    address_of = _loaded_by_llvm(path) if path.suffix == OBJECT else _loaded_by_system(path)
    table = json.loads(ctypes.string_at(address_of(TABLE)))
    if table.pop("head") != HEAD or not _is_as_expected():
        raise OSError(
            f"{path} was built for a Python or NumPy whose objects are laid out otherwise"
        )
    return Library({name: Shape(**shape) for name, shape in table.items()}, address_of)


def _loaded_by_system(path: Path) -> Callable[[str], int]:
    library = ctypes.CDLL(str(path))
    return lambda name: ctypes.addressof(ctypes.c_char.in_dll(library, name))


def _loaded_by_llvm(path: Path) -> Callable[[str], int]:
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
    return engine.get_global_value_address


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
