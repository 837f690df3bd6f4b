"""A bounded cache of values computed per word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")

MAX_WORDS: Final = 100_000
_MAX_CHARACTERS: Final = 200
"""Longer words rarely recur, and a few of them could fill the memory."""


class WordCache(dict[str, Value]):
    """A dict that computes missing values, and is cleared when it holds `max_words`.

    Clearing is much cheaper than tracking the last use of each word: looking up a known word is as
    fast as in a plain dict.

    >>> lengths = WordCache(len)
    >>> lengths["hug"], dict(lengths)
    (3, {'hug': 3})
    """

    def __init__(self, compute: Callable[[str], Value], *, max_words: int = MAX_WORDS) -> None:
        super().__init__()
        self._compute = compute
        self._max_words = max_words
        _all[id(self)] = self

    def __missing__(self, word: str) -> Value:
        value = self._compute(word)
        if len(word) <= _MAX_CHARACTERS:
            if len(self) >= self._max_words:
                self.clear()
            self[word] = value
        return value


_all: Final[WeakValueDictionary[int, WordCache[Any]]] = WeakValueDictionary()


def forget_cached_words() -> None:
    """Clear every word cache; they fill again with the next text."""
    for reference in _all.valuerefs():  # a copy, because other threads may make caches
        cache = reference()
        if cache is not None:
            cache.clear()
