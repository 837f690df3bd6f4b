"""Time several functions that compute the same: compare results, then call them in turn.

A slow contender gets less text: the longest prefix that it handles within its time limit, found by
trying longer and longer ones. The clock is a parameter, so that the protocol can be tested.

How long contenders that have not been timed yet take is estimated from their usual times, which
were measured once, on one machine, times a factor: how much slower or faster the contenders timed
so far were than usual.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bpe_core.errors import BpeError

Clock = Callable[[], float]

SECONDS_A_CALL: Final = 1.0
N_ROUNDS: Final = 5
_CHECKING_A_CHARACTER: Final = 3.5e-7
"""The usual seconds that the expected result takes; it remembers the words of earlier parts."""


FIRST_PART: Final = 64
"""In characters: few enough for an encoder that searches a list for each pair."""
FACTOR: Final = 4
"""Each part tried is this many times as long as the one before."""
_UNKNOWN_GROWTH: Final = 10.0
"""The assumed slowdown on four times the text until one is measured: between 4 and 16."""
SHORT: Final = 0.2
"""In seconds: calls up to this long take part in every round."""
ENOUGH_CALLS: Final = 3
"""The number of timed calls of a contender whose calls are longer."""


@dataclass(frozen=True, slots=True)
class UsualTime:
    """The usual time of a contender, in seconds.

    >>> UsualTime(0.5, 1e-6).of_call(1_000_000)
    1.5
    """

    a_call: float
    """The part of a call that does not depend on the text."""
    a_character: float
    power: float = 1.0
    """The time grows by this power of the number of characters."""
    preparing: float = 0.0

    def of_call(self, n_characters: int) -> float:
        """Return the estimated seconds of a call."""
        return self.a_call + self.a_character * n_characters**self.power


@dataclass(frozen=True, slots=True)
class Contender:
    """A function to be timed; `prepare` returns it, or raises `BpeError` if it cannot."""

    name: str
    prepare: Callable[[], Callable[[str], Any]]
    is_prepared_each_call: bool = False
    """Whether to prepare it before each call, so that it has nothing cached."""
    usual: UsualTime | None = None
    """For estimates before it is timed; without it, there are no estimates until then."""


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
    seconds_left: float | None = None
    """The estimated time left, from the times so far; None if there are too few."""
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
    first_seconds: float
    """The time of the call before the rounds, which found the part."""
    times: list[float]
    """The times of the calls in the rounds."""
    steps: list[float]
    """The times of the whole rounds: preparation, if any, and call."""

    def seconds_a_round(self, factor: float | None) -> float | None:
        """Return the expected time of a round; None if it can't be estimated yet.

        Its first preparation is not an estimate: it loads modules that later ones find loaded.
        """
        if self.steps:
            return median(self.steps)
        if not self.contender.is_prepared_each_call:
            return self.first_seconds
        usual = self.contender.usual
        if usual is None or factor is None:
            return None
        return factor * usual.preparing + self.first_seconds

    def rounds_left(self, n_rounds: int) -> int:
        """Return how many of the next `n_rounds` rounds it takes part in, judging by its times."""
        if median(self.times or [self.first_seconds]) <= SHORT:
            return n_rounds
        return min(n_rounds, max(0, ENOUGH_CALLS - len(self.times)))


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
        left = _seconds_left(entries, 0, n_rounds)
        later = [
            _seconds_until_last_round(other, entries, len(text), seconds_a_call, n_rounds)
            for other in contenders[place:]
        ]
        on_progress(LabProgress(place, n_steps, contender.name, _sum([left, *later])))
        entries.append(_prepare(contender, text, expected, seconds_a_call, clock))
    for round_number in range(n_rounds):
        for place, entry in enumerate(entries):
            if isinstance(entry, _Prepared) and entry.rounds_left(1):
                done = len(contenders) * (1 + round_number) + place
                left = _seconds_left(entries, place, n_rounds - round_number)
                on_progress(LabProgress(done, n_steps, entry.contender.name, left))
                _time_once(entry, clock)
    on_progress(LabProgress(n_steps, n_steps, "", 0.0))
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
        part, result, seconds = _largest_part(encode, text, seconds_a_call, clock)
    except BpeError as error:
        return ContenderTime(contender.name, problem=str(error))
    is_equal = list(result) == list(expected(part))
    return _Prepared(contender, encode, seconds_preparing, part, is_equal, seconds, [], [])


def _largest_part(
    encode: Callable[[str], Any], text: str, limit: float, clock: Clock
) -> tuple[str, Any, float]:
    """Return the longest prefix of a text handled within the limit, its result and its time.

    Each prefix tried is four times as long as the one before.
    """
    size = min(FIRST_PART, len(text))
    before = 0.0
    while True:
        part = text[:size]
        result, seconds = timed(encode, part, clock)
        if size == len(text):
            return part, result, seconds
        if seconds < SHORT and predicted_seconds(seconds, before) > limit:
            # Another process may have used the processor meanwhile.
            seconds = min(seconds, timed(encode, part, clock)[1])
        if predicted_seconds(seconds, before) > limit:
            return part, result, seconds
        before = seconds
        size = min(FACTOR * size, len(text))


def _seconds_left(
    entries: Sequence[_Prepared | ContenderTime], place: int, n_rounds: int
) -> float | None:
    """Return the expected time left at `place` in the first of the last `n_rounds` rounds."""
    factor = _estimate_factor(entries)
    total = 0.0
    for other, entry in enumerate(entries):
        if isinstance(entry, _Prepared):
            seconds = entry.seconds_a_round(factor)
            if seconds is None:
                return None
            total += seconds * entry.rounds_left(n_rounds - (other < place))
    return total


def _seconds_until_last_round(
    contender: Contender,
    entries: Sequence[_Prepared | ContenderTime],
    n_characters: int,
    seconds_a_call: float,
    n_rounds: int,
) -> float | None:
    """Return the expected time of an unprepared contender; None if it can't be estimated."""
    factor = _estimate_factor(entries)
    if factor is None or contender.usual is None:
        return None
    return measuring_seconds(
        contender.usual,
        factor,
        n_characters,
        limit=seconds_a_call,
        n_rounds=n_rounds,
        checking_a_character=_CHECKING_A_CHARACTER,
        is_prepared_each_call=contender.is_prepared_each_call,
    )


