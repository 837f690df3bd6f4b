"""The distinct words of a text and how often each occurs; counts add up exactly, within 64 bits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a, is_whole
from bpe_core.corpus.held_out import Split
from bpe_core.errors import ArgumentTypeError, CorpusError, EmptyCorpusError
from bpe_core.types import Base, Immutable, PretokenCounts

_MAX_DIGITS = 15
MAX_SUM = int(np.iinfo(np.int64).max)
"""The largest number that an int64 holds."""


class CountsSummary(NamedTuple):
    """What is known of the text that was counted; stored as JSON in a counts file."""

    pretokenizer: str | None
    """What cut the text into words; None if the file does not say."""
    n_bytes: int
    """The size of the text as UTF-8."""
    sha256: str
    """The identity of the corpus; in a file made elsewhere, a hash of the words and counts."""
    characters: str
    """All characters of the text, sorted, including those of dropped words and white space."""
    floor: int = 1
    """Words that occur less often were dropped."""
    dropped_words: int = 0
    dropped_occurrences: int = 0


class WordCounts(Immutable):
    """The distinct words of a text, as one pre-tokenizer cuts it, and how often each occurs.

    Training learns from them, and a counts file holds them.

    >>> import bpe_core as bpe
    >>> counts = bpe.count_words(["hug hugs hug"])
    >>> counts.pretokens.words, counts.pretokens.counts.tolist(), counts.summary.pretokenizer
    ((b'hug', b' hugs', b' hug'), [1, 1, 1], 'gpt2')
    """

    MAX_COUNT: ClassVar = 10**_MAX_DIGITS - 1
    """The largest count that a text may state: JavaScript, and so every page, shows it exactly."""

    __slots__ = ("_divided", "_pretokens", "_summary")
    __hash__: ClassVar[None]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(
        self,
        pretokens: PretokenCounts,
        summary: CountsSummary | Callable[[], CountsSummary],
        divided: Split | None = None,
    ) -> None:
        self._pretokens = pretokens
        self._summary = summary
        self._divided = divided

    @property
    def pretokens(self) -> PretokenCounts:
        """In the order of first occurrence, or of the rows of a file made elsewhere."""
        return self._pretokens

    @property
    def summary(self) -> CountsSummary:
        """What is known of the text; its hash may still be computed by another thread."""
        if callable(self._summary):
            self._summary = self._summary()
        return self._summary

    @property
    def n_bytes(self) -> int:
        """The size of the text as UTF-8."""
        return self.summary.n_bytes

    @property
    def divided(self) -> Split | None:
        """How the text was divided from a corpus."""
        return self._divided

    def symbols(self, base: Base) -> frozenset[bytes]:
        """Return the base symbols that occur in the text.

        >>> import bpe_core as bpe
        >>> sorted(bpe.count_words(["é"]).symbols("bytes"))
        [b'\\xa9', b'\\xc3']
        """
        return find_symbols(self.summary.characters, base)

    def with_pretokens(self, pretokens: PretokenCounts) -> WordCounts:
        """Return other words of the same text, such as those without rare characters."""
        return WordCounts(pretokens, self._summary, self._divided)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordCounts):
            return NotImplemented
        return self.pretokens == other.pretokens and self.summary == other.summary

    def __reduce__(self) -> tuple[Any, ...]:
        return WordCounts, (self.pretokens, self.summary, self.divided)


def find_symbols(characters: str, base: Base) -> frozenset[bytes]:
    """Return the base symbols of some characters.

    >>> sorted(find_symbols("né", "characters"))
    [b'n', b'\\xc3\\xa9']
    """
    if base == "characters":
        return frozenset(character.encode() for character in characters)
    return frozenset(bytes([byte]) for byte in characters.encode())


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
                f"{WordCounts.MAX_COUNT:,}, such as 'hug 10', got {_shown(line)!r}."
            )
        if len(digits) > _MAX_DIGITS:
            raise CorpusError(
                f"Line {number}: the count {_shown(digits)} is too large. A count may be at most "
                f"{WordCounts.MAX_COUNT:,}. Divide all counts by the same number."
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
