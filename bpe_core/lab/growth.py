"""How long several ways to do the same take on longer and longer beginnings of a text."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bpe_core.lab.measuring import (
    ENOUGH_CALLS,
    SHORT,
    Clock,
    Contender,
    Progress,
    Tell,
    say_nothing,
    timed,
)

_FAR: Final = 16
"""Times what was measured: further on, two measurements of a few milliseconds tell nothing."""

History = Sequence[tuple[int, float]]
"""The sizes that a contender has done, each with its seconds."""


@dataclass(frozen=True, slots=True)
class Grown:
    """How long one contender took for one size of text."""

    name: str
    n_bytes: int
    seconds: float
    n_calls: int
    is_equal: bool
    """Whether its result is that of the first contender that did this size."""


def measure_growth(
    contenders: Sequence[Contender],
    text: str,
    sizes: Sequence[int],
    *,
    seconds_a_call: float = 5.0,
    clock: Clock = time.perf_counter,
    tell: Tell = say_nothing,
) -> list[Grown]:
    """Time each contender on longer and longer beginnings of a text, `sizes` in characters.

    A contender leaves the field before a size that, by how its time has grown so far, would take
    it longer than `seconds_a_call`. A short call is made three times, and the median counts.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> [(p.name, p.n_bytes, p.is_equal) for p in measure_growth([upper, swap], "aB", [1, 2])]
    [('upper', 1, True), ('swap', 1, True), ('upper', 2, True), ('swap', 2, False)]
    """
    functions = {contender.name: contender.prepare() for contender in contenders}
    steps = [(name, size) for size in sizes for name in functions]
    history: dict[str, list[tuple[int, float]]] = {name: [] for name in functions}
    out: set[str] = set()
    found: list[Grown] = []
    first_results: dict[int, Any] = {}
    for done, (name, size) in enumerate(steps):
        left = _seconds_left(history, steps[done:], out, seconds_a_call)
        tell(Progress(done, len(steps), name, left))
        if name in out or _predicted(history[name], size) > seconds_a_call:
            out.add(name)
            continue
        part = text[:size]
        times: list[float] = []
        result: Any = None
        while not times or (len(times) < ENOUGH_CALLS and times[0] < SHORT):
            result, seconds = timed(functions[name], part, clock)
            times.append(seconds)
        history[name].append((size, median(times)))
        is_equal = result == first_results.setdefault(size, result)
        found.append(Grown(name, len(part.encode()), median(times), len(times), is_equal))
    tell(Progress(len(steps), len(steps), "", 0.0))
    return found


def _predicted(history: History, size: int) -> float:
    """Return what a size takes if time goes on growing by the power that the last two sizes show.

    It never grows less than in proportion: this decides who leaves, so it errs on the high side.
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


def _seconds_left(
    measured: Mapping[str, History],
    steps: Iterable[tuple[str, int]],
    out: Collection[str],
    seconds_a_call: float,
) -> float | None:
    """Return how long the steps to come take; None where too little is known of one of them."""
    history = {name: list(known) for name, known in measured.items()}
    gone = set(out)
    total = 0.0
    for name, size in steps:
        known = history[name]
        if name in gone or _predicted(known, size) > seconds_a_call:
            gone.add(name)
            continue
        if len(known) < 2 or size > _FAR * measured[name][-1][0]:
            return None
        seconds = _expected(known, size)
        known.append((size, seconds))
        total += seconds * (ENOUGH_CALLS if seconds < SHORT else 1)
    return total


def _expected(history: History, size: int) -> float:
    """Return what a size is likely to take, by the last two sizes.

    Time that grows less than in proportion is taken to grow on a straight line: part of it doesn't
    depend on the text. Otherwise it is what `_predicted` says.
    """
    (size_before, before), (last_size, last) = history[-2:]
    slope = max(0.0, last - before) / (last_size - size_before)
    on_a_line = last + slope * (size - last_size)
    in_proportion = last * size / last_size
    return on_a_line if on_a_line < in_proportion else _predicted(history, size)
