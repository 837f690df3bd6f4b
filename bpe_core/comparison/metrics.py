"""Metrics of tokenizations, computed from counts and arrays, without a tokenizer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import ConfigError
from bpe_core.unicode.kinds import PUNCTUATION, WHITE_SPACE, WORD, code_points, kinds_of
from bpe_core.unicode.kinds import utf8_lengths as _utf8_lengths


def bytes_per_token(n_bytes: int, n_tokens: int) -> float:
    """Return the average number of bytes of UTF-8 per token; nan without tokens.

    >>> bytes_per_token(42, 10)
    4.2
    """
    return n_bytes / n_tokens if n_tokens else math.nan


def characters_per_token(n_characters: int, n_tokens: int) -> float:
    """Return the average number of characters (code points) per token; nan without tokens.

    >>> characters_per_token(42, 10)
    4.2
    """
    return n_characters / n_tokens if n_tokens else math.nan


class KindCounts(NamedTuple):
    """The number of tokens with a letter or number, with only punctuation, and of white space.

    A token of length 0, such as a separate end-of-word marker, counts as the character before it.
    """

    words_and_numbers: int = 0
    punctuation: int = 0
    white_space: int = 0


@dataclass(frozen=True, slots=True)
class WordCounts:
    """The number of words in a text, of the tokens they take, and of words kept whole."""

    n_words: int = 0
    n_word_tokens: int = 0
    """The pieces of all words in total; a token that spans two words counts twice."""
    n_whole_words: int = 0
    """Words within which no token ends, and whose bytes are all in tokens."""

    def __add__(self, other: WordCounts) -> WordCounts:
        return WordCounts(
            self.n_words + other.n_words,
            self.n_word_tokens + other.n_word_tokens,
            self.n_whole_words + other.n_whole_words,
        )

    def __mul__(self, times: int) -> WordCounts:
        return WordCounts(
            self.n_words * times, self.n_word_tokens * times, self.n_whole_words * times
        )

    @property
    def tokens_per_word(self) -> float:
        """Fertility: the average number of tokens per word; nan without words.

        A word is a maximal run of letters, marks and numbers. The literature counts the words of a
        treebank instead. In scripts without spaces between words (Chinese, Japanese, Thai), a run
        is a phrase, and the figure means little.

        Source: Ács 2019, "Exploring BERT's vocabulary"; Rust et al. 2021, "How good is your
        tokenizer?".

        >>> WordCounts(n_words=10, n_word_tokens=13, n_whole_words=8).tokens_per_word
        1.3
        """
        return self.n_word_tokens / self.n_words if self.n_words else math.nan

    @property
    def share_of_words_whole(self) -> float:
        """The share of words not cut by a token border: 1 minus Rust's "continued words".

        >>> WordCounts(n_words=10, n_word_tokens=13, n_whole_words=8).share_of_words_whole
        0.8
        """
        return self.n_whole_words / self.n_words if self.n_words else math.nan


class TextMap:
    """The positions of words in the bytes of a text, computed once for several tokenizations.

    >>> text = TextMap("hug, hugs")
    >>> text.word_counts(np.array([3, 4, 8, 9]))
    WordCounts(n_words=2, n_word_tokens=3, n_whole_words=1)
    >>> text.kind_counts(np.array([0, 3, 4, 8]), np.array([3, 4, 8, 9]))
    KindCounts(words_and_numbers=3, punctuation=1, white_space=0)
    """

    __slots__ = ("_offsets", "_seen", "_word_ends", "_word_starts", "n_bytes", "n_characters")

    def __init__(self, text: str) -> None:
        points = code_points(text)
        kinds = kinds_of(points)
        offsets = np.concatenate([[0], np.cumsum(_utf8_lengths(points))])
        in_word = np.concatenate([[False], kinds == WORD, [False]])
        borders = np.flatnonzero(in_word[1:] != in_word[:-1])
        self.n_characters = len(text)
        self.n_bytes = int(offsets[-1])
        self._offsets = offsets
        self._word_starts = offsets[borders[0::2]]
        self._word_ends = offsets[borders[1::2]]
        # For each kind, int64[n_bytes + 1]: the number of bytes of that kind before each byte.
        per_byte = np.repeat(kinds, np.diff(offsets))
        self._seen = {
            kind: np.concatenate([[0], np.cumsum(per_byte == kind)])
            for kind in (WORD, PUNCTUATION, WHITE_SPACE)
        }

    def word_counts(
        self,
        ends: NDArray[np.int64],
        gaps: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> WordCounts:
        """Count words and their tokens, given the byte offsets of token ends: int64[n], ascending.

        `gaps` are the starts and ends of bytes without a token, two int64[m], ascending; a word
        with such bytes is not whole.
        """
        inside = np.searchsorted(ends, self._word_ends) - np.searchsorted(
            ends, self._word_starts, side="right"
        )
        whole = inside == 0
        if gaps is not None:
            begun = np.searchsorted(gaps[0], self._word_ends)
            whole &= begun == np.searchsorted(gaps[1], self._word_starts, side="right")
        n_words = len(inside)
        return WordCounts(n_words, n_words + int(inside.sum()), int(whole.sum()))

    def kind_counts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> KindCounts:
        """Count tokens by kind, given the byte offsets of starts and ends, two int64[n].

        A token with part of a character counts as if it had the whole character.
        """
        starts = np.where(starts == ends, np.maximum(starts - 1, 0), starts)
        has_word = self.bytes_of_kind(WORD, starts, ends) > 0
        has_mark = self.bytes_of_kind(PUNCTUATION, starts, ends) > 0
        words, marks = int(has_word.sum()), int((has_mark & ~has_word).sum())
        return KindCounts(words, marks, len(starts) - words - marks)

    def n_characters_begun(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
        """Count the characters whose first byte lies in one of the spans, given by two int64[n]."""
        begun = np.searchsorted(self._offsets, ends) - np.searchsorted(self._offsets, starts)
        return int(begun.sum())

    def bytes_of_kind(
        self, kind: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Count the bytes of one kind of character in each span, int64[n]."""
        return self._seen[kind][ends] - self._seen[kind][starts]


