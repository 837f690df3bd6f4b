"""Map the words, kinds and scripts of a text to its bytes, and count tokens by them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.unicode import NO_LETTER, OTHER_LETTER, SCRIPT_GROUPS, SHARED_LETTER, CodePoints

TOKEN_KINDS: Final[tuple[str, ...]] = ("words", "numbers", "punctuation", "white space")
"""A token is of the first kind of which it has a character; `TextMap.token_kinds` numbers kinds."""
_LATIN: Final = SCRIPT_GROUPS.index("Latin letters")


def ratio(total: int, n: int) -> float:
    """Return a quotient, such as the bytes per token; nan if `n` is 0.

    >>> ratio(42, 10)
    4.2
    """
    return total / n if n else math.nan


class KindCounts(NamedTuple):
    """The number of tokens with a letter or number, with only punctuation, and of white space.

    A token of length 0, such as a separate end-of-word marker, counts as the character before it.
    """

    words_and_numbers: int = 0
    punctuation: int = 0
    white_space: int = 0


def count_kinds(kinds: NDArray[np.uint8]) -> KindCounts:
    """Count tokens by their index in TOKEN_KINDS, words and numbers together.

    >>> count_kinds(np.array([0, 1, 3], np.uint8))
    KindCounts(words_and_numbers=2, punctuation=0, white_space=1)
    """
    words, numbers, punctuation, space = np.bincount(kinds, minlength=len(TOKEN_KINDS)).tolist()
    return KindCounts(words + numbers, punctuation, space)


@dataclass(frozen=True, slots=True)
class WordTotals:
    """The number of words in a text, of the tokens they take, and of words kept whole."""

    n_words: int = 0
    n_word_tokens: int = 0
    """The pieces of all words in total; a token that spans two words counts twice."""
    n_whole_words: int = 0
    """Words within which no token ends, and whose bytes are all in tokens."""

    def __add__(self, other: WordTotals) -> WordTotals:
        return WordTotals(
            self.n_words + other.n_words,
            self.n_word_tokens + other.n_word_tokens,
            self.n_whole_words + other.n_whole_words,
        )

    def __mul__(self, times: int) -> WordTotals:
        return WordTotals(
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

        >>> WordTotals(n_words=10, n_word_tokens=13, n_whole_words=8).tokens_per_word
        1.3
        """
        return ratio(self.n_word_tokens, self.n_words)

    @property
    def share_of_words_whole(self) -> float:
        """The share of words not cut by a token boundary: 1 minus Rust's "continued words".

        >>> WordTotals(n_words=10, n_word_tokens=13, n_whole_words=8).share_of_words_whole
        0.8
        """
        return ratio(self.n_whole_words, self.n_words)


