"""Measurements in processes of their own: queue, progress, cancel, time limit, and what fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from bpe_core.lab.measurements import Order, Progress
from tests.waiting import wait_until
from ui.lab.measurements import MOST_WAITING, MeasurementManager
from ui.work.background import TooMuchWorkError, UnknownWorkError

ORDER = Order("training", "hug hugs " * 10)
SAYS_PROGRESS = (
    'import json; p = {"done": 3, "of": 12, "name": "trie", "seconds_compiling": None}; '
    'print(json.dumps({"progress": p}), flush=True); '
)
WAITS = "import sys, time; sys.stdin.read(); " + SAYS_PROGRESS + "time.sleep(60)"


@pytest.fixture
def managers() -> Iterator[Callable[..., MeasurementManager]]:
    made: list[MeasurementManager] = []

    def make(code: str | None = None, most_seconds: float = 60.0) -> MeasurementManager:
        if code is None:
            made.append(MeasurementManager(most_seconds=most_seconds))
        else:
            command = [sys.executable, "-c", code]
            made.append(MeasurementManager(command, most_seconds=most_seconds))
        return made[-1]

    yield make
    for manager in made:
        manager.close()


def test_a_measurement_ends_with_a_report(managers: Callable[..., MeasurementManager]) -> None:
    manager = managers()
    status = wait_until(manager, manager.submit(ORDER, about="hugs"))
    assert (status.state, status.about, status.problem) == ("finished", "hugs", None)
    assert status.result is not None
    assert {point.name for point in status.result.report.training} == {
        "reference",
        "engine",
        "tokenizers",
    }


def test_progress_is_seen_and_a_cancel_ends_the_process_at_once(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(WAITS)
    id = manager.submit(ORDER, about="")
    status = wait_until(manager, id, lambda status: status.progress is not None)
    assert status.progress == Progress(3, 12, "trie")
    manager.cancel(id)
    assert wait_until(manager, id).state == "cancelled"


def test_one_waits_for_the_other_and_may_be_cancelled_before_it_runs(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(WAITS)
    first, second, third = (manager.submit(ORDER, about="") for _ in range(3))
    wait_until(manager, first, lambda status: status.state == "running")
    assert manager.status(third).n_ahead == 2
    manager.cancel(second)
    assert manager.status(second).state == "cancelled"
    assert manager.status(third).n_ahead == 1
    manager.cancel(first)
    wait_until(manager, third, lambda status: status.state == "running")


def test_a_measurement_without_end_is_ended(managers: Callable[..., MeasurementManager]) -> None:
    manager = managers(WAITS, most_seconds=0.2)
    status = wait_until(manager, manager.submit(ORDER, about=""))
    assert status.state == "failed"
    assert "shorter text" in str(status.problem)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise SystemExit(1)", "status 1"),
        ("import os; os.abort()", "signal 6"),
        ("print('{\"rep', end='', flush=True)", "status 0"),
        ("import os; os.kill(os.getpid(), 9)", "memory may have run out"),
    ],
)
def test_a_process_that_dies_is_said(
    managers: Callable[..., MeasurementManager], code: str, told: str
) -> None:
    manager = managers(code)
    long = Order("training", "hug " * 200_000)
    status = wait_until(manager, manager.submit(long, about=""))
    assert status.state == "failed"
    assert told in str(status.problem)
    # And the next one is measured.
    again = wait_until(manager, manager.submit(ORDER, about=""))
    assert again.state == "failed"


def test_a_process_that_cannot_start_is_said() -> None:
    manager = MeasurementManager(["/no/such/python"])
    status = wait_until(manager, manager.submit(ORDER, about=""))
    manager.close()
    assert status.state == "failed"
    assert "did not start" in str(status.problem)


def test_an_unknown_id_and_too_many_are_said(managers: Callable[..., MeasurementManager]) -> None:
    manager = managers(WAITS)
    with pytest.raises(UnknownWorkError):
        manager.status("x")
    first = manager.submit(ORDER, about="")
    wait_until(manager, first, lambda status: status.state == "running")
    for _ in range(MOST_WAITING):
        manager.submit(ORDER, about="")
    with pytest.raises(TooMuchWorkError):
        manager.submit(ORDER, about="")