class VocabularyOverlap(NamedTuple):
    """The common tokens of two or more vocabularies, by their bytes."""

    shared: frozenset[bytes]
    """Tokens in every vocabulary."""
    exclusive: tuple[frozenset[bytes], ...]
    """One set per vocabulary: the tokens that no other has."""


def vocabulary_overlap(vocabularies: Sequence[frozenset[bytes]]) -> VocabularyOverlap:
    """Compare vocabularies by their tokens' bytes; ids do not matter.

    >>> overlap = vocabulary_overlap([frozenset({b"a", b"b"}), frozenset({b"b", b"c", b"d"})])
    >>> len(overlap.shared), [len(own) for own in overlap.exclusive]
    (1, [1, 2])
    """
    if not vocabularies:
        raise ConfigError("There is no vocabulary to compare. Give at least one.")
    exclusive: list[frozenset[bytes]] = []
    shared = vocabularies[0].intersection(*vocabularies[1:])
    for i, own in enumerate(vocabularies):
        others = [other for j, other in enumerate(vocabularies) if j != i]
        exclusive.append(own.difference(*others))
    return VocabularyOverlap(shared, tuple(exclusive))


def renyi_efficiency(
    token_counts: NDArray[np.int64], *, vocab_size: int, alpha: float = 2.5
) -> float:
    """Return how evenly a vocabulary is used, 0 to 1: Rényi entropy divided by its maximum.

    `token_counts` is int64[n_types], how often each token occurs; zeros do not matter. Returns nan
    without tokens. Raises ConfigError for a vocabulary size below 2, a negative alpha, or more
    types than the vocabulary has.

    Source: Zouhar et al. 2023, "Tokenization and the noiseless channel"; alpha = 2.5 is the value
    that they found to predict translation quality best.

    >>> renyi_efficiency(np.array([5, 5, 5, 5]), vocab_size=4)
    1.0
    """
    counts = token_counts[token_counts > 0]
    if vocab_size < 2 or alpha < 0 or len(counts) > vocab_size:
        raise ConfigError(
            f"There is no Rényi efficiency for alpha {alpha}, {len(counts):,} tokens in use and a "
            f"vocabulary of {vocab_size:,}. Use an alpha of 0 or more, and a vocabulary of at "
            "least 2 tokens that includes all tokens in use."
        )
    if not len(counts):
        return math.nan
    shares = counts / counts.sum()
    if alpha == 1:
        entropy = -float((shares * np.log(shares)).sum())
    elif math.isinf(alpha):
        entropy = -math.log(float(shares.max()))
    else:
        entropy = math.log(float((shares**alpha).sum())) / (1 - alpha)
    # Avoid -0.0, which the entropy of a single token can be.
    return max(0.0, entropy) / math.log(vocab_size)


def parity(n_tokens: Mapping[str, int], reference: str) -> dict[str, float]:
    """Return each language's tokens per token of the reference language, on parallel text.

    1 is parity; 2 means that the same sentences take twice as many tokens. Raises ConfigError for a
    reference that is missing or has no tokens.

    Source: Petrov et al. 2023, "Language model tokenizers introduce unfairness between languages",
    who call it the premium.

    >>> parity({"English": 100, "Thai": 250}, "English")
    {'English': 1.0, 'Thai': 2.5}
    """
    if not n_tokens.get(reference):
        with_tokens = [repr(name) for name, count in n_tokens.items() if count]
        raise ConfigError(
            f"{reference!r} has no tokens to compare with. Choose one of {', '.join(with_tokens)}."
            if with_tokens
            else f"Neither {reference!r} nor any other language has tokens. Use a tokenizer that "
            "covers some of the text."
        )
    return {language: count / n_tokens[reference] for language, count in n_tokens.items()}


def gini(costs: Sequence[float]) -> float:
    """Return the Gini coefficient of costs: 0 if all are equal, near 1 if one has almost all.

    It is half the relative mean absolute difference, computed from the sorted costs. Raises
    ConfigError if there are no costs, if one is negative, or if all are zero.

    Source: Gini 1912; sorted form as in Damgaard and Weiner 2000, "Describing inequality in plant
    size or fecundity".

    >>> gini([1, 1, 1, 1]), gini([0, 0, 0, 4])
    (0.0, 0.75)
    """
    ordered = np.sort(np.asarray(costs, np.float64))
    if not len(ordered) or ordered[0] < 0 or not ordered[-1] > 0:
        raise ConfigError(
            f"Expected at least one cost, none negative and not all 0, to measure inequality; got "
            f"{len(ordered)} costs."
        )
    n = len(ordered)
    weights = 2 * np.arange(1, n + 1) - n - 1
    return float((weights * ordered).sum() / (n * ordered.sum()))
