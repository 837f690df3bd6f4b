"""How fast several ways to do the same are: equality first, then all of them in turn, medians.

Whoever is slow is given less: each contender gets a part of the text that it can do within its
share of time, found by trying longer and longer ones. The clock is passed in, so that the protocol
itself can be tested.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Final

from bpe_core.errors import BpeError

Clock = Callable[[], float]

_FIRST_PART: Final = 64
"""Characters: so few that even an encoder that looks through a list for each pair is soon done."""
_FACTOR: Final = 4
_UNKNOWN_GROWTH: Final = 10.0
"""What four times the text takes, before that was seen: between linear and quadratic."""
_SHORT: Final = 0.2
_ENOUGH_CALLS: Final = 3
"""For calls that are not short; short ones go through all rounds."""


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do it: `prepare` gives the function that is timed, or raises a `BpeError`."""

    name: str
    prepare: Callable[[], Callable[[str], Any]]
    forgets: bool = False
    """Whether it is prepared anew before each call, so that it remembers nothing of a text."""


@dataclass(frozen=True, slots=True)
class Measured:
    """How one contender did on the part of the text that it was given."""

    name: str
    n_bytes: int
    """UTF-8 of the part; 0 where it could not take part."""
    is_whole: bool
    seconds: float
    """The median of its calls; 0 where it could not take part."""
    n_calls: int
    seconds_preparing: float
    is_equal: bool
    """Whether what it returned for its part is what was expected of that part."""
    problem: str | None
    """Why it could not take part; None where it did."""

    @property
    def megabytes_per_second(self) -> float:
        """Millions of bytes of text a second; 0 where it could not take part."""
        return self.n_bytes / self.seconds / 1e6 if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Grown:
    """How long one contender took for one size of text."""

    name: str
    n_bytes: int
    seconds: float
    n_calls: int
    is_equal: bool
    """Whether its result is that of the first contender that did this size."""


Tell = Callable[[int, int, str], None]
"""Called before each piece of work: how many are done, how many there are, and whose is next."""


@dataclass(slots=True)
class _Ready:
    contender: Contender
    encode: Callable[[str], Any]
    seconds_preparing: float
    part: str
    is_equal: bool
    times: list[float]


def measure(
    contenders: Sequence[Contender],
    text: str,
    expected: Callable[[str], Any],
    *,
    seconds_a_call: float = 1.0,
    n_rounds: int = 5,
    clock: Clock = time.perf_counter,
    tell: Tell | None = None,
) -> list[Measured]:
    """Time each contender on as much of a text as it can do, in rounds of one call each.

    `expected(part)` is what all should return. A call takes at most `seconds_a_call`, as far as
    that can be told from the two calls before it, so the whole is bounded; calls that are not short
    sit out the rounds after the third.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> [(one.name, one.is_equal, one.n_bytes) for one in measure([upper, swap], "aB", str.upper)]
    [('upper', True, 2), ('swap', False, 2)]
    """
    n_steps = len(contenders) * (1 + n_rounds)
    report = tell or _say_nothing
    entries: list[_Ready | Measured] = []
    for place, contender in enumerate(contenders):
        report(place, n_steps, contender.name)
        entries.append(_made_ready(contender, text, expected, seconds_a_call, clock))
    for round_number in range(n_rounds):
        for place, entry in enumerate(entries):
            if isinstance(entry, _Ready) and not _has_enough(entry.times):
                done = len(contenders) * (1 + round_number) + place
                report(done, n_steps, entry.contender.name)
                _time_once(entry, clock)
    report(n_steps, n_steps, "")
    return [
        entry
        if isinstance(entry, Measured)
        else Measured(
            name=entry.contender.name,
            n_bytes=len(entry.part.encode()),
            is_whole=len(entry.part) == len(text),
            seconds=median(entry.times),
            n_calls=len(entry.times),
            seconds_preparing=entry.seconds_preparing,
            is_equal=entry.is_equal,
            problem=None,
        )
        for entry in entries
    ]


