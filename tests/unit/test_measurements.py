"""Test measurements in separate processes: progress, cancelling, time limit and failures."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bpe_core.lab import measurements
from bpe_core.lab.measurements import LabOrder, LabProgress, Results
from tests import lab_in_child
from tests.waiting import wait_until
from ui.lab.measurements import MeasurementManager

ORDER = LabOrder("training", "hug hugs " * 10)


@pytest.fixture
def managers(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[..., MeasurementManager]]:
    created: list[MeasurementManager] = []

    def make(
        measure: Callable[..., Results] = measurements.measure_here, max_seconds: float = 60.0
    ) -> MeasurementManager:
        monkeypatch.setattr(measurements, "measure_here", measure)
        created.append(MeasurementManager(max_seconds=max_seconds))
        return created[-1]

    yield make
    for manager in created:
        manager.close()


@pytest.mark.slow
def test_a_measurement_ends_with_a_report(managers: Callable[..., MeasurementManager]) -> None:
    manager = managers()
    status = wait_until(manager, manager.submit(ORDER, about="hugs"))
    assert (status.state, status.about, status.problem) == ("finished", "hugs", None)
    assert status.result is not None
    assert {point.name for point in status.result.results.training} == {
        "reference",
        "engine",
        "tokenizers",
    }


def test_progress_is_reported_and_cancelling_kills_the_process_at_once(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(lab_in_child.wait)
    id = manager.submit(ORDER, about="")
    status = wait_until(manager, id, lambda status: status.progress is not None)
    assert status.progress == LabProgress(3, 12, "trie")
    manager.cancel(id)
    assert wait_until(manager, id).state == "cancelled"


def test_only_equal_requests_share_a_measurement(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(lab_in_child.wait)
    first, second = (manager.shared(LabOrder("training", "hug"), about="") for _ in range(2))
    small = manager.shared(LabOrder("training", "hug", is_small=True), about="")
    assert first.id == second.id
    assert small.id != first.id
    assert small.n_ahead == 1


def test_a_measurement_is_killed_at_the_time_limit(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(lab_in_child.wait, max_seconds=0.2)
    status = wait_until(manager, manager.submit(ORDER, about=""))
    assert status.state == "failed"
    assert "shorter text" in str(status.problem)


def test_the_death_of_the_process_is_reported(
    managers: Callable[..., MeasurementManager],
) -> None:
    manager = managers(lab_in_child.crash)
    status = wait_until(manager, manager.submit(ORDER, about=""))
    assert status.state == "failed"
    assert "memory ran out. Try a shorter text." in str(status.problem)
    # The next measurement still runs.
    again = wait_until(manager, manager.submit(ORDER, about=""))
    assert again.state == "failed"