class TextMap:
    """The positions of words in the bytes of a text, computed once for several tokenizations.

    >>> text = TextMap("hug, hugs")
    >>> text.word_counts(np.array([3, 4, 8, 9]))
    WordTotals(n_words=2, n_word_tokens=3, n_whole_words=1)
    >>> count_kinds(text.token_kinds(np.array([0, 3, 4, 8]), np.array([3, 4, 8, 9])))
    KindCounts(words_and_numbers=3, punctuation=1, white_space=0)
    """

    __slots__ = (
        "_characters",
        "_letters",
        "_numbers_seen",
        "_offsets",
        "_seen",
        "_within",
        "_word_ends",
        "_word_starts",
        "n_bytes",
        "n_characters",
    )

    def __init__(self, text: str) -> None:
        characters = CodePoints(text)
        kinds, offsets = characters.kinds, characters.offsets
        in_word = np.concatenate([[False], kinds == CodePoints.WORD, [False]])
        edges = np.flatnonzero(in_word[1:] != in_word[:-1])
        self.n_characters = len(text)
        self.n_bytes = int(offsets[-1])
        self._offsets = offsets
        self._word_starts = offsets[edges[0::2]]
        self._word_ends = offsets[edges[1::2]]
        per_byte = np.repeat(kinds, np.diff(offsets))
        # int32[n_bytes + 1]: the number of the word that each byte is within, -1 for its first
        # byte and outside words.
        self._within = np.full(self.n_bytes + 1, -1, np.int32)
        of_word = per_byte == CodePoints.WORD
        within = np.flatnonzero(of_word[1:] & of_word[:-1]) + 1
        self._within[within] = np.searchsorted(self._word_ends, within)
        # For each kind, int32[n_bytes + 1]: the number of bytes of that kind before each byte.
        all_kinds = (CodePoints.WORD, CodePoints.OTHER, CodePoints.SPACE)
        self._seen = {kind: _before(per_byte == kind) for kind in all_kinds}
        numbers = np.repeat(characters.are_numbers, np.diff(offsets))
        self._numbers_seen = _before(numbers)
        self._characters = characters
        self._letters: _Letters | None = None

    def word_counts(
        self,
        ends: NDArray[np.int64],
        gaps: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None,
    ) -> WordTotals:
        """Count words and their tokens, given the byte offsets of token ends: int64[n], ascending.

        `gaps` are the starts and ends of bytes without a token, two int64[m], ascending; a word
        with such bytes is not whole.
        """
        n_words = len(self._word_starts)
        cut = self._within[ends]
        cut = cut[cut >= 0]
        whole = np.ones(n_words, np.bool_)
        whole[cut] = False
        if gaps is not None and len(gaps[0]):
            begun = np.searchsorted(gaps[0], self._word_ends)
            whole &= begun == np.searchsorted(gaps[1], self._word_starts, side="right")
        return WordTotals(n_words, n_words + len(cut), int(whole.sum()))

    def token_kinds(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the kind of each token as an index in TOKEN_KINDS, uint8[n].

        A token with a letter or mark is of "words", another with a number of "numbers", another
        with any character but white space of "punctuation". Part of a character counts as the whole
        character, and a token of length 0 as the character before it.

        >>> kinds = TextMap("hug 7!").token_kinds(np.array([0, 3, 5]), np.array([3, 5, 6]))
        >>> [TOKEN_KINDS[kind] for kind in kinds]
        ['words', 'numbers', 'punctuation']
        """
        starts = _not_empty(starts, ends)
        n_word_bytes = self.count_kind_bytes(CodePoints.WORD, starts, ends)
        n_number_bytes = self._numbers_seen[ends] - self._numbers_seen[starts]
        kinds = np.full(len(starts), 3, np.uint8)
        kinds[self.count_kind_bytes(CodePoints.OTHER, starts, ends) > 0] = 2
        kinds[n_number_bytes > 0] = 1
        kinds[n_word_bytes > n_number_bytes] = 0
        return kinds

    def token_scripts(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.uint8]:
        """Return the script of each token as an index in SCRIPT_GROUPS, uint8[n].

        It is the script of most of the token's letters and marks, in a tie the first; see
        `kinds.token_script`. Here a token with part of a letter counts for its script,
        because the rest of the letter is known.

        >>> codes = TextMap("да ok").token_scripts(np.array([0, 1, 4]), np.array([1, 4, 7]))
        >>> [SCRIPT_GROUPS[code] for code in codes]
        ['Cyrillic letters', 'Cyrillic letters', 'Latin letters']
        """
        starts = _not_empty(starts, ends)
        if self.n_bytes == self.n_characters:
            # Only ASCII.
            n_word_bytes = self.count_kind_bytes(CodePoints.WORD, starts, ends)
            n_number_bytes = self._numbers_seen[ends] - self._numbers_seen[starts]
            return np.where(n_word_bytes > n_number_bytes, _LATIN, NO_LETTER).astype(np.uint8)
        if self._letters is None:
            self._letters = _Letters(self._characters.scripts, self._offsets)
        return self._letters.main_scripts(starts, ends)

    def n_characters_begun(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
        """Count the characters whose first byte lies in one of the spans, given by two int64[n]."""
        begun = np.searchsorted(self._offsets, ends) - np.searchsorted(self._offsets, starts)
        return int(begun.sum())

    def count_kind_bytes(
        self, kind: int, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Count the bytes of one kind of character in each span, int32[n]."""
        return self._seen[kind][ends] - self._seen[kind][starts]


class _Letters:
    """The letters and marks of a text, and how many there are up to each byte."""

    def __init__(self, codes: NDArray[np.uint8], offsets: NDArray[np.int64]) -> None:
        is_shared = codes == SHARED_LETTER
        is_own = (codes != NO_LETTER) & ~is_shared
        self._codes = codes[is_own]
        self._own = _BegunAndEnded(offsets, is_own)
        self._shared = _BegunAndEnded(offsets, is_shared)
        # int64[n_own]: how often the script has changed up to each letter.
        self._n_changes = np.concatenate([[0], np.cumsum(np.diff(self._codes) != 0)])

    def main_scripts(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the script of most letters that are in each span of bytes, at least in part."""
        a, b = self._own.ended[starts], self._own.begun[ends]
        has_shared = self._shared.begun[ends] > self._shared.ended[starts]
        scripts = np.where(has_shared, np.uint8(OTHER_LETTER), np.uint8(NO_LETTER))
        has_own = np.flatnonzero(b > a)
        scripts[has_own] = self._codes[a[has_own]]
        is_mixed = self._n_changes[b[has_own] - 1] > self._n_changes[a[has_own]]
        mixed = has_own[is_mixed]
        if len(mixed):
            scripts[mixed] = self._most_frequent(a[mixed], b[mixed])
        return scripts

    def _most_frequent(
        self, starts: NDArray[np.int32], ends: NDArray[np.int32]
    ) -> NDArray[np.uint8]:
        """Return the most frequent script between letters, in a tie the first; none is empty."""
        lengths = ends - starts
        token = np.repeat(np.arange(len(starts)), lengths)
        within = np.arange(len(token)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        letters = self._codes[np.repeat(starts, lengths) + within]
        found, at, counts = np.unique(token * 256 + letters, return_index=True, return_counts=True)
        best_first = np.lexsort((at, -counts, found // 256))
        _, places = np.unique(found[best_first] // 256, return_index=True)
        return (found[best_first][places] % 256).astype(np.uint8)


class _BegunAndEnded:
    """How many of some characters begin before each byte, and how many end: int32[n_bytes + 1]."""

    __slots__ = ("begun", "ended")

    def __init__(self, offsets: NDArray[np.int64], chosen: NDArray[np.bool_]) -> None:
        n_bytes = int(offsets[-1])
        begins = np.zeros(n_bytes + 1, np.bool_)
        begins[offsets[:-1][chosen] + 1] = True
        ends = np.zeros(n_bytes + 1, np.bool_)
        ends[offsets[1:][chosen]] = True
        self.begun = np.cumsum(begins, dtype=np.int32)
        self.ended = np.cumsum(ends, dtype=np.int32)


def _not_empty(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
    """Let a token of length 0 begin one byte earlier, so that it has the character before it."""
    return np.where(starts == ends, np.maximum(starts - 1, 0), starts)


def _before(chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Count the chosen bytes before each byte, and before the end: int32[n_bytes + 1]."""
    counts = np.zeros(len(chosen) + 1, np.int32)
    np.cumsum(chosen, out=counts[1:])
    return counts
