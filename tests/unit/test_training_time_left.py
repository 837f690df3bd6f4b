"""Estimates of a training's time left, compared with the time that it then takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest

from bpe_core.types import TrainingProgress
from ui.work.task import Task
from ui.work.training import TrainingStep
from ui.work.training_report import (
    EndingTime,
    Reporter,
    TrainingReport,
    merging_seconds,
    note_recent,
)

N_MERGES = 50_000


def estimates(seconds_of: Callable[[int], float]) -> list[tuple[float, float]]:
    """Return each estimate with the true time left, if merge number n takes `seconds_of(n)`."""
    now, reported = 0.0, 0.0
    found: list[tuple[float, float]] = []
    recent = deque[TrainingProgress]()
    for done in range(N_MERGES + 1):
        if now - reported >= 0.05 or not done:
            note_recent(recent, TrainingProgress(done, N_MERGES, now, 9, 2))
            if (left := merging_seconds(recent)) is not None:
                found.append((now, left))
            reported = now
        now += seconds_of(done + 1) if done < N_MERGES else 0.0
    return [(left, now - at) for at, left in found]


def test_merges_of_equal_time_are_estimated_exactly() -> None:
    for left, truth in estimates(lambda n: 0.0004):
        assert left == pytest.approx(truth, rel=0.02, abs=0.1)


@pytest.mark.parametrize(("first", "power"), [(0.05, 0.3), (0.05, 0.6), (0.5, 0.9), (0.5, 1.0)])
def test_merges_that_get_faster_are_estimated_well_from_the_start(
    first: float, power: float
) -> None:
    found = estimates(lambda n: first * n**-power)
    assert len(found) > 2
    for left, truth in found:
        assert truth / 2 - 0.5 <= left <= 2 * truth + 0.5


def test_merges_with_a_fixed_part_are_not_overestimated_tenfold() -> None:
    found = estimates(lambda n: 0.0001 + 0.5 / n)
    assert all(left <= 3 * truth + 0.5 for left, truth in found)


def test_there_is_no_estimate_before_a_second_of_merges() -> None:
    def report(done: int, seconds: float) -> TrainingProgress:
        return TrainingProgress(done, 100, seconds, 9, 2)

    assert merging_seconds([]) is None
    assert merging_seconds([report(0, 9.0)]) is None
    assert merging_seconds([report(0, 9.0), report(5, 9.4), report(9, 9.9)]) is None
    assert merging_seconds([report(0, 9.0), report(0, 11.0)]) is None
    assert merging_seconds([report(0, 9.0), report(50, 10.0)]) is None
    steady = [report(0, 9.0), report(25, 9.5), report(50, 10.0)]
    assert merging_seconds(steady) == pytest.approx(1.0)


def test_after_the_last_merge_no_merges_are_left() -> None:
    done = [TrainingProgress(n, 100, n / 10, 9, 2) for n in (50, 75, 100)]
    assert merging_seconds(done) == 0


def test_the_time_left_of_the_merges_includes_saving() -> None:
    task, ending = Task[TrainingReport](), EndingTime()
    reporter = Reporter(task, ending)
    reporter(TrainingStep(9, 5_000_000))
    for done in (0, 25, 50):
        reporter(TrainingStep(9, 5_000_000, TrainingProgress(done, 100, done / 50, 9, 2)))
    assert task.progress is not None
    assert task.progress.seconds_left == pytest.approx(1.0 + ending.seconds(100, 5_000_000))
    assert ending.seconds(100, 5_000_000) > 10


def test_the_ending_is_learned_from_long_runs_only_and_within_limits() -> None:
    ending = EndingTime()
    usual = ending.seconds(100_000, 1_000_000)
    ending.learn(9.0, n_merges=10, held_out_bytes=0)
    assert ending.seconds(100_000, 1_000_000) == usual
    ending.learn(2 * usual, n_merges=100_000, held_out_bytes=1_000_000)
    assert ending.seconds(100_000, 1_000_000) == pytest.approx(2 * usual)
    ending.learn(1e9, n_merges=100_000, held_out_bytes=1_000_000)
    assert ending.seconds(100_000, 1_000_000) == pytest.approx(10 * usual)
