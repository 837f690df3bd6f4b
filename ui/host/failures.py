"""Contain an error in the part of a page that raised it, and log it without a visitor's text.

Each page has a boundary, set in `run_page`, and so do each fragment and the run picker. The
exceptions with which Streamlit stops or reruns a script pass through: they derive from
BaseException.

The log has one JSON object per line. The app logs events: a name, and fields that are numbers or a
`Code`. Of what a library logs, only the place in its code is written, the type of an error and its
stack, because any message may quote a text, a file name, an address or the id of a run.
"""

from __future__ import annotations

import errno
import faulthandler
import hashlib
import json
import logging
import os
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, Final, ParamSpec, TextIO

import streamlit as st

from bpe_core.errors import BpeError
from ui.host.server_settings import Level
from ui.look import plain_markdown

Params = ParamSpec("Params")

_ROOT: Final = Path(__file__).parents[2]
_EVENTS: Final = logging.getLogger("bpe_explorer.events")
_CODE: Final = re.compile(r"[A-Za-z0-9_.]{1,64}")
_MAX_FRAMES: Final = 40
MAX_EVENTS_A_MINUTE: Final = 60
"""Of each kind."""
MAX_ERRORS_A_MINUTE: Final = 10
"""Of each kind of warning and error."""
_log = logging.getLogger(__name__)


@contextmanager
def error_boundary(what: str, draw_failure: Callable[[str], None]) -> Generator[None]:
    """Pass a message in Markdown to `draw_failure` if the block raises an error.

    `what` is the subject of the message, such as "This page".
    """
    try:
        yield
    except BpeError as error:
        draw_failure(plain_markdown(str(error), 600))
    except Exception as error:
        draw_failure(log_unforeseen(error, what))


@contextmanager
def errors_shown() -> Generator[None]:
    """Show an error of the package that the block raises, and go on after the block."""
    try:
        yield
    except BpeError as error:
        st.error(plain_markdown(str(error), 1_000))


def fragment(
    *, run_every: float | None = None
) -> Callable[[Callable[Params, None]], Callable[Params, None]]:
    """Return a decorator that makes a function a Streamlit fragment with its own boundary."""

    def decorate(function: Callable[Params, None]) -> Callable[Params, None]:
        def draw_failure(message: str) -> None:
            st.error(f"{message} The rest of the page is not affected.")
            # A fragment that runs on a timer retries by itself.
            if run_every is None:
                st.button("Try again", key=f"try_again_{function.__qualname__}")

        @st.fragment(run_every=run_every)
        @wraps(function)
        def contained(*args: Params.args, **kwargs: Params.kwargs) -> None:
            with error_boundary("This part of the page", draw_failure):
                function(*args, **kwargs)

        return contained

    return decorate


class Code(str):
    """A word that the app chose, such as an outcome; never a visitor's text.

    Raises ValueError for anything but letters, digits, dots and underscores.
    """

    __slots__ = ()

    def __new__(cls, text: str) -> Code:
        """Check and wrap a word."""
        if _CODE.fullmatch(text) is None:
            raise ValueError("Expected a code of letters, digits, dots and underscores.")
        return super().__new__(cls, text)


Field = int | float | Code


def short_id(id: str) -> Code:
    """Return a code that tells ids apart in the log, but opens nothing.

    >>> short_id("0" * 32)
    '84e0c0ea'
    """
    return Code(hashlib.sha256(id.encode()).hexdigest()[:8])


def event(name: str, level: Level = "info", /, **fields: Field) -> None:
    """Log an event; raise TypeError for a field of plain text."""
    for key, value in fields.items():
        if not isinstance(value, int | float | Code):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"Expected a number or a Code for {key}, got {type(value).__name__}.")
    _EVENTS.log(logging.getLevelNamesMapping()[level.upper()], name, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Format a record as a line of JSON without its message, unless it is an event."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": at, "level": record.levelname.lower()}
        if record.name == _EVENTS.name:
            line |= {"event": record.msg, **getattr(record, "fields", {})}
        else:
            place = f"{_place(record.pathname)}:{record.lineno}"
            line |= {"event": "log", "logger": record.name, "at": place}
        if left_out := getattr(record, "left_out", 0):
            line["left_out"] = left_out
        return json.dumps(line | _error_fields(_find_error(record)))


