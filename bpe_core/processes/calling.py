"""Call a function in a new process with limits of memory and time, and end with this process.

Messages between the two are values of known types, without pickle: None, a bool, a number, a
string, bytes, a list, tuple, set or dict, a dataclass, a NamedTuple, a path or a NumPy array, and
any nesting of these. A value is read as the annotation of a parameter or of a result says, so a
process that was taken over cannot make its parent build anything else; one annotation that cannot
be read is `str | bytes`. The data of arrays follow the message as they are in memory, and are not
copied.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

import msgspec

from bpe_core.errors import (
    BpeError,
    MemoryLimitError,
    ProcessError,
    TimeLimitError,
    UnforeseenError,
)
from bpe_core.processes.limits import Limits, environment

_MODULE: Final = "bpe_core.processes.child"
_SECONDS_BETWEEN_LOOKS: Final = 0.05
Answer = TypeVar("Answer")
Item = TypeVar("Item")

Kind = Literal["call", "finish", "progress", "item", "answer", "error", "memory", "unforeseen"]
_PACKAGES: Final = frozenset({"bpe_core", "ui", "tests"})


def call(
    function: Callable[..., Answer],
    /,
    *arguments: object,
    limits: Limits,
    on_progress: Callable[[Any], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    should_finish: Callable[[], bool] | None = None,
    **named: object,
) -> Answer:
    """Call a function of a module of ours in a new process, and return what it returns.

    Its annotations say how arguments, progress and answer are passed: see `send`. If it has a
    parameter `report`, it is passed a `Report[Progress]`, and `on_progress` is called here with
    what it reports. Once `should_stop` returns True, the process is killed and CancelledError is
    raised; once `should_finish` does, the report tells the function to return early. What these
    three raise ends the process too.

    Raises the BpeError that the function raises; MemoryLimitError and TimeLimitError if it exceeds
    its limits; UnforeseenError, with the name of the class alone, if it raises anything else,
    because a message may quote a visitor's text; and ProcessError if it is killed or crashes. What
    it prints is discarded.

    >>> from bpe_core.unicode import to_printable
    >>> call(to_printable, b" hug", limits=Limits(seconds=60))
    'Ġhug'
    """
    asked = _asked(function, arguments, named)
    with closing(_messages(function, asked, limits, should_stop, should_finish)) as messages:
        for message in messages:
            if message.kind == "answer":
                return message.value(get_type_hints(function)["return"])
            if on_progress is not None:
                (progress,) = get_args(get_type_hints(function)["report"])
                on_progress(message.value(progress))
    raise AssertionError("the messages end with an answer")


def stream(
    function: Callable[..., Iterator[Item]],
    /,
    *arguments: object,
    limits: Limits,
    **named: object,
) -> Generator[Item]:
    """Yield what a generator function yields in a new process; otherwise as `call`.

    The process is ended when this generator is closed.

    >>> import io, numpy as np, pyarrow as pa, pyarrow.parquet as pq
    >>> from bpe_core.corpus.parquet_process import read_column
    >>> file = io.BytesIO()
    >>> pq.write_table(pa.table({"text": ["hug", "hugs"]}), file)
    >>> data = np.frombuffer(file.getvalue(), np.uint8)
    >>> found = stream(read_column, data, "a.parquet", "text", limits=Limits(seconds=60))
    >>> [type(each).__name__ for each in found]
    ['ParquetFacts', 'Texts']
    """
    asked = _asked(function, arguments, named)
    item = get_args(get_type_hints(function)["return"])[0]
    with closing(_messages(function, asked, limits, None, None)) as messages:
        for message in messages:
            if message.kind == "answer":
                return
            yield message.value(item)


def _asked(
    function: Callable[..., Any], arguments: Sequence[object], named: Mapping[str, object]
) -> dict[str, object]:
    """Return the arguments by the names of their parameters; raises TypeError as a call does."""
    signature = inspect.signature(function)
    report = {"report": None} if "report" in signature.parameters else {}
    bound = signature.bind(*arguments, **named, **report).arguments
    return {name: value for name, value in bound.items() if name not in report}


def _messages(
    function: Callable[..., Any],
    asked: Mapping[str, object],
    limits: Limits,
    should_stop: Callable[[], bool] | None,
    should_finish: Callable[[], bool] | None,
) -> Generator[Message]:
    """Yield the progress, the items and the answer of a new process; raise its errors."""
    with _child(full_name(function), limits) as connection:
        send(connection, "call", limits)
        send(connection, "call", asked)
        while True:
            if should_stop is not None and should_stop():
                raise CancelledError
            if should_finish is not None and should_finish():
                should_finish = None
                send(connection, "finish", None)
            if _has_message(connection):
                message = receive(connection, limits.memory)
                if message.kind not in ("progress", "item", "answer"):
                    raise _error(message, limits)
                yield message


@contextmanager
def _child(name: str, limits: Limits) -> Generator[Connection]:
    """Start a process, which ends with the block or at its time limit.

    Raises ProcessError if it ends before the block does.
    """
    ours, theirs = Pipe()
    with ours:
        with theirs:
            try:
                process = subprocess.Popen(
                    [sys.executable, "-m", _MODULE, str(theirs.fileno()), name],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    # It may quote a visitor's text.
                    stderr=subprocess.DEVNULL,
                    env=environment(limits),
                    **_passing_on(theirs.fileno()),
                )
            except OSError as error:
                raise ProcessError(f"The process did not start: {error.strerror}.") from None
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            process.kill()

        # Also while a message is awaited that a process which was taken over never ends.
        timer = threading.Timer(limits.seconds, end)
        timer.daemon = True
        with process:
            try:
                timer.start()
                yield ours
            except EOFError:
                status = process.wait()
                if is_late.is_set():
                    raise _time_limit(limits.seconds) from None
                raise _exit_error(status, limits) from None
            finally:
                timer.cancel()
                process.kill()


def _has_message(connection: Connection) -> bool:
    """Wait a little for a message; raises EOFError on Windows if the other process has ended."""
    try:
        return connection.poll(_SECONDS_BETWEEN_LOOKS)
    except BrokenPipeError as error:
        raise EOFError from error


def _passing_on(descriptor: int) -> dict[str, Any]:
    """Return the arguments of Popen for a child that inherits a descriptor, or a Windows handle."""
    if sys.platform != "win32":
        return {"pass_fds": [descriptor]}
    windows: Any = subprocess
    os.set_handle_inheritable(descriptor, True)  # noqa: FBT003 - it takes no names
    return {"startupinfo": windows.STARTUPINFO(lpAttributeList={"handle_list": [descriptor]})}


def _error(message: Message, limits: Limits) -> BpeError:
    """Return the error that a process reports."""
    if message.kind == "memory":
        return _memory_limit(limits)
    if message.kind == "unforeseen":
        name = message.value(str)
        # Anything else is not the name of a class, and could be a visitor's text.
        is_name = name.isascii() and name.isidentifier()
        return UnforeseenError(name if is_name else "UnknownError")
    name, text = message.value(tuple[str, str])
    try:
        error = find(name)
    except (ValueError, ImportError, AttributeError):
        error = None
    if isinstance(error, type) and issubclass(error, BpeError):
        return error(text)
    return UnforeseenError("UnknownError")


def _exit_error(status: int, limits: Limits) -> ProcessError:
    """Return the error for a process that ended without an answer."""
    names = {-each: each.name for each in signal.Signals}
    how = names.get(status, f"signal {-status}") if status < 0 else f"status {status}"
    if how == "SIGXCPU":
        return _time_limit(limits.processor_seconds or limits.seconds)
    if how == "SIGKILL":
        return ProcessError(
            "The process was stopped by the system, most likely because memory ran out."
        )
    return ProcessError(f"The process crashed ({how}).")


def _time_limit(seconds: float) -> TimeLimitError:
    return TimeLimitError(f"It took more than {seconds:,.0f} seconds.")


def _memory_limit(limits: Limits) -> MemoryLimitError:
    if limits.memory is None:
        return MemoryLimitError("Memory ran out.")
    return MemoryLimitError(f"It took more than {limits.memory / limits.GB:.1f} GB of memory.")


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
    'bpe_core.processes.calling:find'
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