def measure_growth(
    contenders: Sequence[Contender],
    text: str,
    sizes: Sequence[int],
    *,
    seconds_a_call: float = 5.0,
    clock: Clock = time.perf_counter,
    tell: Tell | None = None,
) -> list[Grown]:
    """Time each contender on longer and longer beginnings of a text, `sizes` in characters.

    A contender leaves the field before a size that, by how its time has grown so far, would take
    it longer than `seconds_a_call`. A short call is made three times, and the median counts.

    >>> upper = Contender("upper", lambda: str.upper)
    >>> swap = Contender("swap", lambda: str.swapcase)
    >>> [(p.name, p.n_bytes, p.is_equal) for p in measure_growth([upper, swap], "aB", [1, 2])]
    [('upper', 1, True), ('swap', 1, True), ('upper', 2, True), ('swap', 2, False)]
    """
    report = tell or _say_nothing
    functions = [(contender.name, contender.prepare()) for contender in contenders]
    history: dict[str, list[tuple[int, float]]] = {name: [] for name, _ in functions}
    out: set[str] = set()
    found: list[Grown] = []
    for place, size in enumerate(sizes):
        part = text[:size]
        first: list[Any] = []
        for number, (name, function) in enumerate(functions):
            report(place * len(functions) + number, len(sizes) * len(functions), name)
            if name in out or _predicted(history[name], size) > seconds_a_call:
                out.add(name)
                continue
            times: list[float] = []
            result: Any = None
            while not times or (len(times) < _ENOUGH_CALLS and times[0] < _SHORT):
                result, seconds = _timed(function, part, clock)
                times.append(seconds)
            history[name].append((size, median(times)))
            first = first or [result]
            found.append(
                Grown(name, len(part.encode()), median(times), len(times), result == first[0])
            )
    report(len(sizes) * len(functions), len(sizes) * len(functions), "")
    return found


def _say_nothing(done: int, of: int, name: str) -> None:
    pass


def _made_ready(
    contender: Contender,
    text: str,
    expected: Callable[[str], Any],
    seconds_a_call: float,
    clock: Clock,
) -> _Ready | Measured:
    started = clock()
    try:
        encode = contender.prepare()
        seconds_preparing = clock() - started
        part, result = _largest_part(encode, text, seconds_a_call, clock)
    except BpeError as error:
        return Measured(contender.name, 0, False, 0.0, 0, 0.0, False, str(error))
    is_equal = list(result) == list(expected(part))
    return _Ready(contender, encode, seconds_preparing, part, is_equal, [])


def _largest_part(
    encode: Callable[[str], Any], text: str, limit: float, clock: Clock
) -> tuple[str, Any]:
    """The longest beginning of a text, each four times the last, done in time; and its result."""
    size = min(_FIRST_PART, len(text))
    before = 0.0
    while True:
        part = text[:size]
        result, seconds = _timed(encode, part, clock)
        if size == len(text):
            return part, result
        if seconds < _SHORT and _would_take(seconds, before) > limit:
            # Perhaps something else had the processor meanwhile.
            seconds = min(seconds, _timed(encode, part, clock)[1])
        if _would_take(seconds, before) > limit:
            return part, result
        before = seconds
        size = min(_FACTOR * size, len(text))


def _would_take(seconds: float, before: float) -> float:
    """What four times the text takes, from what this part took and the one before it."""
    return seconds * (max(_FACTOR, seconds / before) if before > 0 else _UNKNOWN_GROWTH)


def _has_enough(times: Sequence[float]) -> bool:
    return len(times) >= _ENOUGH_CALLS and median(times) > _SHORT


def _time_once(entry: _Ready, clock: Clock) -> None:
    encode = entry.contender.prepare() if entry.contender.forgets else entry.encode
    entry.times.append(_timed(encode, entry.part, clock)[1])


def _timed(function: Callable[[str], Any], part: str, clock: Clock) -> tuple[Any, float]:
    # A new string each time: tools written in Rust leave its UTF-8 in it, and need not make it
    # again.
    new = part.encode().decode()
    started = clock()
    result = function(new)
    return result, clock() - started


def _predicted(history: Sequence[tuple[int, float]], size: int) -> float:
    """What a size takes, if time goes on growing by the power that the last two sizes show."""
    if not history:
        return 0.0
    last_size, last = history[-1]
    power = 2.0
    if len(history) > 1:
        size_before, before = history[-2]
        if before > 0 and last > 0:
            power = max(1.0, math.log(last / before) / math.log(last_size / size_before))
    return last * (size / last_size) ** power
