"""Words with their counts: as text, a line a word, and how much of them can be counted."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from bpe_core.errors import CorpusError, EmptyCorpusError

_MOST_DIGITS = 15
LARGEST_COUNT = 10**_MOST_DIGITS - 1
"""The largest count in a text: JavaScript, and so every page, still shows it exactly."""
_LARGEST_SUM = int(np.iinfo(np.int64).max)


def parse_word_counts(text: str) -> dict[str, int]:
    """Read lines of a word and its count, and add up the counts of a word on several lines.

    Blank lines are left out. Raises CorpusError that names the line, also where all counts together
    are too many, and EmptyCorpusError.

    >>> parse_word_counts("hug 10\\nugg 5")
    {'hug': 10, 'ugg': 5}
    """
    word_counts: dict[str, int] = {}
    for number, line in enumerate(re.split("\r\n|\r|\n", text), 1):
        parts = line.split()
        if not parts:
            continue
        digits = parts[1].lstrip("0") if len(parts) == 2 else ""
        if not re.fullmatch("[0-9]+", digits):
            raise CorpusError(
                f"Line {number} is {_shown(line)!r}: each line is a word, a space, and a whole "
                f"number from 1 to {LARGEST_COUNT:,}, such as 'hug 10'."
            )
        if len(digits) > _MOST_DIGITS:
            raise CorpusError(
                f"Line {number}: the count {_shown(digits)} is too large. A word can count at most "
                f"{LARGEST_COUNT:,}. Divide all counts by the same number."
            )
        word_counts[parts[0]] = word_counts.get(parts[0], 0) + int(digits)
    if not word_counts:
        raise EmptyCorpusError("There are no words: give a word and its count a line: 'hug 10'.")
    check_total(word_counts)
    return word_counts


def check_total(word_counts: Mapping[str, int]) -> None:
    """Raise CorpusError where words times counts are more symbols than int64 arrays can sum.

    Each word counts for one symbol more than it has bytes: training may add an end-of-word marker.
    """
    n_symbols = sum((len(word.encode()) + 1) * count for word, count in word_counts.items())
    if n_symbols > _LARGEST_SUM:
        raise CorpusError(
            f"The words and their counts stand for {n_symbols:,} symbols, more than 64 bits can "
            "count. Divide all counts by the same number."
        )


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
