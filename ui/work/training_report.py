"""Follow a training run: its progress, its rate, its curve, the time left, and its log."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

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
    seconds_left: float | None = None
    """The estimated time until its run can be shown, saving included; None until a second of
    merges."""
    is_saving: bool = False
    """Whether its merges are done and its run is being stored."""

    @property
    def bytes_per_token(self) -> float:
        """Bytes per token of the training text so far; 0 before its tokens are counted."""
        tokens = self.progress.corpus_tokens if self.progress else 0
        return self.training_bytes / tokens if tokens else 0.0

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


_MIN_ESTIMATED: Final = 1.0
# Building the tokenizer, its fingerprint and its JSON takes time for each merge, and counting the
# tokens of the held-out text for each of its bytes. Measured with 500,000 merges.
_SECONDS_A_MERGE: Final = 3e-5
_SECONDS_A_HELD_OUT_BYTE: Final = 2e-6
_MIN_ENDING_LENGTH: Final = 0.5
_MIN_FACTOR: Final = 0.2
_MAX_FACTOR: Final = 10.0


def merging_seconds(recent: Sequence[TrainingProgress]) -> float | None:
    """Estimate how long the remaining merges take; None before a second of merges.

    The first merges join the most and take the longest, so their rate alone would promise hours for
    what takes a minute. The time per merge falls about as a power of the merge's number: the power
    is measured between the two halves of `recent`, the progress of the last few seconds.
    """
    if len(recent) < 3:
        return None
    first, last = recent[0], recent[-1]
    seconds = last.elapsed_seconds - first.elapsed_seconds
    half = first.elapsed_seconds + seconds / 2
    middle = min(recent, key=lambda one: abs(one.elapsed_seconds - half))
    before, each = _seconds_a_merge(first, middle), _seconds_a_merge(middle, last)
    if seconds < _MIN_ESTIMATED or not before or not each:
        return None
    at = _number_between(middle, last)
    falls = math.log(before / each) / math.log(at / _number_between(first, middle))
    power = min(max(falls, 0.0), 1.0)
    begin, end = last.merges_done + 1, max(last.merges_wanted, last.merges_done) + 1
    if power > 0.999:
        return each * at * math.log(end / begin)
    return each * at**power * (end ** (1 - power) - begin ** (1 - power)) / (1 - power)


class EndingTime:
    """The time from the last merge until a run is stored, corrected by how long the last run took.

    >>> ending = EndingTime()
    >>> ending.seconds(500_000, held_out_bytes=0)
    15.0
    >>> ending.learn(30.0, n_merges=500_000, held_out_bytes=0)
    >>> ending.seconds(100_000, held_out_bytes=0)
    6.0
    """

    def __init__(self) -> None:
        self._factor = 1.0

    def seconds(self, n_merges: int, held_out_bytes: int) -> float:
        """Return the expected time."""
        return self._factor * _usual(n_merges, held_out_bytes)

    def learn(self, seconds: float, *, n_merges: int, held_out_bytes: int) -> None:
        """Note how long it took; short times are ignored, because they are mostly overhead."""
        usual = _usual(n_merges, held_out_bytes)
        if usual >= _MIN_ENDING_LENGTH:
            self._factor = min(max(seconds / usual, _MIN_FACTOR), _MAX_FACTOR)


def _usual(n_merges: int, held_out_bytes: int) -> float:
    return round(_SECONDS_A_MERGE * n_merges + _SECONDS_A_HELD_OUT_BYTE * held_out_bytes, 9)


def _seconds_a_merge(first: TrainingProgress, last: TrainingProgress) -> float:
    """Return the mean time of a merge between two reports; 0 if there was none."""
    merges = last.merges_done - first.merges_done
    return (last.elapsed_seconds - first.elapsed_seconds) / merges if merges else 0.0


def _number_between(first: TrainingProgress, last: TrainingProgress) -> float:
    """Return the number of the merge halfway between two reports, from 1."""
    return (first.merges_done + last.merges_done) / 2 + 1


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
