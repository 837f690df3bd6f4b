"""Messages between two processes: values of known types, without pickle.

A value may be None, a bool, a number, a string, bytes, a list, tuple, set or dict, a dataclass, a
NamedTuple, a path or a NumPy array, and any nesting of these. It is read as the annotation of a
parameter or of a result says, so a process that was taken over cannot make its parent build
anything else; one annotation that cannot be read is `str | bytes`. The data of arrays follow the
message as they are in memory, and are not copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Literal, cast, get_origin

import msgspec

from bpe_core.errors import UnforeseenError

Kind = Literal["call", "finish", "progress", "item", "answer", "error", "memory", "unforeseen"]
_PACKAGES: Final = frozenset({"bpe_core", "ui", "tests"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message of another process; its value has not been read yet."""

    kind: Kind
    _body: bytes
    _arrays: list[bytes]

    def value(self, annotation: Any) -> Any:
        """Return its value; raises UnforeseenError if it is not as the annotation says."""
        return self._read(self._body, annotation)

    def arguments(self, annotations: dict[str, Any]) -> dict[str, Any]:
        """Return its value as the arguments of a function, by the names of its parameters."""
        found: dict[str, msgspec.Raw] = self._read(self._body, dict[str, msgspec.Raw])
        return {name: self._read(raw, annotations[name]) for name, raw in found.items()}

    def _read(self, data: bytes | msgspec.Raw, annotation: Any) -> Any:
        return _decode(data, annotation, partial(_from_plain, self._arrays))


def send(connection: Connection, kind: Kind, value: object) -> None:
    """Send a message; raises EOFError if the other process has ended.

    >>> from multiprocessing.connection import Pipe
    >>> import numpy as np
    >>> from numpy.typing import NDArray
    >>> here, there = Pipe()
    >>> send(here, "answer", {"counts": np.array([3, 2])})
    >>> receive(there).value(dict[str, NDArray[np.int64]])
    {'counts': array([3, 2])}
    """
    arrays: list[Any] = []
    body = msgspec.msgpack.encode(value, enc_hook=partial(_plain, arrays))
    try:
        connection.send_bytes(msgspec.msgpack.encode((kind, len(arrays))))
        connection.send_bytes(body)
        for array in arrays:
            connection.send_bytes(array)
    except OSError as error:
        raise EOFError from error


def receive(connection: Connection, max_bytes: int | None = None) -> Message:
    """Wait for a message; raises EOFError if the other process has ended.

    The process is treated as ended if its message is larger than `max_bytes`.
    """
    left = max_bytes

    def read() -> bytes:
        nonlocal left
        # Never `recv`, which unpickles.
        data = connection.recv_bytes(left)
        if left is not None:
            left -= len(data)
        return data

    try:
        kind, n_arrays = _decode(read(), tuple[Kind, int])
        body = read()
        # Each array takes at least a byte of the body that refers to it.
        return Message(kind, body, [read() for _ in range(min(n_arrays, len(body)))])
    except OSError as error:
        raise EOFError from error


def _decode(
    data: bytes | msgspec.Raw, annotation: Any, hook: Callable[[Any, Any], object] | None = None
) -> Any:
    try:
        return msgspec.msgpack.decode(data, type=annotation, dec_hook=hook)
    except Exception as error:
        # A process that was taken over may send anything, such as the number of a missing array.
        raise UnforeseenError(type(error).__name__) from error


def _plain(arrays: list[Any], value: Any) -> object:
    """Return what stands for a value that msgspec doesn't know."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return dict(cast("Mapping[Any, Any]", value))
    # It is imported already if the value is an array.
    if (np := sys.modules.get("numpy")) is not None:
        if isinstance(value, np.ndarray):
            arrays.append(np.ascontiguousarray(value).reshape(-1).view(np.uint8))
            return len(arrays) - 1, value.dtype.str, value.shape
        if isinstance(value, np.generic):
            return value.item()
    raise TypeError(f"{type(value).__name__} cannot be passed to another process")


def _from_plain(arrays: list[bytes], annotation: Any, plain: Any) -> object:
    kind: Callable[..., Any] = get_origin(annotation) or annotation
    if kind is Path:
        return Path(plain)
    import numpy as np

    if kind is np.ndarray:
        place, dtype, shape = plain
        return np.frombuffer(arrays[int(place)], dtype).reshape(shape)
    raise TypeError(f"{kind.__name__} cannot be passed to another process")


def full_name(named: Callable[..., Any]) -> str:
    """Return the name of a function or class; raises ValueError unless `find` finds it by that.

    >>> full_name(find)
    'bpe_core.processes.codec:find'
    """
    name = f"{named.__module__}:{named.__qualname__}"
    if "<" in name or find(name) is not named:
        raise ValueError(f"{name} is not at the top of its module")
    return name


def find(name: str) -> Callable[..., Any]:
    """Return what has a name; raises ValueError if it is in another package.

    >>> find("os:system")
    Traceback (most recent call last):
    ValueError: os:system is in another package
    """
    module, _, inside = name.partition(":")
    if module.split(".")[0] not in _PACKAGES:
        raise ValueError(f"{name} is in another package")
    return getattr(import_module(module), inside)
