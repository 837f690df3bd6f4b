"""Estimate how long contenders that have not been timed yet take, from their usual times.

Usual times were measured once, on one machine. An estimate multiplies them by a factor: how much
slower or faster the contenders timed so far were than usual.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

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
