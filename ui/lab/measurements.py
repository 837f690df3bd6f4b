"""Run measurements in the background, each in a separate process, with cancel and a time limit."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError, ProcessError, UnforeseenError
from bpe_core.lab.measurements import LabOrder, LabProgress, Results, run_in_process
from bpe_core.processes.limits import Limits
from ui.work.background import Background
from ui.work.task import Status, Task


@dataclass(frozen=True, slots=True)
class FinishedMeasurement:
    """The results of a measurement, and the fingerprint of its order."""

    results: Results
    order: str


MeasurementStatus = Status[LabProgress, FinishedMeasurement]
MAX_SECONDS: Final = 180.0
MAX_WAITING: Final = 8
MAX_CACHED: Final = 32


class MeasurementError(BpeError):
    """The measuring process exceeded its limit of time, was killed or crashed."""


class MeasurementManager(Background[LabProgress, FinishedMeasurement]):
    """Runs measurements one at a time, since two at once would slow each other down."""

    def __init__(self, *, max_seconds: float = MAX_SECONDS) -> None:
        self._max_seconds = max_seconds
        super().__init__("measuring", max_waiting=MAX_WAITING, max_cached=MAX_CACHED)

    def submit(self, order: LabOrder, *, about: str) -> str:
        """Queue a measurement and return its id; raises `TooMuchWorkError`."""
        id = secrets.token_urlsafe(16)
        self.begin(id, partial(self._measure, order), about=about)
        return id

    def shared(self, order: LabOrder, *, about: str) -> MeasurementStatus:
        """Return the status of an order's shared measurement, queueing it if it isn't known.

        Callers with equal orders share one measurement. Raises `TooMuchWorkError`.
        """
        return self.begin(order.fingerprint, partial(self._measure, order), about=about)

    def _measure(self, order: LabOrder, task: Task[LabProgress]) -> FinishedMeasurement:
        try:
            results = run_in_process(
                order,
                limits=Limits(self._max_seconds),
                on_progress=task.report,
                should_stop=lambda: task.is_cancelled,
            )
        except UnforeseenError:
            raise
        except ProcessError as error:
            raise MeasurementError(f"{error} Try a shorter text.") from None
        return FinishedMeasurement(results, order.fingerprint)


@st.cache_resource(show_spinner=False)
def manager() -> MeasurementManager:
    """Return the server's manager of measurements."""
    return MeasurementManager()
