"""Count words with kernels, in tables that grow, and look through the words that were counted."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import counting as kernels
from bpe_core.kernels.counting import ENTRY, Batch, WordTable
from bpe_core.kernels.for_callers import (
    Array,
    aligned_empty,
    aligned_zeros,
    longer,
    n_threads,
    together,
)
from bpe_core.kernels.row import BETWEEN
from bpe_core.kernels.scanning import Block, Scanner
from bpe_core.unicode import AFTER_WORD

_SCAN_AHEAD = 8192  # bytes scanned at a time: their ends stay in the L1 cache
_MIN_ENTRIES = 1 << 13  # starting with a large table took 97 ns a token, with a small one 23
_LONG = 1 << 18  # bytes of an array that gets a reserve when it grows
_RESERVE = 64  # times the room it needs
_MAX_RESERVED = 1 << 29  # bytes; a process may be refused more than it could ever use
_BATCH = 256  # words looked up at a time: their entries stay in the L1 cache
_MIN_LETTERS: Final = 1 << 19  # of a row, for another thread


class WordLetters(NamedTuple):
    """Words in one array."""

    letters: NDArray[np.uint8]
    """uint8[n_letters]: the bytes of each word, and AFTER_WORD."""

    def row(self, id_of: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the ids of words in one row, int32[1 + n_letters]: of a gap, then of each letter.

        Each thread takes a part. Most of the time is spent touching new memory for the first time,
        which threads share. `id_of` is int32[256].

        >>> id_of = np.arange(256, dtype=np.int32)
        >>> id_of[AFTER_WORD] = -1
        >>> WordLetters(np.frombuffer(b"ab\\xff", np.uint8)).row(id_of).tolist()
        [-1, 97, 98, -1]
        """
        letters = self.letters
        ids = np.empty(1 + letters.size, np.int32)
        ids[0] = id_of[AFTER_WORD]
        n_parts = max(1, min(n_threads(), letters.size // _MIN_LETTERS))
        bounds = [part * letters.size // n_parts for part in range(n_parts + 1)]
        together(
            [
                partial(kernels.place_letters, letters, begin, end, id_of, ids[1:])
                for begin, end in pairwise(bounds)
            ]
        )
        return ids

    def character_row(self, id_of: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the ids of words in one row, int32[n]: of a gap, then of each character and gap.

        `id_of` is int32[0x110000].

        >>> id_of = np.zeros(0x110000, np.int32)
        >>> id_of[ord("é")] = 7
        >>> words = WordLetters(np.frombuffer("éa".encode() + b"\\xff", np.uint8))
        >>> words.character_row(id_of).tolist()
        [-1, 7, 0, -1]
        """
        ids = np.empty(1 + self.letters.size, np.int32)
        ids[0] = BETWEEN
        n = int(kernels.place_characters(self.letters, id_of, BETWEEN, ids[1:]))
        return ids[: 1 + n]

    def character_uses(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each character occurs in words with these counts, int64[0x110000].

        >>> words = WordLetters(np.frombuffer(b"aab\\xffa\\xff", np.uint8))
        >>> words.character_uses(np.array([5, 1]))[97:99].tolist()
        [11, 5]
        """
        n_uses = np.zeros(0x110000, np.int64)
        kernels.count_characters(self.letters, counts, n_uses)
        return n_uses

    def find_with(self, is_wanted: NDArray[np.bool_], n_words: int) -> NDArray[np.int64]:
        """Return the numbers of the words that have a wanted character, ascending.

        `is_wanted` is bool[0x110000].

        >>> is_wanted = np.zeros(0x110000, np.bool_)
        >>> is_wanted[ord("b")] = True
        >>> words = WordLetters(np.frombuffer(b"aa\\xffab\\xff", np.uint8))
        >>> words.find_with(is_wanted, 2).tolist()
        [1]
        """
        found = np.empty(n_words, np.int64)
        return found[: kernels.list_words_with(self.letters, is_wanted.view(np.uint8), found)]

    def find_unwritten(self, n_words: int) -> NDArray[np.int64]:
        """Return the numbers of words that do not begin with a space, or have another, or a ▁.

        >>> WordLetters(np.frombuffer(b" a\\xffa\\xff", np.uint8)).find_unwritten(2).tolist()
        [1]
        """
        found = np.empty(n_words, np.int64)
        return found[: kernels.list_unwritten(self.letters, found)]


class WordCounter:
    """A table of words that grows, and counts those of one block after another."""

    def __init__(self) -> None:
        self._words = _words(_MIN_ENTRIES, 8 * _MIN_ENTRIES)
        self._reserve = self._words.entries
        self._batch = Batch(*(np.empty(_BATCH, np.uint64) for _ in Batch._fields))
        self._ends = np.empty(_SCAN_AHEAD, np.int64)

    @property
    def n_words(self) -> int:
        return int(self._words.used[0])

    @property
    def n_entries(self) -> int:
        return self._words.entries.size // ENTRY

    def count(self, scanner: Scanner, base: int, block: Block) -> None:
        """Count the words that a scanner finds in a block; it starts at byte `base` of the text."""
        reached = np.array([0, block.bounds[0]])
        while True:
            status = kernels.count_words(
                scanner,
                block.text,
                block.bounds,
                self._ends,
                self._words,
                self._batch,
                base,
                reached,
            )
            if status == kernels.DONE:
                return
            if status == kernels.SMALL_BUFFERS:
                self._ends = np.empty(2 * len(self._ends), np.int64)
            else:
                self._grow()

    def count_given(self, text: NDArray[np.uint8], ends: NDArray[np.int64], base: int) -> None:
        """Count the words that end at these bytes of a text; the first starts at 0."""
        begin = taken = 0
        while True:
            rest = ends[taken:]
            taken += int(
                kernels.count_ends(text, begin, rest, len(rest), self._words, self._batch, base)
            )
            if taken == len(ends):
                return
            begin = int(ends[taken - 1]) if taken else 0
            self._grow()

    def fold(self, other: WordCounter) -> None:
        """Add another table's words to this one; the other is not used again."""
        # Read-only, as all text is: a second type of array would double the time to compile.
        letters = other._words.letters.view()
        letters.flags.writeable = False
        counts = other._counts()
        n_words, nothing = other.n_words, np.empty(0, np.uint64)
        other._reserve = nothing  # its memory is freed before this table may grow
        other._words = source = other._words._replace(entries=nothing, letters=letters)
        taken = 0
        while True:
            taken = int(kernels.fold_words(source, counts, taken, self._words, self._batch))
            if taken == n_words:
                return
            # Only now, because two tables share most of their words.
            self._grow()

    def result(self) -> tuple[WordLetters, NDArray[np.int64]]:
        """Return the words in the order they were first seen, and their counts."""
        n, n_letters = self._words.used.tolist()
        counts = self._counts()
        # Fast for runs in order, and a single table is in order throughout.
        order = np.argsort(self._words.firsts[:n], kind="stable")
        letters = np.empty(n_letters, np.uint8)
        kernels.copy_words(self._words, order, letters)
        return WordLetters(letters), counts[order]

    def _counts(self) -> NDArray[np.int64]:
        """Return the words' counts by number."""
        counts = np.zeros(self.n_words, np.int64)
        kernels.gather_counts(self._words.entries, counts)
        return counts

    def make_room(self, n_entries: int, n_letters: int) -> None:
        """Grow to at least this many entries, a power of two, and bytes of letters."""
        while self._words.entries.size < ENTRY * n_entries:
            entries = self._twice_as_long(self._words.entries)
            kernels.spread_entries(entries)
            self._words = self._words._replace(entries=entries)
        words = self._words
        room = kernels.word_capacity(words.entries)
        self._words = words._replace(
            starts=_with_reserve(words.starts, room),
            firsts=_with_reserve(words.firsts, room),
            letters=_with_reserve(words.letters, n_letters),
        )

    def _twice_as_long(self, entries: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return an array whose first half is these entries, in the same memory if possible."""
        size = 2 * entries.size
        if size > self._reserve.size:
            self._reserve = aligned_empty(_reserve_for(size, entries.itemsize))
            self._reserve[: entries.size] = entries
        return self._reserve[:size]

    def _grow(self) -> None:
        """Double the room for words or, if that is not exhausted, for letters."""
        words = self._words
        if words.used[0] + _BATCH > kernels.word_capacity(words.entries):
            self.make_room(2 * self.n_entries, words.letters.size)
        else:
            # Long words exhaust the letters first, and one word may need any length.
            self.make_room(self.n_entries, 2 * words.letters.size)


def _words(n_entries: int, n_letters: int) -> WordTable:
    entries = aligned_zeros(n_entries * ENTRY)
    room = kernels.word_capacity(entries)
    return WordTable(
        entries=entries,
        starts=np.empty(room, np.int64),
        firsts=np.empty(room, np.int64),
        letters=np.empty(n_letters, np.uint8),
        used=np.zeros(2, np.int64),
    )


def _with_reserve(array: Array, room: int) -> Array:
    """Return an array of at least `room`, as `longer` does, but with a reserve if it is long.

    An array with a reserve is copied to new memory less often, and the part of it that is never
    written to takes no memory.
    """
    return array if array.size >= room else longer(array, _reserve_for(room, array.itemsize))


def _reserve_for(room: int, itemsize: int) -> int:
    """Return the length of an array with a reserve, if it is long."""
    if room * itemsize < _LONG:
        return room
    return max(room, min(_RESERVE * room, _MAX_RESERVED // itemsize))