class _Bounded(logging.Filter):
    """Let a few records of each kind pass in a minute, so that nobody can fill the disk with them.

    A kind is an event or a place in the code, with the error that it is about. The first record of
    a later minute has the number of those that were left out.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._passed: dict[tuple[object, ...], tuple[int, int]] = {}
        """The minute of each kind's last record, and how many it had then."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_event = record.name == _EVENTS.name
        place = record.msg if is_event else (record.pathname, record.lineno)
        kind = (place, _raised(_find_error(record)))
        minute = int(time.monotonic() // 60)
        most = MAX_ERRORS_A_MINUTE if record.levelno >= logging.WARNING else MAX_EVENTS_A_MINUTE
        with self._lock:
            last, n_records = self._passed.get(kind, (minute, 0))
            if last != minute:
                record.left_out = max(0, n_records - most)
                n_records = 0
            self._passed[kind] = (minute, n_records + 1)
        return n_records < most


def log_as_json(level: Level) -> None:
    """Write this process's log as JSON lines to the present stderr, and nothing else.

    What is printed to stdout and stderr from now on, here or by child processes, is discarded:
    a library may print a message with a visitor's text. Crashes still leave the stacks of Python.
    """
    stream = os.fdopen(os.dup(2), "w", buffering=1, encoding="ascii", errors="backslashreplace")
    sys.stdout.flush()
    sys.stderr.flush()
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    handler_to(stream, level)
    faulthandler.enable(stream)
    sys.excepthook = lambda _, error, __: log_error(error)
    threading.excepthook = lambda given: log_error(given.exc_value)
    sys.unraisablehook = lambda given: log_error(given.exc_value)


def handler_to(stream: TextIO, level: Level) -> None:
    """Send all loggers' records to one handler, which writes JSON lines to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    number = logging.getLevelNamesMapping()[level.upper()]
    # What libraries log is of interest from warnings on.
    of_libraries = number if number == logging.DEBUG else max(number, logging.WARNING)
    # Loggers may have levels of their own, but the handler has the last word.
    handler.addFilter(
        lambda record: record.levelno >= (number if record.name == _EVENTS.name else of_libraries)
    )
    handler.addFilter(_Bounded())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(of_libraries)
    logging.captureWarnings(capture=True)
    for name in list(logging.root.manager.loggerDict):
        _pass_on(logging.getLogger(name))
    _EVENTS.setLevel(number)
    _take_over_streamlits_loggers()


def log_error(error: BaseException | None) -> None:
    """Log an error that nothing handled."""
    _EVENTS.error("unforeseen_error", extra={"unforeseen": error})


def _pass_on(logger: logging.Logger) -> None:
    logger.handlers.clear()
    logger.propagate = True


def _take_over_streamlits_loggers() -> None:
    # Streamlit gives each of its loggers a handler of its own, also those that it makes later.
    from streamlit import logger

    logger.setup_formatter = _pass_on


def _find_error(record: logging.LogRecord) -> BaseException | None:
    """Return the error that a record is about: its own, or one among its arguments."""
    unforeseen = getattr(record, "unforeseen", None)
    if isinstance(unforeseen, BaseException):
        return unforeseen
    if record.exc_info and record.exc_info[1] is not None:
        return record.exc_info[1]
    given = record.args if isinstance(record.args, tuple) else ()
    return next((each for each in (record.msg, *given) if isinstance(each, BaseException)), None)


def _raised(error: BaseException | None) -> str:
    """Return the type of an error and the place where it was raised, without its message."""
    frames: list[traceback.FrameSummary] = []
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__, -1)
    return f"{type(error).__name__} {frames}"


def _error_fields(error: BaseException | None) -> dict[str, Any]:
    if error is None:
        return {}
    fields: dict[str, Any] = {"error": type(error).__name__}
    if isinstance(error, OSError) and error.errno is not None:
        fields["errno"] = errno.errorcode.get(error.errno, str(error.errno))
    if frames := traceback.extract_tb(error.__traceback__, -_MAX_FRAMES):
        fields["frames"] = [f"{_place(f.filename)}:{f.lineno} in {f.name}" for f in frames]
    return fields


def _place(path: str) -> str:
    """Return a source file's path from the app's folder or the packages' folder on.

    >>> _place("/usr/lib/python3/site-packages/streamlit/web/cli.py")
    'streamlit/web/cli.py'
    """
    inside = path.rpartition("site-packages/")[2]
    return inside.removeprefix(f"{_ROOT}/")


def log_unforeseen(error: BaseException, what: str = "It") -> str:
    """Log an unforeseen error, and return the sentence to show; `what` is its subject.

    Both name the error's type; the log has its stack frames too. The error's message is left out,
    because it may quote the visitor's text.
    """
    frames = "".join(traceback.format_tb(error.__traceback__))
    _log.error(
        "%s ended in an unforeseen %s\n%s",
        what,
        type(error).__name__,
        frames,
        extra={"unforeseen": error},  # the server's log takes only the type and the frames
    )
    return f"{what} stopped because of an error in the app ({type(error).__name__})."
