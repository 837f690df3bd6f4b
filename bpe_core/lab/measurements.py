"""Run a measurement: of encoders, or of trainers on longer and longer prefixes of a text.

It runs in a separate process, so that other threads of the server don't distort the times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from statistics import median
from typing import Any, Final, Literal

from bpe_core.extras import needs_extra
from bpe_core.kernels import wait_for_kernels
from bpe_core.lab.contenders import encoders, expected_ids, trainers
from bpe_core.lab.measuring import (
    ENOUGH_CALLS,
    N_ROUNDS,
    SECONDS_A_CALL,
    SHORT,
    Clock,
    Contender,
    ContenderTime,
    LabProgress,
    OnProgress,
    ignore_progress,
    time_contenders,
    timed,
)
from bpe_core.processes import Limits, Report
from bpe_core.tokenizer import Tokenizer

with needs_extra("app", "Measuring in another process"):
    from bpe_core.processes import call


Kind = Literal["encoding", "training"]
N_MERGES: Final = 500
MAX_CHARACTERS: Final = 2_000_000
SMALL_CHARACTERS: Final = 10_000
SMALL_TRAINING_CHARACTERS: Final = 64_000
"""Enough for the engine to use its kernels, as it does on longer texts."""
_SMALL_SECONDS_A_CALL: Final = 0.1
_SMALL_ROUNDS: Final = 3
_SMALLEST: Final = 1_000
_FACTOR: Final = 4


History = Sequence[tuple[int, float]]
"""The sizes measured for a contender, each with its seconds."""


@dataclass(frozen=True, slots=True)
class GrowthPoint:
    """The time of one contender for one size of text."""

    name: str
    n_bytes: int
    seconds: float
    n_calls: int
    is_equal: bool
    """Whether its result equals that of the first contender measured at this size."""


@dataclass(frozen=True, slots=True)
class LabOrder:
    """A measurement to run: of encoding with a tokenizer, or of training, on a text."""

    kind: Kind
    text: str
    tokenizer: Tokenizer | None = None
    """None for a measurement of training."""
    is_small: bool = False
    """Whether encoders get fewer and shorter calls; see `small_order`."""

    @property
    def fingerprint(self) -> str:
        """A hash of all fields.

        >>> LabOrder("training", "hug").fingerprint == LabOrder("training", "hugs").fingerprint
        False
        """
        tokenizer = "" if self.tokenizer is None else self.tokenizer.fingerprint
        named = f"{self.kind} {self.is_small} {tokenizer} {self.text}"
        return sha256(named.encode("utf-8", "surrogatepass")).hexdigest()


def small_order(text: str, tokenizer: Tokenizer | None = None) -> LabOrder:
    """Return the order of a measurement that takes a few seconds.

    It covers the beginning of the text, and measures encoders if there is a tokenizer, in three
    calls of at most a tenth of a second each, or else trainers.

    >>> from bpe_core.tokenizer import gpt2
    >>> len(small_order("hug " * 20_000, gpt2()).text), len(small_order("hug " * 20_000).text)
    (10000, 64000)
    """
    if tokenizer is None:
        return LabOrder("training", text[:SMALL_TRAINING_CHARACTERS], is_small=True)
    return LabOrder("encoding", text[:SMALL_CHARACTERS], tokenizer, is_small=True)


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a measurement, of encoding or of training; the other is empty."""

    encoding: tuple[ContenderTime, ...] = ()
    training: tuple[GrowthPoint, ...] = ()


def run_in_process(
    order: LabOrder,
    *,
    limits: Limits,
    on_progress: OnProgress,
    should_stop: Callable[[], bool] | None = None,
) -> Results:
    """Run a measurement in its own process; raises as `call` does.

    >>> run_in_process(LabOrder("encoding", ""), limits=Limits(seconds=60), on_progress=print)
    Results(encoding=(), training=())
    """
    from bpe_core.formats import tokenizer_to_dict

    tokenizer = None if order.tokenizer is None else tokenizer_to_dict(order.tokenizer)
    return call(
        measure_here,
        order.kind,
        order.text,
        tokenizer,
        is_small=order.is_small,
        limits=limits,
        on_progress=on_progress,
        should_stop=should_stop,
    )


