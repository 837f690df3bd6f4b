"""A bounded cache from words to what was worked out for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

Value = TypeVar("Value")

MAX_WORDS: Final = 100_000
_MAX_CHARACTERS: Final = 200
"""Longer words seldom come twice, and would let a text of few words fill the memory."""


class WordCache(dict[str, Value]):
    """A dict that works out what it lacks; with `max_words` in it it starts again from nothing.

    Emptying it costs a fraction of what keeping track of the last use of each word would: every
    look-up of a word that is known stays the one of a plain dict.

    >>> lengths = WordCache(len)
    >>> lengths["hug"], dict(lengths)
    (3, {'hug': 3})
    """

    def __init__(self, work_out: Callable[[str], Value], *, max_words: int = MAX_WORDS) -> None:
        super().__init__()
        self._work_out = work_out
        self._max_words = max_words

    def __missing__(self, word: str) -> Value:
        value = self._work_out(word)
        if len(word) <= _MAX_CHARACTERS:
            if len(self) >= self._max_words:
                self.clear()
            self[word] = value
        return value
