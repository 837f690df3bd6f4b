"""Follow a training run: its progress, its rate, its curve and the time left."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bpe_core.types import TrainingProgress
from ui.work.task import Task
from ui.work.time_left import EndingTime, merging_seconds
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
    progress: TrainingProgress | None = None
    merges_a_second: float | None = None
    curve: tuple[CurvePoint, ...] = ()
    seconds_left: float | None = None
    is_saving: bool = False

    @property
    def done(self) -> int:
        return self.progress.merges_done if self.progress else 0

    @property
    def of(self) -> int:
        return self.progress.merges_wanted if self.progress else 0


class Reporter:
    """Report a job's progress with its rate, its curve and the time left."""

    def __init__(self, task: Task[TrainingReport], ending: EndingTime) -> None:
        self._task = task
        self._held_out_bytes = 0
        self._ending = ending
        self._recent = deque[TrainingProgress]()
        self._last = TrainingReport()
        # The last merge may be followed by seconds of building the run before the next report.
        self._merges_ended = time.monotonic()

    def __call__(self, step: TrainingStep) -> None:
        """Report a step of the training."""
        if step.progress is not None:
            self._last = self._after(step.progress)
        elif step.is_saving:
            left = self._ending.seconds(self._last.done, self._held_out_bytes)
            left = max(0.0, left - (time.monotonic() - self._merges_ended))
            self._last = replace(self._last, seconds_left=left, is_saving=True)
        else:
            self._recent.clear()
            self._held_out_bytes = step.held_out_bytes
            self._last = TrainingReport(step.training_bytes)
        self._task.report(self._last)

    def _after(self, progress: TrainingProgress) -> TrainingReport:
        curve = self._last.curve
        note_recent(self._recent, progress)
        if progress.seconds_compiling is None:
            spacing = max(1, progress.merges_wanted // CURVE_POINTS)
            if not curve or progress.merges_done >= curve[-1].merges_done + spacing:
                curve = (*curve, CurvePoint(progress.merges_done, progress.corpus_tokens))
        left = merging_seconds(self._recent)
        if left is not None:
            left += self._ending.seconds(progress.merges_wanted, self._held_out_bytes)
        if progress.merges_done < progress.merges_wanted:
            self._merges_ended = time.monotonic()
        return replace(
            self._last,
            progress=progress,
            merges_a_second=merges_a_second(self._recent),
            curve=curve,
            seconds_left=left,
        )

    def saved(self, n_merges: int) -> None:
        """Learn from the time that this run took, for the estimates of the next."""
        seconds = time.monotonic() - self._merges_ended
        self._ending.learn(seconds, n_merges=n_merges, held_out_bytes=self._held_out_bytes)


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
