"""Follow a training run: its progress, its rate, its curve, and its log."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bpe_core.types import TrainingProgress
from ui.host import Code, event, short_id
from ui.work.task import Result, Step, Task, Work
from ui.work.training import TrainingStep

CURVE_POINTS = 400
# The rate of merges is measured over the last few seconds, because the first merges are slowest.
_MAX_MEASURED = 3.0
_MIN_MEASURED = 0.5


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The number of tokens in the corpus after `merges_done` merges."""

    merges_done: int
    corpus_tokens: int


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The values that a training run reports in progress."""

    training_bytes: int = 0
    """The size of the training text, without held-out text; 0 until the training runs."""
    progress: TrainingProgress | None = None
    merges_a_second: float | None = None
    """Measured over the last few seconds; None until half a second can be measured."""
    curve: tuple[CurvePoint, ...] = ()
    is_saving: bool = False
    """Whether its merges are done and its run is being stored."""

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token of the training text so far; 0 before its tokens are counted."""
        tokens = self.progress.corpus_tokens if self.progress else 0
        return self.training_bytes / tokens if tokens else 0.0

    @property
    def seconds_left(self) -> float | None:
        """The time until the last merge at the present rate, None without one.

        Merges get faster, so the rest takes less than that.
        """
        rate = self.merges_a_second
        return None if rate is None else (self.of - self.done) / rate

    @property
    def done(self) -> int:
        return self.progress.merges_done if self.progress else 0

    @property
    def of(self) -> int:
        return self.progress.merges_wanted if self.progress else 0


class Reporter:
    """Report a job's progress with its rate and its curve."""

    def __init__(self, task: Task[TrainingReport]) -> None:
        self._task = task
        self._recent = deque[TrainingProgress]()
        self._last = TrainingReport()

    def __call__(self, step: TrainingStep) -> None:
        """Report a step of the training."""
        if step.progress is not None:
            self._last = self._after(step.progress)
        elif step.is_saving:
            self._last = replace(self._last, is_saving=True)
        else:
            self._recent.clear()
            self._last = TrainingReport(step.training_bytes)
        self._task.report(self._last)

    def _after(self, progress: TrainingProgress) -> TrainingReport:
        curve = self._last.curve
        note_recent(self._recent, progress)
        if progress.seconds_compiling is None:
            spacing = max(1, progress.merges_wanted // CURVE_POINTS)
            if not curve or progress.merges_done >= curve[-1].merges_done + spacing:
                curve = (*curve, CurvePoint(progress.merges_done, progress.corpus_tokens))
        rate = merges_a_second(self._recent)
        return replace(self._last, progress=progress, merges_a_second=rate, curve=curve)


def note_recent(recent: deque[TrainingProgress], progress: TrainingProgress) -> None:
    """Append `progress` to `recent`, and drop entries older than a few seconds."""
    if progress.seconds_compiling is not None:
        return
    recent.append(progress)
    while len(recent) > 2 and progress.elapsed_seconds - recent[1].elapsed_seconds >= (
        _MAX_MEASURED
    ):
        recent.popleft()


def merges_a_second(recent: Sequence[TrainingProgress]) -> float | None:
    """Return the rate over the last few seconds; None before half a second of merges."""
    if not recent:
        return None
    seconds = recent[-1].elapsed_seconds - recent[0].elapsed_seconds
    merges = recent[-1].merges_done - recent[0].merges_done
    return merges / seconds if seconds >= _MIN_MEASURED and merges else None


def duration(seconds: float) -> str:
    """Return a rounded duration in words.

    >>> duration(5), duration(200), duration(56_000)
    ('5 s', '3 min', '16 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:,.0f} h"


def logged(id: str, work: Work[Step, Result], *, n_bytes: int) -> Work[Step, Result]:
    """Return `work` with an event when it begins and one when it ends; `n_bytes` is its input."""
    job, queued = short_id(id), time.monotonic()

    def work_and_log(task: Task[Step]) -> Result | None:
        started = time.monotonic()
        waited = round(started - queued, 3)
        event("training_started", job=job, bytes=n_bytes, waited_seconds=waited)
        outcome = "cancelled"
        try:
            result = work(task)
            if result is not None and not task.is_cancelled:
                outcome = "finished"
        except BaseException as error:
            outcome = type(error).__name__
            raise
        finally:
            seconds = round(time.monotonic() - started, 3)
            event("training_ended", job=job, outcome=Code(outcome), seconds=seconds)
        return result

    return work_and_log
