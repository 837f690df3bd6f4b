"""Estimate how long a training still takes, its end included, and word the time left."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from bpe_core.types import TrainingProgress

_MIN_MEASURED: Final = 1.0
# Building the tokenizer, its fingerprint and its JSON takes time for each merge, and counting the
# tokens of the held-out text for each of its bytes. Measured with 500,000 merges.
_SECONDS_A_MERGE: Final = 3e-5
_SECONDS_A_HELD_OUT_BYTE: Final = 2e-6
_MIN_ENDING_LENGTH: Final = 0.5
_MIN_FACTOR: Final = 0.2
_MAX_FACTOR: Final = 10.0


def merging_seconds(recent: Sequence[TrainingProgress]) -> float | None:
    """Estimate how long the remaining merges take; None before a second of merges.

    The first merges join the most and take the longest, so their rate alone would promise hours for
    what takes a minute. The time per merge falls about as a power of the merge's number: the power
    is measured between the two halves of `recent`, the progress of the last few seconds.
    """
    if len(recent) < 3:
        return None
    first, last = recent[0], recent[-1]
    seconds = last.elapsed_seconds - first.elapsed_seconds
    half = first.elapsed_seconds + seconds / 2
    middle = min(recent, key=lambda one: abs(one.elapsed_seconds - half))
    before, each = _seconds_a_merge(first, middle), _seconds_a_merge(middle, last)
    if seconds < _MIN_MEASURED or not before or not each:
        return None
    at = _number_between(middle, last)
    falls = math.log(before / each) / math.log(at / _number_between(first, middle))
    power = min(max(falls, 0.0), 1.0)
    begin, end = last.merges_done + 1, max(last.merges_wanted, last.merges_done) + 1
    if power > 0.999:
        return each * at * math.log(end / begin)
    return each * at**power * (end ** (1 - power) - begin ** (1 - power)) / (1 - power)


class EndingTime:
    """The time from the last merge until a run is stored, corrected by how long the last run took.

    >>> ending = EndingTime()
    >>> ending.seconds(500_000, held_out_bytes=0)
    15.0
    >>> ending.learn(30.0, n_merges=500_000, held_out_bytes=0)
    >>> ending.seconds(100_000, held_out_bytes=0)
    6.0
    """

    def __init__(self) -> None:
        self._factor = 1.0

    def seconds(self, n_merges: int, held_out_bytes: int) -> float:
        """Return the expected time."""
        return self._factor * _usual(n_merges, held_out_bytes)

    def learn(self, seconds: float, *, n_merges: int, held_out_bytes: int) -> None:
        """Note how long it took; short times are ignored, because they are mostly overhead."""
        usual = _usual(n_merges, held_out_bytes)
        if usual >= _MIN_ENDING_LENGTH:
            self._factor = min(max(seconds / usual, _MIN_FACTOR), _MAX_FACTOR)


def _usual(n_merges: int, held_out_bytes: int) -> float:
    return round(_SECONDS_A_MERGE * n_merges + _SECONDS_A_HELD_OUT_BYTE * held_out_bytes, 9)


def _seconds_a_merge(first: TrainingProgress, last: TrainingProgress) -> float:
    """Return the mean time of a merge between two reports; 0 if there was none."""
    merges = last.merges_done - first.merges_done
    return (last.elapsed_seconds - first.elapsed_seconds) / merges if merges else 0.0


def _number_between(first: TrainingProgress, last: TrainingProgress) -> float:
    """Return the number of the merge halfway between two reports, from 1."""
    return (first.merges_done + last.merges_done) / 2 + 1


def duration(seconds: float) -> str:
    """Return a rounded duration in words.

    >>> duration(5), duration(200), duration(56_000)
    ('5 s', '3 min', '16 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:,.0f} h"
