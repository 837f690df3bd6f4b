"""Test measuring and its estimates of the time left with a clock that only work advances."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

import bpe_core as bpe
from bpe_core.errors import ConfigError
from bpe_core.lab import N_MERGES
from bpe_core.lab.contenders import encoders, trainers
from bpe_core.lab.measurements import growing_sizes, measure_growth
from bpe_core.lab.measuring import Contender, LabProgress, UsualTime, time_contenders

TEXT = "ab" * 50_000
LONG_TEXT = "ab" * 233_000
MIN_SHOWN = 0.5
"""The page shows whole seconds, so a difference of less than half a second is not visible."""


class Bench:
    """A clock, and contenders whose calls take a given time on it, with random jitter."""

    def __init__(self, jitter: float = 0.0, seed: int = 8) -> None:
        self.now = 0.0
        self.calls: list[tuple[str, int]] = []
        self.prepared: list[str] = []
        self.reports: list[tuple[float, LabProgress]] = []
        self._jitter = jitter
        self._random = random.Random(seed)

    def clock(self) -> float:
        return self.now

    def on_progress(self, progress: LabProgress) -> None:
        self.reports.append((self.now, progress))

    def work(self, seconds: float) -> None:
        self.now += seconds * (1 + self._jitter * self._random.random())

    def contender(
        self,
        name: str,
        seconds_of: Callable[[int], float],
        *,
        result: Callable[[str], str] = str.upper,
        preparing: tuple[float, float] = (0.0, 0.0),
        first_call_times: float = 1.0,
        is_prepared_each_call: bool = False,
        usual: UsualTime | None = None,
    ) -> Contender:
        """Return a contender; `preparing` is the time of its first and later preparations."""

        def run(text: str) -> str:
            call = (name, len(text))
            self.work(seconds_of(len(text)) * (1.0 if call in self.calls else first_call_times))
            self.calls.append(call)
            return result(text)

        def prepare() -> Callable[[str], str]:
            self.work(preparing[name in self.prepared])
            self.prepared.append(name)
            return run

        return Contender(name, prepare, is_prepared_each_call, usual)

    def unlike(self, contender: Contender, slower: float) -> Contender:
        """Return a contender whose times differ from its usual ones.

        All its times are `slower` times as long, times one random factor from 1/1.4 to 1.4.
        """
        usual = contender.usual
        assert usual is not None
        times = slower * 1.4 ** self._random.uniform(-1, 1)
        return self.contender(
            contender.name,
            lambda n: times * usual.of_call(n),
            preparing=(times * usual.preparing + 0.02, times * usual.preparing),
            is_prepared_each_call=contender.is_prepared_each_call,
            usual=usual,
        )

    def estimates(self) -> list[tuple[float, float]]:
        """Return each reported time left, with the actual one."""
        return [
            (progress.seconds_left, self.now - at)
            for at, progress in self.reports
            if progress.seconds_left is not None
        ]

    @property
    def share_without_estimate(self) -> float:
        """The share of the time that passes before every further step has an estimate."""
        (*_, (last, _)) = [
            (place, at) for place, (at, one) in enumerate(self.reports) if one.seconds_left is None
        ]
        return self.reports[last + 1][0] / self.now


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
    assert reports[-1] == LabProgress(12, 12, "", 0.0)


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


# Estimates of the time left


def are_good(estimates: list[tuple[float, float]], within: float = 1.6) -> bool:
    return all(
        actual / within <= estimate <= actual * within or abs(estimate - actual) < MIN_SHOWN
        for estimate, actual in estimates
    )


@pytest.mark.parametrize("jitter", [0.0, 0.2])
@pytest.mark.parametrize("length", [360, 20_000, len(LONG_TEXT)])
def test_the_time_left_of_encoders_is_right_within_a_factor_of_1_6(
    jitter: float, length: int
) -> None:
    bench = Bench(jitter)
    contenders = [
        bench.contender("list", lambda n: 2e-6 * n**1.5),
        bench.contender("hash-map", lambda n: 3.4e-6 * n),
        bench.contender("trie", lambda n: 2.7e-6 * n, preparing=(1.3, 1.3)),
        bench.contender("longest-match", lambda n: 1.8e-6 * n, preparing=(0.6, 0.6)),
        bench.contender(
            "cold", lambda n: 1e-4 + 2e-8 * n, preparing=(1.5, 0.6), is_prepared_each_call=True
        ),
        bench.contender("warm", lambda n: 1e-4 + 1e-8 * n, first_call_times=8),
        bench.contender("tiktoken", lambda n: 1.2e-7 * n, preparing=(0.3, 0.3)),
        bench.contender("tokenizers", lambda n: 1.6e-6 * n, preparing=(0.4, 0.4)),
    ]
    time_contenders(
        contenders,
        LONG_TEXT[:length],
        str.upper,
        clock=bench.clock,
        on_progress=bench.on_progress,
    )
    estimates = bench.estimates()
    assert are_good(estimates)
    # Every round but the first has estimates.
    assert len(estimates) > 0.7 * (len(bench.reports) - len(contenders))
    assert estimates[0][1] > 0.25 * bench.now
    assert estimates[-1][0] == 0


@pytest.mark.parametrize("jitter", [0.0, 0.2])
@pytest.mark.parametrize("length", [20_000, 100_000, len(LONG_TEXT)])
def test_the_time_left_of_trainers_is_right_within_a_factor_of_1_6(
    jitter: float, length: int
) -> None:
    bench = Bench(jitter)
    trainers = [
        bench.contender("reference", lambda n: 0.02 + 6e-6 * n**1.25),
        bench.contender("engine", lambda n: 0.01 + 6e-8 * n, preparing=(1.0, 1.0)),
        bench.contender("tokenizers", lambda n: 0.01 + 1.2e-6 * n),
    ]
    text = LONG_TEXT[:length]
    sizes = growing_sizes(length)
    measure_growth(trainers, text, sizes, clock=bench.clock, on_progress=bench.on_progress)
    estimates = bench.estimates()
    assert are_good(estimates)
    assert estimates[0][1] > 0.2 * bench.now
    assert estimates[-1][0] == 0


def test_there_is_no_estimate_until_every_preparation_has_been_timed() -> None:
    bench = Bench(0.0)
    warm = bench.contender("warm", lambda n: 0.1)
    cold = bench.contender("cold", lambda n: 0.1, preparing=(9.0, 0.4), is_prepared_each_call=True)
    time_contenders([warm, cold], "x", str.upper, clock=bench.clock, on_progress=bench.on_progress)
    estimates = [(p.name, p.seconds_left) for _, p in bench.reports]
    assert estimates[:4] == [("warm", None), ("cold", None), ("warm", None), ("cold", None)]
    assert estimates[4] == ("warm", pytest.approx(4 * 0.1 + 4 * 0.5))


def test_there_is_no_estimate_while_a_size_far_beyond_the_measured_ones_remains() -> None:
    bench = Bench(0.0)
    sizes = [1_000, 4_000, 16_000, 64_000, 256_000]
    one = bench.contender("one", lambda n: 0.3 + 1e-6 * n)
    measure_growth([one], LONG_TEXT, sizes, clock=bench.clock, on_progress=bench.on_progress)
    assert [p.seconds_left is None for _, p in bench.reports] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_the_estimate_excludes_contenders_that_will_drop_out() -> None:
    bench = Bench(0.0)
    slow = bench.contender("slow", lambda n: 1e-3 * n)
    fast = bench.contender("fast", lambda n: 0.3)
    sizes = [1_000, 2_000, 4_000, 8_000]
    measure_growth([slow, fast], LONG_TEXT, sizes, clock=bench.clock, on_progress=bench.on_progress)
    left = {(p.done, p.name): p.seconds_left for _, p in bench.reports}
    assert left[4, "slow"] == pytest.approx(4 + 0.3 + 0.3)
    assert left[6, "slow"] == pytest.approx(0.3)


@pytest.mark.slow
@pytest.mark.parametrize("slower", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("n_merges", [40, 4_000, 50_000])
@pytest.mark.parametrize("length", [10_000, len(LONG_TEXT)])
def test_the_time_left_of_encoders_is_known_after_the_first_of_them(
    slower: float, n_merges: int, length: int
) -> None:
    tokenizer = bpe.gpt2().truncated(min(n_merges, bpe.gpt2().n_merges))
    shares: list[float] = []
    for _ in range(5):
        bench = Bench(0.2, seed=len(shares))
        contenders = [bench.unlike(one, slower) for one in encoders(tokenizer)]
        time_contenders(
            contenders,
            LONG_TEXT[:length],
            str.upper,
            clock=bench.clock,
            on_progress=bench.on_progress,
        )
        assert [progress.seconds_left is None for _, progress in bench.reports[:3]] == [
            True,
            False,
            False,
        ]
        assert are_good(bench.estimates(), within=2.0)
        shares.append(bench.share_without_estimate)
    assert max(shares) < 0.3


@pytest.mark.parametrize("slower", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("length", [10_000, 100_000, len(LONG_TEXT)])
def test_the_time_left_of_trainers_is_known_after_the_first_of_them(
    slower: float, length: int
) -> None:
    shares: list[float] = []
    for seed in range(5):
        bench = Bench(0.2, seed=seed)
        contenders = [bench.unlike(one, slower) for one in trainers(N_MERGES)]
        sizes = growing_sizes(length)
        measure_growth(
            contenders, LONG_TEXT[:length], sizes, clock=bench.clock, on_progress=bench.on_progress
        )
        assert [progress.seconds_left is None for _, progress in bench.reports[:2]] == [True, False]
        assert are_good(bench.estimates(), within=2.0)
        shares.append(bench.share_without_estimate)
    # On a short text, the first call takes a large part of the time, because there are few calls.
    assert max(shares) < (0.25 if length > 10_000 else 0.7)


def test_usual_times_of_another_order_of_size_are_corrected_as_contenders_are_timed() -> None:
    bench = Bench(0.0)
    usual = UsualTime(0.0, 1e-6)
    slow = [
        bench.contender(name, lambda n: 1e-4 * n, usual=usual) for name in ("one", "two", "three")
    ]
    time_contenders(slow, LONG_TEXT, str.upper, clock=bench.clock, on_progress=bench.on_progress)
    assert are_good(bench.estimates())