def measure_here(
    kind: Kind,
    text: str,
    tokenizer: dict[str, Any] | None,
    *,
    is_small: bool,
    report: Report[LabProgress],
) -> Results:
    """Run a measurement in this process, once its kernels are compiled; raises `BpeError`."""
    from bpe_core.formats import tokenizer_from_dict

    described = None if tokenizer is None else tokenizer_from_dict(tokenizer)
    wait_for_kernels(lambda seconds: report(LabProgress(0, 1, "", seconds_compiling=seconds)))
    order = LabOrder(kind, text, described, is_small)
    return run_order(order, lambda progress: report(progress, must_arrive=True))


def run_order(order: LabOrder, on_progress: OnProgress) -> Results:
    """Run a measurement; raises `BpeError`.

    >>> report = run_order(LabOrder("training", "hug hugs"), lambda progress: None)
    >>> sorted({point.name for point in report.training})
    ['engine', 'reference', 'tokenizers']
    """
    if order.kind == "training":
        sizes = growing_sizes(len(order.text))
        points = measure_growth(trainers(N_MERGES), order.text, sizes, on_progress=on_progress)
        return Results(training=tuple(points))
    if order.tokenizer is None:
        return Results()
    found = time_contenders(
        encoders(order.tokenizer),
        order.text,
        expected_ids(order.tokenizer),
        seconds_a_call=_SMALL_SECONDS_A_CALL if order.is_small else SECONDS_A_CALL,
        n_rounds=_SMALL_ROUNDS if order.is_small else N_ROUNDS,
        on_progress=on_progress,
    )
    return Results(encoding=tuple(found))


def growing_sizes(n_characters: int) -> list[int]:
    """Return the sizes at which to measure training: powers of four times 1,000, then the whole.

    >>> growing_sizes(20_000)
    [1000, 4000, 16000, 20000]
    """
    sizes = [min(_SMALLEST, n_characters)]
    while sizes[-1] < n_characters:
        sizes.append(min(sizes[-1] * _FACTOR, n_characters))
    return sizes


def measure_growth(
    contenders: Sequence[Contender],
    text: str,
    sizes: Sequence[int],
    *,
    seconds_a_call: float = 5.0,
    clock: Clock = time.perf_counter,
    on_progress: OnProgress = ignore_progress,
) -> list[GrowthPoint]:
    """Time each contender on longer and longer prefixes of a text, `sizes` in characters.

    A contender drops out before a size predicted, from the growth of its time so far, to take
    longer than `seconds_a_call`. Short calls are repeated three times and the median is taken.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> [(p.name, p.n_bytes, p.is_equal) for p in measure_growth([upper, swap], "aB", [1, 2])]
    [('upper', 1, True), ('swap', 1, True), ('upper', 2, True), ('swap', 2, False)]
    """
    functions = {contender.name: contender.prepare() for contender in contenders}
    steps = [(name, size) for size in sizes for name in functions]
    history: dict[str, list[tuple[int, float]]] = {name: [] for name in functions}
    dropped: set[str] = set()
    found: list[GrowthPoint] = []
    first_results: dict[int, Any] = {}
    for done, (name, size) in enumerate(steps):
        on_progress(LabProgress(done, len(steps), name))
        if name in dropped or _cautious_seconds(history[name], size) > seconds_a_call:
            dropped.add(name)
            continue
        part = text[:size]
        times: list[float] = []
        result: Any = None
        while not times or (len(times) < ENOUGH_CALLS and times[0] < SHORT):
            result, seconds = timed(functions[name], part, clock)
            times.append(seconds)
        history[name].append((size, median(times)))
        is_equal = result == first_results.setdefault(size, result)
        found.append(GrowthPoint(name, len(part.encode()), median(times), len(times), is_equal))
    on_progress(LabProgress(len(steps), len(steps), ""))
    return found


def _cautious_seconds(history: History, size: int) -> float:
    """Return the time for a size if time keeps growing by the power seen in the last two sizes.

    The power is at least 1. This decides who drops out, so it errs on the high side.
    """
    if not history:
        return 0.0
    last_size, last = history[-1]
    power = 2.0
    if len(history) > 1:
        size_before, before = history[-2]
        if before > 0 and last > 0:
            power = max(1.0, math.log(last / before) / math.log(last_size / size_before))
    return last * (size / last_size) ** power
