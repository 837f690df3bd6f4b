"""What a measurement says of the time left, held against a clock that moves only by its work."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from bpe_core.lab.growth import measure_growth
from bpe_core.lab.measurements import growing_sizes
from bpe_core.lab.measuring import Contender, Progress, measure

TEXT = "ab" * 233_000
SECONDS_SEEN = 0.5
"""Seconds are shown whole, so less than half of one is no difference."""


class Bench:
    """Contenders whose calls take as long on its clock as they are told, up to a fifth more."""

    def __init__(self, jitter: float) -> None:
        self.now = 0.0
        self.told: list[tuple[float, Progress]] = []
        self._jitter = jitter
        self._random = random.Random(8)

    def clock(self) -> float:
        return self.now

    def tell(self, progress: Progress) -> None:
        self.told.append((self.now, progress))

    def work(self, seconds: float) -> None:
        self.now += seconds * (1 + self._jitter * self._random.random())

    def contender(
        self,
        name: str,
        seconds_of: Callable[[int], float],
        *,
        preparing: tuple[float, float] = (0.0, 0.0),
        first_call_times: float = 1.0,
        forgets: bool = False,
    ) -> Contender:
        """`preparing` is what the first preparation takes, and each later one."""
        seen: set[int] = set()
        prepared: list[str] = []

        def run(text: str) -> str:
            n = len(text)
            self.work(seconds_of(n) * (1.0 if n in seen else first_call_times))
            seen.add(n)
            return text

        def prepare() -> Callable[[str], str]:
            self.work(preparing[bool(prepared)])
            prepared.append(name)
            return run

        return Contender(name, prepare, forgets)

    def estimates(self) -> list[tuple[float, float]]:
        """Each time left that was told, with what it truly was."""
        return [
            (progress.seconds_left, self.now - at)
            for at, progress in self.told
            if progress.seconds_left is not None
        ]

    def evenly(self) -> list[tuple[float, float]]:
        """The time left if every step took as long as those before it, with what it truly was."""
        return [
            (at * (one.of - one.done) / one.done, self.now - at)
            for at, one in self.told
            if one.done
        ]


def are_honest(estimates: list[tuple[float, float]]) -> bool:
    return all(
        true / 1.6 <= told <= true * 1.6 or abs(told - true) < SECONDS_SEEN
        for told, true in estimates
    )


@pytest.mark.parametrize("jitter", [0.0, 0.2])
@pytest.mark.parametrize("length", [360, 20_000, len(TEXT)])
def test_the_time_left_of_encoders_is_true_within_a_factor_of_1_6(
    jitter: float, length: int
) -> None:
    bench = Bench(jitter)
    contenders = [
        bench.contender("list", lambda n: 2e-6 * n**1.5),
        bench.contender("hash-map", lambda n: 3.4e-6 * n),
        bench.contender("trie", lambda n: 2.7e-6 * n, preparing=(1.3, 1.3)),
        bench.contender("longest-match", lambda n: 1.8e-6 * n, preparing=(0.6, 0.6)),
        bench.contender("cold", lambda n: 1e-4 + 2e-8 * n, preparing=(1.5, 0.6), forgets=True),
        bench.contender("warm", lambda n: 1e-4 + 1e-8 * n, first_call_times=8),
        bench.contender("tiktoken", lambda n: 1.2e-7 * n, preparing=(0.3, 0.3)),
        bench.contender("tokenizers", lambda n: 1.6e-6 * n, preparing=(0.4, 0.4)),
    ]
    measure(contenders, TEXT[:length], lambda part: part, clock=bench.clock, tell=bench.tell)
    estimates = bench.estimates()
    assert are_honest(estimates)
    assert not are_honest(bench.evenly())
    # It is told for all but the first round.
    assert len(estimates) > 0.7 * (len(bench.told) - len(contenders))
    assert estimates[0][1] > 0.25 * bench.now
    assert estimates[-1][0] == 0


@pytest.mark.parametrize("jitter", [0.0, 0.2])
@pytest.mark.parametrize("length", [20_000, 100_000, len(TEXT)])
def test_the_time_left_of_trainers_is_true_within_a_factor_of_1_6(
    jitter: float, length: int
) -> None:
    bench = Bench(jitter)
    trainers = [
        bench.contender("reference", lambda n: 0.02 + 6e-6 * n**1.25),
        bench.contender("engine", lambda n: 0.01 + 6e-8 * n, preparing=(1.0, 1.0)),
        bench.contender("tokenizers", lambda n: 0.01 + 1.2e-6 * n),
    ]
    text = TEXT[:length]
    measure_growth(trainers, text, growing_sizes(length), clock=bench.clock, tell=bench.tell)
    estimates = bench.estimates()
    assert are_honest(estimates)
    assert not are_honest(bench.evenly())
    assert estimates[0][1] > 0.2 * bench.now
    assert estimates[-1][0] == 0


def test_nothing_is_told_while_one_encoder_s_share_is_not_known() -> None:
    bench = Bench(0.0)
    one = bench.contender("one", lambda n: 0.1)
    forgetful = bench.contender("forgetful", lambda n: 0.1, preparing=(9.0, 0.4), forgets=True)
    measure([one, forgetful], "x", lambda part: part, clock=bench.clock, tell=bench.tell)
    told = [(p.name, p.seconds_left) for _, p in bench.told]
    assert told[:4] == [("one", None), ("forgetful", None), ("one", None), ("forgetful", None)]
    assert told[4] == ("one", pytest.approx(4 * 0.1 + 4 * 0.5))


def test_nothing_is_told_of_a_size_far_beyond_those_that_were_measured() -> None:
    bench = Bench(0.0)
    sizes = [1_000, 4_000, 16_000, 64_000, 256_000]
    one = bench.contender("one", lambda n: 0.3 + 1e-6 * n)
    measure_growth([one], TEXT, sizes, clock=bench.clock, tell=bench.tell)
    assert [p.seconds_left is None for _, p in bench.told] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]


def test_who_is_going_to_leave_takes_no_more_time() -> None:
    bench = Bench(0.0)
    slow = bench.contender("slow", lambda n: 1e-3 * n)
    fast = bench.contender("fast", lambda n: 0.3)
    sizes = [1_000, 2_000, 4_000, 8_000]
    measure_growth([slow, fast], TEXT, sizes, clock=bench.clock, tell=bench.tell)
    left = {(p.done, p.name): p.seconds_left for _, p in bench.told}
    assert left[4, "slow"] == pytest.approx(4 + 0.3 + 0.3)
    assert left[6, "slow"] == pytest.approx(0.3)