def _estimate_factor(entries: Sequence[_Prepared | ContenderTime]) -> float | None:
    """Return how many times as long as usual the contenders so far took for their parts."""
    return estimate_factor(
        (entry.first_seconds, entry.contender.usual.of_call(len(entry.part)))
        for entry in entries
        if isinstance(entry, _Prepared) and entry.contender.usual is not None
    )


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _time_once(entry: _Prepared, clock: Clock) -> None:
    started = clock()
    encode = entry.encode
    if entry.contender.is_prepared_each_call:
        encode = entry.contender.prepare()
    entry.times.append(timed(encode, entry.part, clock)[1])
    entry.steps.append(clock() - started)


def timed(function: Callable[[str], Any], part: str, clock: Clock) -> tuple[Any, float]:
    """Call a function on a text; return its result and the seconds it took."""
    # Tools written in Rust leave the UTF-8 cached in the string, so each call gets a new string.
    copy = part.encode().decode()
    started = clock()
    result = function(copy)
    return result, clock() - started


def predicted_seconds(seconds: float, before: float) -> float:
    """Return the expected time for four times the text, from the times of the last two parts.

    >>> predicted_seconds(0.5, before=0.1), predicted_seconds(0.5, before=0.4)
    (2.5, 2.0)
    """
    return seconds * (max(FACTOR, seconds / before) if before > 0 else _UNKNOWN_GROWTH)


def estimate_factor(times: Iterable[tuple[float, float]]) -> float | None:
    """Return how many times as long as usual calls took, from pairs of seconds: taken and usual.

    None if there are none. Long calls weigh more, because short ones are timed less exactly.

    >>> estimate_factor([(3.0, 1.0), (0.1, 0.55)])
    2.0
    """
    pairs = list(times)
    usual = sum(seconds for _, seconds in pairs)
    return sum(seconds for seconds, _ in pairs) / usual if usual > 0 else None


def measuring_seconds(
    usual: UsualTime,
    factor: float,
    n_characters: int,
    *,
    limit: float,
    n_rounds: int,
    checking_a_character: float,
    is_prepared_each_call: bool,
) -> float:
    """Return the expected time of a contender until its last round, as `measure` calls it.

    Its part is found by the same steps; `limit` is the most seconds of a call.

    >>> usual = UsualTime(0.0, 1e-6, preparing=0.25)
    >>> measuring_seconds(usual, 2.0, 64, limit=1.0, n_rounds=5, checking_a_character=0.0,
    ...                      is_prepared_each_call=False) == 2.0 * (0.25 + 6 * 64e-6)
    True
    """
    total = factor * usual.preparing
    size, before = min(FIRST_PART, n_characters), 0.0
    while True:
        seconds = factor * usual.of_call(size)
        total += seconds
        if size == n_characters:
            break
        if predicted_seconds(seconds, before) > limit:
            total += seconds if seconds < SHORT else 0.0
            break
        before = seconds
        size = min(FACTOR * size, n_characters)
    n_calls = n_rounds if seconds <= SHORT else min(n_rounds, ENOUGH_CALLS)
    each = seconds + (factor * usual.preparing if is_prepared_each_call else 0.0)
    return total + factor * checking_a_character * size + n_calls * each
