"""Run measurements in the background, each in a separate process, with cancel and a time limit."""

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
from ui.work.background import Background
from ui.work.task import Status, Task


@dataclass(frozen=True, slots=True)
class Finished:
    """The report of a measurement, and the fingerprint of its order."""

    report: Report
    order: str


MeasurementStatus = Status[Progress, Finished]
MOST_SECONDS: Final = 180.0
MOST_WAITING: Final = 8
MOST_REMEMBERED: Final = 32
_ROOT: Final = Path(__file__).parents[2]
_COMMAND: Final = (sys.executable, "-m", "bpe_core.lab.measurements")


class MeasurementError(BpeError):
    """The measuring process reported an error, was killed or crashed."""


class MeasurementManager:
    """Runs measurements one at a time, since two at once would slow each other down."""

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
        """Queue a measurement and return its id; raises `TooMuchWorkError`."""
        id = secrets.token_urlsafe(16)
        self._background.begin(id, partial(self._measure, order), about=about)
        return id

    def shared(self, order: Order, *, about: str) -> MeasurementStatus:
        """Return the status of an order's shared measurement, queueing it if it isn't known.

        Callers with equal orders share one measurement. Raises `TooMuchWorkError`.
        """
        id = order.fingerprint
        self._background.begin(id, partial(self._measure, order), about=about)
        return self._background.status(id)

    def status(self, id: str) -> MeasurementStatus:
        """Return the status of a measurement; raises `UnknownWorkError`."""
        return self._background.status(id)

    def cancel(self, id: str) -> None:
        """End a measurement at once; it has no result."""
        self._background.cancel(id)

    def close(self) -> None:
        """End all measurements, and wait briefly for the thread to end."""
        self._background.close()

    def _measure(self, order: Order, task: Task[Progress]) -> Finished | None:
        try:
            process = subprocess.Popen(
                self._command,
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # A traceback may quote the visitor's text.
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise MeasurementError(
                f"The measuring process did not start: {error.strerror}."
            ) from None
        is_late = Event()
        with process:
            task.on_cancel(process.kill)
            limit = Timer(self._most_seconds, _kill_late, [process, is_late])
            limit.start()
            try:
                report = _exchange(process, order, task)
                if report is None:
                    # Wait for the return code, which says why there is no report.
                    process.wait()
            finally:
                limit.cancel()
                process.kill()
        if report is None and not task.is_cancelled:
            raise MeasurementError(
                f"It exceeded the limit of {self._most_seconds:,.0f} s. Try a shorter text."
                if is_late.is_set()
                else _cause_of_end(process.returncode)
            )
        return None if report is None else Finished(report, order.fingerprint)


def _kill_late(process: subprocess.Popen[bytes], is_late: Event) -> None:
    is_late.set()
    process.kill()


def _cause_of_end(returncode: int) -> str:
    if returncode == -signal.SIGKILL:
        return (
            "The system killed the measuring process: memory may have run out. Try a shorter text."
        )
    how = f"signal {-returncode}" if returncode < 0 else f"status {returncode}"
    return f"The measuring process ended without a report ({how}). This is an error in the app."


def _exchange(
    process: subprocess.Popen[bytes], order: Order, task: Task[Progress]
) -> Report | None:
    """Send a process its order and read its lines; return None if it ended without a report."""
    if process.stdin is None or process.stdout is None:
        return None
    with suppress(BrokenPipeError):  # The process has ended already.
        process.stdin.write(order.to_json())
    with suppress(BrokenPipeError):
        process.stdin.close()
    report = None
    for line in process.stdout:
        if not line.endswith(b"\n"):
            return report  # The process was killed while writing the line.
        message = read_line(line.decode())
        if isinstance(message, Progress):
            task.report(message)
        elif isinstance(message, Report):
            report = message
        else:
            raise MeasurementError(message)
    return report


@st.cache_resource(show_spinner=False)
def manager() -> MeasurementManager:
    """Return the server's manager of measurements."""
    return MeasurementManager()
