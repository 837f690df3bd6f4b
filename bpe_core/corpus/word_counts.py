"""Read words with their counts from text, and add counts up exactly, within 64 bits."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a, is_whole
from bpe_core.errors import ArgumentTypeError, CorpusError, EmptyCorpusError
from bpe_core.types import PretokenCounts

_MAX_DIGITS = 15
MAX_COUNT = 10**_MAX_DIGITS - 1
"""The largest count that a text may state: JavaScript, and so every page, shows it exactly."""
MAX_SUM = int(np.iinfo(np.int64).max)
"""The largest number that an int64 holds."""


def parse_word_counts(text: str) -> dict[str, int]:
    """Read lines of a word and its count; add up the counts of a word on several lines.

    Blank lines are skipped. Raises CorpusError with the number of an invalid line, CorpusError if
    the sum of all counts is too large, and EmptyCorpusError.

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
                f"Line {number}: expected a word, a space, and a whole number from 1 to "
                f"{MAX_COUNT:,}, such as 'hug 10', got {_shown(line)!r}."
            )
        if len(digits) > _MAX_DIGITS:
            raise CorpusError(
                f"Line {number}: the count {_shown(digits)} is too large. A count may be at most "
                f"{MAX_COUNT:,}. Divide all counts by the same number."
            )
        word_counts[parts[0]] = word_counts.get(parts[0], 0) + int(digits)
    if not word_counts:
        raise EmptyCorpusError("There are no words. Give a word and its count per line: 'hug 10'.")
    check_total(word_counts)
    return word_counts


def check_word_counts(word_counts: Mapping[str, int]) -> None:
    """Raise ArgumentTypeError, CorpusError or EmptyCorpusError unless these are words with counts.

    >>> check_word_counts({"hug": 0})
    Traceback (most recent call last):
    bpe_core.errors.CorpusError: Expected a whole number of 1 or more as the count of 'hug', got 0.
    """
    if not is_a(word_counts, Mapping):
        raise ArgumentTypeError(
            f"Expected a dict of word counts, such as {{'hug': 10}}, got {describe(word_counts)}."
        )
    for word, count in word_counts.items():
        if not word:
            raise CorpusError("One of the words is empty. Leave it out.")
        if not is_whole(count) or count < 1:
            raise CorpusError(
                f"Expected a whole number of 1 or more as the count of {word!r}, got {count!r}."
            )
    if not word_counts:
        raise EmptyCorpusError("There are no words: give at least one, such as {'hug': 10}.")


def check_total(word_counts: Mapping[str, int]) -> None:
    """Raise CorpusError if the words have more symbols in all than an int64 can count.

    Each word has one symbol more than bytes, because training may add an end-of-word marker.
    """
    check_symbols(sum((len(word.encode()) + 1) * count for word, count in word_counts.items()))


def check_symbols(n_symbols: int, whose: str = "The words") -> None:
    """Raise CorpusError for more symbols than an int64 can count; `whose` begins the message.

    >>> check_symbols(2**63, "The words of a.parquet")
    Traceback (most recent call last):
    bpe_core.errors.CorpusError: The words of a.parquet have 9,223,372,036,854,775,808 symbols in \
all, more than 64 bits can count. Divide all counts by the same number.
    """
    if n_symbols > MAX_SUM:
        raise CorpusError(
            f"{whose} have {n_symbols:,} symbols in all, more than 64 bits can count. Divide all "
            "counts by the same number."
        )


def _shown(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def check_sum(counts: NDArray[np.int64], name: str) -> None:
    """Raise CorpusError if counts, all positive, together exceed 64 bits.

    >>> check_sum(np.array([2**62, 2**62]), "a.parquet")
    Traceback (most recent call last):
    bpe_core.errors.CorpusError: The counts of a.parquet add up to 9,223,372,036,854,775,808, \
more than 64 bits can hold. Divide all counts by the same number.
    """
    total = weighted_sum(np.ones(len(counts), np.int64), counts)
    if total > MAX_SUM:
        raise CorpusError(
            f"The counts of {name} add up to {total:,}, more than 64 bits can hold. Divide all "
            "counts by the same number."
        )


def check_pretokens(pretokens: PretokenCounts, name: str) -> None:
    """Raise CorpusError if the words together have more symbols than an int64 can count.

    Each word has one symbol more than bytes, because training may add an end-of-word marker.
    """
    n_symbols = weighted_sum(word_lengths(pretokens.words) + 1, pretokens.counts)
    check_symbols(n_symbols, f"The words of {name}")


def weighted_sum(weights: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Return the exact sum of products, which may exceed 64 bits.

    >>> weighted_sum(np.array([3, 1]), np.array([2**62, 2**62])) == 2**64
    True
    """
    # In floating point, the sum is off by far less than a half.
    if np.dot(weights.astype(np.float64), counts.astype(np.float64)) < MAX_SUM / 2:
        return int(np.dot(weights, counts))
    return sum(map(int.__mul__, weights.tolist(), counts.tolist()))


def word_lengths(words: tuple[bytes, ...]) -> NDArray[np.int64]:
    """Return int64[n]: the number of bytes of each word.

    >>> word_lengths((b"hug", b"hugs")).tolist()
    [3, 4]
    """
    return np.fromiter(map(len, words), np.int64, len(words))
