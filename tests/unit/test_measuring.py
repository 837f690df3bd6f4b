"""The protocol of measuring, by a clock that moves only when a contender works."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bpe_core.errors import ConfigError
from bpe_core.lab.growth import measure_growth
from bpe_core.lab.measuring import Contender, Progress, measure


class Bench:
    """A clock, and contenders that take as long on it as they are told."""

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
        result: Callable[[str], str] = str.upper,
        forgets: bool = False,
    ) -> Contender:
        def run(text: str) -> str:
            self.calls.append((name, len(text)))
            self.now += seconds_of(len(text))
            return result(text)

        def prepare() -> Callable[[str], str]:
            self.prepared.append(name)
            return run

        return Contender(name, prepare, forgets)


@pytest.fixture
def bench() -> Bench:
    return Bench()


TEXT = "ab" * 50_000


def test_a_fast_contender_gets_the_whole_text_and_a_slow_one_a_part(bench: Bench) -> None:
    fast = bench.contender("fast", lambda n: n * 1e-7)
    slow = bench.contender("slow", lambda n: n * 1e-4)
    found = measure([fast, slow], TEXT, str.upper, clock=bench.clock)
    assert [(one.name, one.is_whole) for one in found] == [("fast", True), ("slow", False)]
    assert found[0].megabytes_per_second == pytest.approx(10)
    assert found[1].megabytes_per_second == pytest.approx(0.01)
    assert 0.1 < found[1].seconds <= 1.0


@pytest.mark.parametrize("power", [1, 2, 3])
def test_no_call_takes_longer_than_its_share_however_its_time_grows(
    bench: Bench, power: int
) -> None:
    slow = bench.contender("slow", lambda n: 1e-2 * (n / 64) ** power)
    measure([slow], TEXT, str.upper, seconds_a_call=1.0, clock=bench.clock)
    assert max(1e-2 * (n / 64) ** power for _, n in bench.calls) <= 1.0
    assert bench.now <= 10


def test_contenders_are_timed_in_turn(bench: Bench) -> None:
    one, other = (bench.contender(name, lambda n: 0.1) for name in ("one", "other"))
    measure([one, other], "x", str.upper, n_rounds=3, clock=bench.clock)
    assert [name for name, _ in bench.calls[-6:]] == ["one", "other"] * 3


def test_the_time_that_counts_is_the_median(bench: Bench) -> None:
    seconds = iter([0.1, 0.1, 9.0, 0.1, 0.2, 0.1])
    (found,) = measure(
        [bench.contender("uneven", lambda n: next(seconds))], "x", str.upper, clock=bench.clock
    )
    assert (found.seconds, found.n_calls) == (pytest.approx(0.1), 5)


def test_long_calls_sit_out_the_rounds_after_the_third(bench: Bench) -> None:
    (found,) = measure(
        [bench.contender("long", lambda n: 0.5)], "x", str.upper, n_rounds=9, clock=bench.clock
    )
    assert found.n_calls == 3


def test_another_result_is_said_and_timed_all_the_same(bench: Bench) -> None:
    odd = bench.contender("odd", lambda n: 0.1, result=str.lower)
    (found,) = measure([odd], "Ab", str.upper, clock=bench.clock)
    assert not found.is_equal
    assert found.seconds == pytest.approx(0.1)


def test_a_result_is_compared_on_the_part_that_it_is_of(bench: Bench) -> None:
    slow = bench.contender("slow", lambda n: n * 1e-3)
    (found,) = measure([slow], TEXT, str.upper, clock=bench.clock)
    assert found.n_bytes < len(TEXT)
    assert found.is_equal


def test_one_that_cannot_take_part_says_why_and_the_others_go_on(bench: Bench) -> None:
    def refuse() -> Callable[[str], str]:
        raise ConfigError("It has no pattern.")

    able = bench.contender("able", lambda n: 0.1)
    found = measure([Contender("unable", refuse), able], "x", str.upper, clock=bench.clock)
    assert [one.problem for one in found] == ["It has no pattern.", None]
    assert found[0].megabytes_per_second == 0


def test_what_remembers_is_prepared_once_and_what_forgets_before_each_timed_call(
    bench: Bench,
) -> None:
    keeps = bench.contender("keeps", lambda n: 0.1)
    forgets = bench.contender("forgets", lambda n: 0.1, forgets=True)
    measure([keeps, forgets], "x", str.upper, n_rounds=4, clock=bench.clock)
    assert bench.prepared.count("keeps") == 1
    assert bench.prepared.count("forgets") == 1 + 4


def test_progress_goes_up_to_the_end(bench: Bench) -> None:
    told: list[Progress] = []
    contenders = [bench.contender(name, lambda n: 0.5) for name in ("one", "other")]
    measure(contenders, "x", str.upper, clock=bench.clock, tell=told.append)
    done = [progress.done for progress in told]
    assert done == sorted(done)
    assert told[0] == Progress(0, 12, "one")
    assert told[-1] == Progress(12, 12, "", 0.0)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_who_would_take_too_long_leaves_the_field(bench: Bench, power: int) -> None:
    slow = bench.contender("slow", lambda n: 0.01 * (n / 1_000) ** power)
    fast = bench.contender("fast", lambda n: n * 1e-8)
    sizes = [1_000, 4_000, 16_000, 64_000, 100_000]
    found = measure_growth([slow, fast], TEXT, sizes, seconds_a_call=2.0, clock=bench.clock)
    assert [one.n_bytes for one in found if one.name == "fast"] == sizes
    of_slow = [one for one in found if one.name == "slow"]
    assert len(of_slow) >= 2
    assert max(one.seconds for one in of_slow) <= 2.0
    assert all(one.is_equal for one in found)


def test_results_are_compared_with_the_first_that_did_the_size(bench: Bench) -> None:
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
