"""How fast several ways to do the same are: equality first, then all of them in turn, medians.

Whoever is slow is given less: each contender gets a part of the text that it can do within its
share of time, found by trying longer and longer ones. The clock is passed in, so that the protocol
itself can be tested.
"""

from __future__ import annotations

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
SHORT: Final = 0.2
ENOUGH_CALLS: Final = 3
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
class Progress:
    """How far a measurement has come."""

    done: int
    of: int
    name: str
    """Who is measured next."""
    seconds_left: float | None = None
    """How long the rest takes, by what has been measured; None where that can't be known yet."""
    seconds_compiling: float | None = None
    """How long it has waited for the compiler; None where it doesn't."""


Tell = Callable[[Progress], None]
"""Called before each piece of work, and once all are done."""


def say_nothing(_progress: Progress) -> None:
    """Tell nobody how far a measurement has come."""


@dataclass(slots=True)
class _Ready:
    contender: Contender
    encode: Callable[[str], Any]
    seconds_preparing: float
    part: str
    is_equal: bool
    first_seconds: float
    """Of the call before the rounds, which showed that the part can be done in time."""
    times: list[float]
    """Of the calls in the rounds."""
    steps: list[float]
    """What each round took: its call, and what was prepared for it."""

    @property
    def seconds_a_round(self) -> float | None:
        """What a round is likely to take; None where what is prepared for it was never timed.

        The first preparation loads what the later ones find loaded, so it says nothing of them.
        """
        if self.steps:
            return median(self.steps)
        return None if self.contender.forgets else self.first_seconds

    def rounds_left(self, n_rounds: int) -> int:
        """Return how many of the rounds to come it takes part in, as far as its times tell."""
        if median(self.times or [self.first_seconds]) <= SHORT:
            return n_rounds
        return min(n_rounds, max(0, ENOUGH_CALLS - len(self.times)))


def measure(
    contenders: Sequence[Contender],
    text: str,
    expected: Callable[[str], Any],
    *,
    seconds_a_call: float = 1.0,
    n_rounds: int = 5,
    clock: Clock = time.perf_counter,
    tell: Tell = say_nothing,
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
    entries: list[_Ready | Measured] = []
    for place, contender in enumerate(contenders):
        tell(Progress(place, n_steps, contender.name))
        entries.append(_made_ready(contender, text, expected, seconds_a_call, clock))
    for round_number in range(n_rounds):
        for place, entry in enumerate(entries):
            if isinstance(entry, _Ready) and entry.rounds_left(1):
                done = len(contenders) * (1 + round_number) + place
                left = _seconds_left(entries, place, n_rounds - round_number)
                tell(Progress(done, n_steps, entry.contender.name, left))
                _time_once(entry, clock)
    tell(Progress(n_steps, n_steps, "", 0.0))
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
        part, result, seconds = _largest_part(encode, text, seconds_a_call, clock)
    except BpeError as error:
        return Measured(contender.name, 0, False, 0.0, 0, 0.0, False, str(error))
    is_equal = list(result) == list(expected(part))
    return _Ready(contender, encode, seconds_preparing, part, is_equal, seconds, [], [])


def _largest_part(
    encode: Callable[[str], Any], text: str, limit: float, clock: Clock
) -> tuple[str, Any, float]:
    """Return the longest beginning of a text that is done in time, its result and its seconds.

    Each beginning that is tried is four times the last.
    """
    size = min(_FIRST_PART, len(text))
    before = 0.0
    while True:
        part = text[:size]
        result, seconds = timed(encode, part, clock)
        if size == len(text):
            return part, result, seconds
        if seconds < SHORT and _would_take(seconds, before) > limit:
            # Perhaps something else had the processor meanwhile.
            seconds = min(seconds, timed(encode, part, clock)[1])
        if _would_take(seconds, before) > limit:
            return part, result, seconds
        before = seconds
        size = min(_FACTOR * size, len(text))


def _would_take(seconds: float, before: float) -> float:
    """What four times the text takes, from what this part took and the one before it."""
    return seconds * (max(_FACTOR, seconds / before) if before > 0 else _UNKNOWN_GROWTH)


def _seconds_left(entries: Sequence[_Ready | Measured], place: int, n_rounds: int) -> float | None:
    """Return how long the rest takes at `place` in the first of `n_rounds` rounds to come."""
    total = 0.0
    for other, entry in enumerate(entries):
        if isinstance(entry, _Ready):
            seconds = entry.seconds_a_round
            if seconds is None:
                return None
            total += seconds * entry.rounds_left(n_rounds - (other < place))
    return total


def _time_once(entry: _Ready, clock: Clock) -> None:
    started = clock()
    encode = entry.contender.prepare() if entry.contender.forgets else entry.encode
    entry.times.append(timed(encode, entry.part, clock)[1])
    entry.steps.append(clock() - started)


def timed(function: Callable[[str], Any], part: str, clock: Clock) -> tuple[Any, float]:
    """Call a function on a text; return its result and the seconds that it took."""
    # A new string each time: tools written in Rust leave its UTF-8 in it, and need not make it
    # again.
    new = part.encode().decode()
    started = clock()
    result = function(new)
    return result, clock() - started
