"""Test measuring with a clock that only work advances."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bpe_core.errors import ConfigError
from bpe_core.lab.measurements import Contender, LabProgress, measure_growth, time_contenders

TEXT = "ab" * 50_000


class Bench:
    """A clock, and contenders whose calls take a given time on it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[tuple[str, int]] = []
        self.prepared: list[str] = []

    def clock(self) -> float:
        return self.now

    def contender(
        self,
        name: str,
        seconds_of: Callable[[int], float],
        *,
        result: Callable[[str], str] = str.upper,
        is_prepared_each_call: bool = False,
    ) -> Contender:
        def run(text: str) -> str:
            self.now += seconds_of(len(text))
            self.calls.append((name, len(text)))
            return result(text)

        def prepare() -> Callable[[str], str]:
            self.prepared.append(name)
            return run

        return Contender(name, prepare, is_prepared_each_call)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_fast_contender_gets_the_whole_text_and_a_slow_one_part_of_it(bench: Bench) -> None:
    fast = bench.contender("fast", lambda n: n * 1e-7)
    slow = bench.contender("slow", lambda n: n * 1e-4)
    found = time_contenders([fast, slow], TEXT, str.upper, clock=bench.clock)
    assert [(one.name, one.is_whole) for one in found] == [("fast", True), ("slow", False)]
    assert found[0].megabytes_per_second == pytest.approx(10)
    assert found[1].megabytes_per_second == pytest.approx(0.01)
    assert 0.1 < found[1].seconds <= 1.0


@pytest.mark.parametrize("power", [1, 2, 3])
def test_no_call_exceeds_the_limit_however_its_time_grows(bench: Bench, power: int) -> None:
    slow = bench.contender("slow", lambda n: 1e-2 * (n / 64) ** power)
    time_contenders([slow], TEXT, str.upper, seconds_a_call=1.0, clock=bench.clock)
    assert max(1e-2 * (n / 64) ** power for _, n in bench.calls) <= 1.0
    assert bench.now <= 10


def test_contenders_are_timed_in_turn(bench: Bench) -> None:
    one, other = (bench.contender(name, lambda n: 0.1) for name in ("one", "other"))
    time_contenders([one, other], "x", str.upper, n_rounds=3, clock=bench.clock)
    assert [name for name, _ in bench.calls[-6:]] == ["one", "other"] * 3


def test_the_median_of_the_calls_is_reported(bench: Bench) -> None:
    seconds = iter([0.1, 0.1, 9.0, 0.1, 0.2, 0.1])
    (found,) = time_contenders(
        [bench.contender("uneven", lambda n: next(seconds))], "x", str.upper, clock=bench.clock
    )
    assert (found.seconds, found.n_calls) == (pytest.approx(0.1), 5)


def test_a_contender_with_long_calls_is_timed_in_three_rounds_only(bench: Bench) -> None:
    (found,) = time_contenders(
        [bench.contender("long", lambda n: 0.5)], "x", str.upper, n_rounds=9, clock=bench.clock
    )
    assert found.n_calls == 3


def test_a_contender_with_an_unequal_result_is_marked_and_still_timed(bench: Bench) -> None:
    odd = bench.contender("odd", lambda n: 0.1, result=str.lower)
    (found,) = time_contenders([odd], "Ab", str.upper, clock=bench.clock)
    assert not found.is_equal
    assert found.seconds == pytest.approx(0.1)


def test_a_result_is_compared_with_the_one_expected_for_its_part(bench: Bench) -> None:
    slow = bench.contender("slow", lambda n: n * 1e-3)
    (found,) = time_contenders([slow], TEXT, str.upper, clock=bench.clock)
    assert found.n_bytes < len(TEXT)
    assert found.is_equal


def test_a_contender_that_cannot_be_prepared_is_reported_and_the_others_measured(
    bench: Bench,
) -> None:
    def refuse() -> Callable[[str], str]:
        raise ConfigError("It has no pattern.")

    able = bench.contender("able", lambda n: 0.1)
    found = time_contenders([Contender("unable", refuse), able], "x", str.upper, clock=bench.clock)
    assert [one.problem for one in found] == ["It has no pattern.", None]
    assert found[0].megabytes_per_second == 0


def test_a_cold_contender_is_prepared_before_each_timed_call_and_others_once(
    bench: Bench,
) -> None:
    warm = bench.contender("warm", lambda n: 0.1)
    cold = bench.contender("cold", lambda n: 0.1, is_prepared_each_call=True)
    time_contenders([warm, cold], "x", str.upper, n_rounds=4, clock=bench.clock)
    assert bench.prepared.count("warm") == 1
    assert bench.prepared.count("cold") == 1 + 4


def test_progress_rises_to_the_last_step(bench: Bench) -> None:
    reports: list[LabProgress] = []
    contenders = [bench.contender(name, lambda n: 0.5) for name in ("one", "other")]
    time_contenders(contenders, "x", str.upper, clock=bench.clock, on_progress=reports.append)
    done = [progress.done for progress in reports]
    assert done == sorted(done)
    assert reports[0] == LabProgress(0, 12, "one")
    assert reports[-1] == LabProgress(12, 12, "")


@pytest.mark.parametrize("power", [1, 2, 3])
def test_a_contender_that_would_take_too_long_drops_out(bench: Bench, power: int) -> None:
    slow = bench.contender("slow", lambda n: 0.01 * (n / 1_000) ** power)
    fast = bench.contender("fast", lambda n: n * 1e-8)
    sizes = [1_000, 4_000, 16_000, 64_000, 100_000]
    found = measure_growth([slow, fast], TEXT, sizes, seconds_a_call=2.0, clock=bench.clock)
    assert [one.n_bytes for one in found if one.name == "fast"] == sizes
    of_slow = [one for one in found if one.name == "slow"]
    assert len(of_slow) >= 2
    assert max(one.seconds for one in of_slow) <= 2.0
    assert all(one.is_equal for one in found)


def test_results_are_compared_with_the_first_contender_at_each_size(bench: Bench) -> None:
    slow = bench.contender("slow", lambda n: n * 3e-2)
    lower = bench.contender("lower", lambda n: 0.01, result=str.lower)
    other = bench.contender("other", lambda n: 0.01)
    found = measure_growth(
        [slow, lower, other], TEXT, [10, 20], seconds_a_call=1.0, clock=bench.clock
    )
    assert [(one.name, one.n_bytes, one.is_equal) for one in found] == [
        ("slow", 10, True),
        ("lower", 10, False),
        ("other", 10, True),
        ("lower", 20, True),
        ("other", 20, False),
    ]
