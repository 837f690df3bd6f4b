"""Time several functions that compute the same: compare results, then call them in turn.

A slow contender gets less text: the longest prefix that it handles within its time limit, found by
trying longer and longer ones. The clock is a parameter, so that the protocol can be tested.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bpe_core.errors import BpeError

Clock = Callable[[], float]

SECONDS_A_CALL: Final = 1.0
N_ROUNDS: Final = 5
_FIRST_PART: Final = 64
"""In characters: few enough for an encoder that searches a list for each pair."""
_FACTOR: Final = 4
"""Each part tried is this many times as long as the one before."""
_UNKNOWN_GROWTH: Final = 10.0
"""The assumed slowdown on four times the text until one is measured: between 4 and 16."""
SHORT: Final = 0.2
"""In seconds: calls up to this long take part in every round."""
ENOUGH_CALLS: Final = 3
"""The number of timed calls of a contender whose calls are longer."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A function to be timed; `prepare` returns it, or raises `BpeError` if it cannot."""

    name: str
    prepare: Callable[[], Callable[[str], Any]]
    is_prepared_each_call: bool = False
    """Whether to prepare it before each call, so that it has nothing cached."""


@dataclass(frozen=True, slots=True)
class ContenderTime:
    """The time of one contender on its part of the text."""

    name: str
    n_bytes: int = 0
    """The length of the part in UTF-8; 0 if it could not be measured."""
    is_whole: bool = False
    """Whether the part is the whole text."""
    seconds: float = 0.0
    """The median of its calls; 0 if it could not be measured."""
    n_calls: int = 0
    seconds_preparing: float = 0.0
    is_equal: bool = False
    """Whether its result for the part equals the expected one."""
    problem: str | None = None
    """The reason it could not be measured; None if it was."""

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes of text per second; 0 if it could not be measured."""
        return self.n_bytes / self.seconds / 1e6 if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class LabProgress:
    """The progress of a measurement."""

    done: int
    of: int
    name: str
    """The contender measured next."""
    seconds_compiling: float | None = None
    """Seconds that the measurement has waited for the compiler; None if it is not waiting."""


OnProgress = Callable[[LabProgress], None]
"""Called before each step, and once after the last."""


def ignore_progress(_progress: LabProgress) -> None:
    """Do nothing; the default for callers that do not follow the progress."""


@dataclass(slots=True)
class _Prepared:
    contender: Contender
    encode: Callable[[str], Any]
    seconds_preparing: float
    part: str
    is_equal: bool
    times: list[float]
    """The times of the calls in the rounds."""

    @property
    def has_enough_calls(self) -> bool:
        """Whether its calls are long, and it had enough of them."""
        return len(self.times) >= ENOUGH_CALLS and median(self.times) > SHORT


def time_contenders(
    contenders: Sequence[Contender],
    text: str,
    expected: Callable[[str], Any],
    *,
    seconds_a_call: float = SECONDS_A_CALL,
    n_rounds: int = N_ROUNDS,
    clock: Clock = time.perf_counter,
    on_progress: OnProgress = ignore_progress,
) -> list[ContenderTime]:
    """Time each contender on as much of a text as it can handle, in rounds of one call each.

    `expected(part)` is the correct result for a part. Parts are chosen so that a call takes at most
    `seconds_a_call`, extrapolating from the two calls before it, which bounds the whole
    measurement. A contender with long calls takes part in the first three rounds only.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> found = time_contenders([upper, swap], "aB", str.upper)
    >>> [(one.name, one.is_equal, one.n_bytes) for one in found]
    [('upper', True, 2), ('swap', False, 2)]
    """
    n_steps = len(contenders) * (1 + n_rounds)
    entries: list[_Prepared | ContenderTime] = []
    for place, contender in enumerate(contenders):
        on_progress(LabProgress(place, n_steps, contender.name))
        entries.append(_prepare(contender, text, expected, seconds_a_call, clock))
    for round_number in range(n_rounds):
        for place, entry in enumerate(entries):
            if isinstance(entry, _Prepared) and not entry.has_enough_calls:
                done = len(contenders) * (1 + round_number) + place
                on_progress(LabProgress(done, n_steps, entry.contender.name))
                _time_once(entry, clock)
    on_progress(LabProgress(n_steps, n_steps, ""))
    return [
        entry
        if isinstance(entry, ContenderTime)
        else ContenderTime(
            name=entry.contender.name,
            n_bytes=len(entry.part.encode()),
            is_whole=len(entry.part) == len(text),
            seconds=median(entry.times),
            n_calls=len(entry.times),
            seconds_preparing=entry.seconds_preparing,
            is_equal=entry.is_equal,
        )
        for entry in entries
    ]


def _prepare(
    contender: Contender,
    text: str,
    expected: Callable[[str], Any],
    seconds_a_call: float,
    clock: Clock,
) -> _Prepared | ContenderTime:
    started = clock()
    try:
        encode = contender.prepare()
        seconds_preparing = clock() - started
        part, result = _largest_part(encode, text, seconds_a_call, clock)
    except BpeError as error:
        return ContenderTime(contender.name, problem=str(error))
    is_equal = list(result) == list(expected(part))
    return _Prepared(contender, encode, seconds_preparing, part, is_equal, [])


def _largest_part(
    encode: Callable[[str], Any], text: str, limit: float, clock: Clock
) -> tuple[str, Any]:
    """Return the longest prefix of a text handled within the limit, and its result.

    Each prefix tried is four times as long as the one before.
    """
    size = min(_FIRST_PART, len(text))
    before = 0.0
    while True:
        part = text[:size]
        result, seconds = timed(encode, part, clock)
        if size == len(text):
            return part, result
        if seconds < SHORT and _predicted_seconds(seconds, before) > limit:
            # Another process may have used the processor meanwhile.
            seconds = min(seconds, timed(encode, part, clock)[1])
        if _predicted_seconds(seconds, before) > limit:
            return part, result
        before = seconds
        size = min(_FACTOR * size, len(text))


def _time_once(entry: _Prepared, clock: Clock) -> None:
    encode = entry.encode
    if entry.contender.is_prepared_each_call:
        encode = entry.contender.prepare()
    entry.times.append(timed(encode, entry.part, clock)[1])


def timed(function: Callable[[str], Any], part: str, clock: Clock) -> tuple[Any, float]:
    """Call a function on a text; return its result and the seconds it took."""
    # Tools written in Rust leave the UTF-8 cached in the string, so each call gets a new string.
    copy = part.encode().decode()
    started = clock()
    result = function(copy)
    return result, clock() - started


def _predicted_seconds(seconds: float, before: float) -> float:
    """Return the expected time for four times the text, from the times of the last two parts.

    >>> _predicted_seconds(0.5, before=0.1), _predicted_seconds(0.5, before=0.4)
    (2.5, 2.0)
    """
    return seconds * (max(_FACTOR, seconds / before) if before > 0 else _UNKNOWN_GROWTH)
