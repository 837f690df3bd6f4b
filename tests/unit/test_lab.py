"""Test measurements: what is measured, in this process and in one of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

import bpe_core as bpe
from bpe_core.lab import measurements
from bpe_core.lab.contenders import ENCODERS, trainers
from bpe_core.lab.measurements import (
    SMALL_CHARACTERS,
    LabOrder,
    LabProgress,
    Results,
    growing_sizes,
    run_in_process,
    run_order,
    small_order,
)
from bpe_core.lab.measuring import ignore_progress
from bpe_core.processes.limits import Limits
from tests import lab_in_child
from tests.waiting import wait_until
from ui.lab.measurements import MeasurementManager

LINE = "hug hugs, hugging 12 pugs: naïve 日本\n"
TEXT = LINE * 20
TOKENIZER = bpe.train(bpe.Corpus.from_text(TEXT), bpe.TrainingConfig(280)).tokenizer


@pytest.mark.slow
def test_the_process_measures_every_encoder_and_reports_progress() -> None:
    progress: list[LabProgress] = []
    # Short enough for every encoder to measure all of it on any machine.
    order = LabOrder("encoding", LINE, TOKENIZER)
    results = run_in_process(order, limits=Limits(seconds=240), on_progress=progress.append)
    assert tuple(one.name for one in results.encoding) == ENCODERS
    for one in results.encoding:
        assert one.problem is None
        assert one.n_bytes == len(LINE.encode())
        assert one.megabytes_per_second > 0
        assert one.is_equal or one.name == "longest-match"
    assert {line.name for line in progress} == {*ENCODERS, ""}


def test_a_small_measurement_makes_three_calls_on_the_start_of_the_text() -> None:
    order = small_order(TEXT * 100, TOKENIZER)
    results = run_order(order, ignore_progress)
    assert order.text == (TEXT * 100)[:SMALL_CHARACTERS]
    assert {one.n_calls for one in results.encoding} == {3}
    assert max(one.n_bytes for one in results.encoding) <= len(order.text.encode())


def test_training_is_measured_at_growing_sizes() -> None:
    results = run_order(LabOrder("training", TEXT * 2), ignore_progress)
    assert {(one.name, one.n_bytes) for one in results.training} == {
        (name, len((TEXT * 2)[:size].encode()))
        for name in (trainer.name for trainer in trainers(1))
        for size in growing_sizes(len(TEXT * 2))
    }
    assert all(one.is_equal for one in results.training)


@pytest.mark.parametrize("n", [0, 1, 999, 1_000, 1_001, 4_000, 123_456])
def test_sizes_grow_up_to_the_whole_text(n: int) -> None:
    sizes = growing_sizes(n)
    assert sizes[-1] == n
    assert sizes == sorted(set(sizes))


# Measurements in separate processes: progress, cancelling, time limit and failures


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
