"""Measurements in the background, each in a process of its own: progress, cancel, a time limit."""

from __future__ import annotations

import atexit
import secrets
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread, Timer
from typing import Final, Literal

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.lab.measurements import Order, Progress, Report, read_line

State = Literal["queued", "running", "finished", "cancelled", "failed"]
MOST_SECONDS: Final = 180.0
MOST_WAITING: Final = 8
MOST_REMEMBERED: Final = 32
_ROOT: Final = Path(__file__).parent.parent
_COMMAND: Final = (sys.executable, "-m", "bpe_core.lab.measurements")
_SECONDS_TO_END: Final = 2.0


class MeasurementNotFoundError(BpeError):
    """No measurement is known under this id."""


class TooManyMeasurementsError(BpeError):
    """More measurements wait than the server will keep."""


@dataclass(frozen=True, slots=True)
class MeasurementStatus:
    """A measurement as it stood when it was asked for."""

    id: str
    about: str
    """What was measured, in the words of whoever asked for it."""
    state: State
    n_ahead: int
    """How many go before it; 0 once it runs."""
    progress: Progress | None
    elapsed_seconds: float
    """Since it began to run; how long it took in all, once it has ended."""
    report: Report | None
    problem: str | None
    """What went wrong, for the person who asked; None save where it failed."""

    @property
    def is_live(self) -> bool:
        """Whether it waits or runs."""
        return self.state in ("queued", "running")

    @property
    def seconds_left(self) -> float | None:
        """How long the rest takes if it goes on as so far; None before there is enough to tell."""
        if self.progress is None or self.progress.done == 0:
            return None
        return self.elapsed_seconds * (self.progress.of - self.progress.done) / self.progress.done


@dataclass(slots=True)
class _Measurement:
    id: str
    about: str
    number: int
    order: Order | None
    """None once it runs or is cancelled: a text may be long."""
    state: State = "queued"
    progress: Progress | None = None
    started: float = 0.0
    elapsed_seconds: float = 0.0
    report: Report | None = None
    problem: str | None = None
    process: subprocess.Popen[bytes] | None = None
    is_cancelled: Event = field(default_factory=Event)
    is_late: Event = field(default_factory=Event)


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
        self._clock = clock
        self._lock = Lock()
        self._known: dict[str, _Measurement] = {}
        self._submitted = 0
        self._waiting: SimpleQueue[_Measurement | None] = SimpleQueue()
        self._thread = Thread(target=self._work_on_all, name="measuring", daemon=True)
        self._thread.start()

    def submit(self, order: Order, *, about: str) -> str:
        """Puts a measurement in the queue and gives its id."""
        with self._lock:
            if sum(one.state == "queued" for one in self._known.values()) >= MOST_WAITING:
                raise TooManyMeasurementsError(
                    f"{MOST_WAITING} measurements are waiting already. Try again in a minute."
                )
            ended = [one.id for one in self._known.values() if not _is_live(one)]
            for old in ended[: max(0, len(self._known) - MOST_REMEMBERED + 1)]:
                del self._known[old]
            self._submitted += 1
            made = _Measurement(secrets.token_urlsafe(16), about, self._submitted, order)
            self._known[made.id] = made
            self._waiting.put(made)
        return made.id

    def status(self, id: str) -> MeasurementStatus:
        """How a measurement stands; MeasurementNotFoundError for an id that isn't known."""
        with self._lock:
            one = self._find(id)
            ahead = sum(_is_live(each) for each in self._known.values() if each.number < one.number)
            elapsed = one.elapsed_seconds
            if one.state == "running":
                elapsed = self._clock() - one.started
            return MeasurementStatus(
                id=one.id,
                about=one.about,
                state=one.state,
                n_ahead=ahead if one.state == "queued" else 0,
                progress=one.progress,
                elapsed_seconds=elapsed,
                report=one.report,
                problem=one.problem,
            )

    def cancel(self, id: str) -> None:
        """Ends a measurement at once; it leaves nothing behind."""
        with self._lock:
            self._stop(self._find(id))

    def close(self) -> None:
        """Ends all measurements, and waits a moment for the thread to end."""
        with self._lock:
            for one in self._known.values():
                self._stop(one)
        self._waiting.put(None)
        self._thread.join(_SECONDS_TO_END)

    def _stop(self, one: _Measurement) -> None:
        one.is_cancelled.set()
        if one.process is not None:
            one.process.kill()
        if one.state == "queued":
            one.state, one.order = "cancelled", None

    def _find(self, id: str) -> _Measurement:
        one = self._known.get(id)
        if one is None:
            raise MeasurementNotFoundError(
                "The measurement at this address is not known any more: the server has started "
                "anew since, or many others came after it. Measure again."
            )
        return one

    def _work_on_all(self) -> None:
        while (one := self._waiting.get()) is not None:
            with self._lock:
                order, one.order = one.order, None
                if order is None:
                    continue
                one.state, one.started = "running", self._clock()
            self._work(one, order)

    def _work(self, one: _Measurement, order: Order) -> None:
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
            self._end(one, problem=f"The process that measures did not start: {error.strerror}.")
            return
        with process:
            with self._lock:
                one.process = process
                if one.is_cancelled.is_set():
                    process.kill()
            limit = Timer(self._most_seconds, self._run_late, [one, process])
            limit.start()
            try:
                self._converse(one, process, order)
            finally:
                limit.cancel()
                process.kill()
        self._end(one)

    def _run_late(self, one: _Measurement, process: subprocess.Popen[bytes]) -> None:
        one.is_late.set()
        process.kill()

    def _converse(self, one: _Measurement, process: subprocess.Popen[bytes], order: Order) -> None:
        if process.stdin is None or process.stdout is None:
            return
        with suppress(BrokenPipeError):  # it was ended meanwhile
            process.stdin.write(order.to_json())
        with suppress(BrokenPipeError):
            process.stdin.close()
        for line in process.stdout:
            if not line.endswith(b"\n"):
                return  # it was ended in the middle of a word
            said = read_line(line.decode())
            with self._lock:
                if isinstance(said, Progress):
                    one.progress = said
                elif isinstance(said, Report):
                    one.report = said
                else:
                    one.problem = said

    def _end(self, one: _Measurement, *, problem: str | None = None) -> None:
        with self._lock:
            one.process = None
            one.elapsed_seconds = self._clock() - one.started
            one.problem = problem or one.problem
            if one.report is not None:
                one.state = "finished"
            elif one.is_cancelled.is_set():
                one.state = "cancelled"
            else:
                one.state = "failed"
                one.problem = one.problem or (
                    f"It was ended after {self._most_seconds:,.0f} s. Try a shorter text."
                    if one.is_late.is_set()
                    else "The process that measures ended without a word: memory may have run "
                    "out. Try a shorter text."
                )


def _is_live(one: _Measurement) -> bool:
    return one.state in ("queued", "running")


@st.cache_resource(show_spinner=False)
def manager() -> MeasurementManager:
    """The one manager of measurements of this server."""
    made = MeasurementManager()
    atexit.register(made.close)
    return made
