"""Measurements in the background, each in a process of its own: progress, cancel, a time limit."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event, Timer
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.lab.measurements import Order, Progress, Report, read_line
from ui.work.background import Background, Status, Task


@dataclass(frozen=True, slots=True)
class Finished:
    """What a measurement found, and the fingerprint of the order that it carried out."""

    report: Report
    order: str


MeasurementStatus = Status[Progress, Finished]
MOST_SECONDS: Final = 180.0
MOST_WAITING: Final = 8
MOST_REMEMBERED: Final = 32
_ROOT: Final = Path(__file__).parents[2]
_COMMAND: Final = (sys.executable, "-m", "bpe_core.lab.measurements")


class MeasurementError(BpeError):
    """The process that measures found something wrong, or came to a bad end."""


class MeasurementManager:
    """Runs measurements one after another: two at once would each see the other's load."""

    def __init__(
        self,
        command: Sequence[str] = _COMMAND,
        *,
        most_seconds: float = MOST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = list(command)
        self._most_seconds = most_seconds
        self._background = Background[Progress, Finished](
            "measuring", most_waiting=MOST_WAITING, most_remembered=MOST_REMEMBERED, clock=clock
        )

    def submit(self, order: Order, *, about: str) -> str:
        """Puts a measurement in the queue and gives its id; raises `TooMuchWorkError`."""
        id = secrets.token_urlsafe(16)
        self._background.begin(id, partial(self._measure, order), about=about)
        return id

    def status(self, id: str) -> MeasurementStatus:
        """How a measurement stands; `UnknownWorkError` for an id that isn't known."""
        return self._background.status(id)

    def cancel(self, id: str) -> None:
        """Ends a measurement at once; it leaves nothing behind."""
        self._background.cancel(id)

    def close(self) -> None:
        """Ends all measurements, and waits a moment for the thread to end."""
        self._background.close()

    def _measure(self, order: Order, task: Task[Progress]) -> Finished | None:
        try:
            process = subprocess.Popen(
                self._command,
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What an unforeseen error says may quote the visitor's text.
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise MeasurementError(
                f"The process that measures did not start: {error.strerror}."
            ) from None
        is_late = Event()
        with process:
            task.on_cancel(process.kill)
            limit = Timer(self._most_seconds, _end_late, [process, is_late])
            limit.start()
            try:
                report = _converse(process, order, task)
                if report is None:
                    # How it came to its end is known only then.
                    process.wait()
            finally:
                limit.cancel()
                process.kill()
        if report is None and not task.is_cancelled:
            raise MeasurementError(
                f"It was ended after {self._most_seconds:,.0f} s. Try a shorter text."
                if is_late.is_set()
                else _end_in_words(process.returncode)
            )
        return None if report is None else Finished(report, order.fingerprint)


def _end_late(process: subprocess.Popen[bytes], is_late: Event) -> None:
    is_late.set()
    process.kill()


def _end_in_words(returncode: int) -> str:
    if returncode == -signal.SIGKILL:
        return (
            "The system ended the process that measures: memory may have run out. Try a shorter "
            "text."
        )
    how = f"signal {-returncode}" if returncode < 0 else f"status {returncode}"
    return f"The process that measures ended without a word ({how}): an error of the app."


def _converse(
    process: subprocess.Popen[bytes], order: Order, task: Task[Progress]
) -> Report | None:
    """Gives a process its order and hears it out; None where it ended before it had a report."""
    if process.stdin is None or process.stdout is None:
        return None
    with suppress(BrokenPipeError):  # it was ended meanwhile
        process.stdin.write(order.to_json())
    with suppress(BrokenPipeError):
        process.stdin.close()
    report = None
    for line in process.stdout:
        if not line.endswith(b"\n"):
            return report  # it was ended in the middle of a word
        said = read_line(line.decode())
        if isinstance(said, Progress):
            task.tell(said)
        elif isinstance(said, Report):
            report = said
        else:
            raise MeasurementError(said)
    return report


@st.cache_resource(show_spinner=False)
def manager() -> MeasurementManager:
    """The one manager of measurements of this server."""
    return MeasurementManager()
