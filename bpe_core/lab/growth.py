"""Time several functions that compute the same on longer and longer prefixes of a text."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bpe_core.lab.measuring import (
    Clock,
    Contender,
    LabProgress,
    OnProgress,
    ignore_progress,
    timed,
)
from bpe_core.lab.usual_times import ENOUGH_CALLS, SHORT, UsualTime, estimate_factor

_MAX_EXTRAPOLATED: Final = 16
"""As a multiple of the last size measured: beyond it, two times of a few milliseconds predict
nothing."""
_DOUBTFUL: Final = 1.6
"""An estimate within this factor of the limit, above or below, decides nothing."""

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
    usual = {contender.name: contender.usual for contender in contenders}
    steps = [(name, size) for size in sizes for name in functions]
    history: dict[str, list[tuple[int, float]]] = {name: [] for name in functions}
    dropped: set[str] = set()
    found: list[GrowthPoint] = []
    first_results: dict[int, Any] = {}
    for done, (name, size) in enumerate(steps):
        left = _seconds_left(history, steps[done:], dropped, seconds_a_call, usual)
        on_progress(LabProgress(done, len(steps), name, left))
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
    on_progress(LabProgress(len(steps), len(steps), "", 0.0))
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


def _seconds_left(
    measured: Mapping[str, History],
    steps: Iterable[tuple[str, int]],
    dropped: Collection[str],
    seconds_a_call: float,
    usual: Mapping[str, UsualTime | None],
) -> float | None:
    """Return the expected time of the remaining steps; None if one of them can't be predicted."""
    history = {name: list(known) for name, known in measured.items()}
    chance = {name: 0.0 if name in dropped else 1.0 for name in measured}
    total = 0.0
    for name, size in steps:
        known = history[name]
        cautious = _cautious_seconds(known, size)
        is_decided = len(known) == len(measured[name])
        chance[name] *= _chance_to_stay(cautious, seconds_a_call, is_decided=is_decided)
        if not chance[name]:
            continue
        if len(measured[name]) >= 2 and size <= _MAX_EXTRAPOLATED * measured[name][-1][0]:
            seconds = _expected_seconds(known, size)
        else:
            seconds = _usual_seconds(measured, name, size, usual)
            if seconds is None:
                return None
        known.append((size, seconds))
        total += chance[name] * seconds * (ENOUGH_CALLS if seconds < SHORT else 1)
    return total


def _chance_to_stay(seconds: float, limit: float, *, is_decided: bool) -> float:
    """Return the share of a step to count: 0 if its contender is expected to drop out before it.

    `seconds` are its expected time. It decides if it comes from measured times alone; else a time
    near the limit may come out on either side of it.

    >>> _chance_to_stay(4.0, 5.0, is_decided=True), _chance_to_stay(5.0, 5.0, is_decided=False)
    (1.0, 0.5)
    """
    if is_decided or seconds <= 0:
        return float(seconds <= limit)
    return min(max(0.5 + math.log(limit / seconds) / (2 * math.log(_DOUBTFUL)), 0.0), 1.0)


def _usual_seconds(
    measured: Mapping[str, History], name: str, size: int, usual: Mapping[str, UsualTime | None]
) -> float | None:
    """Return a contender's usual time for a size, scaled by its own speed or else by everyone's."""
    its_own = usual[name]
    if its_own is None:
        return None
    names = [name] if measured[name] else list(measured)
    factor = estimate_factor(
        (seconds, one.of_call(known_size))
        for known_name in names
        if (one := usual[known_name]) is not None
        for known_size, seconds in measured[known_name][-1:]
    )
    return None if factor is None else factor * its_own.of_call(size)


def _expected_seconds(history: History, size: int) -> float:
    """Return the likely time for a size, from the last two sizes.

    Time that grows less than in proportion is extrapolated on a straight line, since part of it
    does not depend on the text; other time as in `_cautious_seconds`.
    """
    (size_before, before), (last_size, last) = history[-2:]
    slope = max(0.0, last - before) / (last_size - size_before)
    on_a_line = last + slope * (size - last_size)
    in_proportion = last * size / last_size
    return on_a_line if on_a_line < in_proportion else _cautious_seconds(history, size)
