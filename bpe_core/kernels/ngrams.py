"""Count the n-grams of a row of tokens in one hash table, and score tokens by these counts.

Symbols are int32: 1 begins a document, twice, and the others are chosen by the caller, from 2 up
to `MAX_SYMBOL`. `NgramModel` calls the kernels; its twin is
`reference_probabilities`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part

BEGIN = 1
"""The symbol before a document; each document has two."""
MAX_SYMBOL = (1 << 21) - 1
"""Three symbols share 64 bits."""
DISCOUNT = 0.75
"""What is taken off each count, and given to the tokens that did not follow."""

_MIN_ENTRIES: Final = 1 << 12
_BITS = np.uint64(21)
_SYMBOL = np.uint64((1 << 21) - 1)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xFF51AFD7ED558CCD)
_SHIFT = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_FREE, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)
_A_KIND = np.uint64(1 << 32)


class NgramCounts(NamedTuple):
    """The counts of three and of two symbols in one table, and of one symbol in a row.

    Counts of two symbols are of the distinct symbols before them, and counts of one likewise.
    """

    entries: NDArray[np.uint64]
    """uint64[2 * capacity], a power of two: the key of each entry, 0 at a free place, then its
    count; from bit 32 on, for two symbols, the distinct symbols after them."""
    after_pair: NDArray[np.uint32]
    """uint32[capacity]: how many symbols stand after the two symbols of an entry; size 0 until
    `sum_contexts`."""
    single: NDArray[np.int64]
    """int64[n_symbols]: the distinct symbols before each symbol."""
    after_single: NDArray[np.int64]
    """int64[2 * n_symbols]: the counts of the pairs that begin with each symbol, summed, and the
    distinct symbols after it."""


@inlined
def _key(first, second, third):
    """Return the key of three symbols, or of the last two if the first is 0."""
    high = np.uint64(first) << _BITS | np.uint64(second)
    return high << _BITS | np.uint64(third)


@part
def _find(entries, key):
    """Return the place of a key's entry in the table, or the free place for it."""
    mask = np.uint64(entries.size - 1)
    place = ((key ^ key >> _SHIFT) * _GOLDEN >> _SHIFT) * _SPREAD >> _SHIFT
    place = (place << _ONE) & mask
    while entries[place] != key and entries[place] != _FREE:
        place = (place + _TWO) & mask
    return place


@kernel
def count_ngrams(counts, symbols, state):
    """Count the symbols of documents; return False if the table is three quarters full.

    symbols: int32[n], of whole documents. state: int64[2]: how many symbols are counted, and how
    many entries are used.
    """
    entries = counts.entries
    limit = entries.size // 8 * 3
    i, used = state[0], state[1]
    while i < symbols.size:
        symbol = symbols[i]
        if symbol != BEGIN:
            if used + 2 > limit:
                state[0], state[1] = i, used
                return False
            key = _key(symbols[i - 2], symbols[i - 1], symbol)
            place = _find(entries, key)
            if entries[place] == _FREE:
                entries[place] = key
                used += 1
                key = _key(0, symbols[i - 1], symbol)
                pair = _find(entries, key)
                if entries[pair] == _FREE:
                    entries[pair] = key
                    used += 1
                    counts.single[symbol] += 1
                entries[pair + _ONE] += _ONE
            entries[place + _ONE] += _ONE
        i += 1
    state[0], state[1] = i, used
    return True


@kernel
def move_ngrams(counts, larger, floor):
    """Copy entries to an empty table; return how many.

    Three symbols with a count of at most `floor` are left out, and two with less than that.
    """
    used = 0
    for i in range(counts.entries.size // 2):
        at = np.uint64(2 * i)
        key, count = counts.entries[at], counts.entries[at + _ONE]
        if key != _FREE:
            least = np.int64(floor)
            if key >> _BITS >> _BITS == _FREE:
                least -= 1
            if count == _FREE or np.int64(count) > least:
                place = _find(larger.entries, key)
                larger.entries[place] = key
                larger.entries[place + _ONE] = count
                used += 1
    return used


@kernel
def sum_contexts(counts):
    """Sum up the counts after each symbol and after each two symbols, once all are counted."""
    entries = counts.entries
    for i in range(entries.size // 2):
        at = np.uint64(2 * i)
        key = entries[at]
        count = entries[at + _ONE] & _LOW_HALF
        if key == _FREE or count == _FREE:
            continue
        if key >> _BITS >> _BITS == _FREE:
            first = np.int64(key >> _BITS)
            counts.after_single[2 * first] += np.int64(count)
            counts.after_single[2 * first + 1] += 1
        else:
            before = key >> _BITS
            place = _find(entries, before)
            if entries[place] == before:  # it may be left out
                counts.after_pair[np.int64(place) // 2] += np.uint32(count)
                entries[place + _ONE] += _A_KIND


@kernel
def enter_beginning(counts):
    """Enter the two symbols before a document in an empty table, as what others stand after."""
    key = _key(0, BEGIN, BEGIN)
    counts.entries[_find(counts.entries, key)] = key


@kernel
def score_ngrams(counts, symbols, total, kinds, found):
    """Write the probability of each symbol of documents, 1 for `BEGIN`.

    total, kinds: the sum of counts.single and how many are not 0. found: float64[n].
    """
    entries = counts.entries
    n_possible = np.float64(counts.single.size - 2)
    for i in range(symbols.size):
        symbol = symbols[i]
        if symbol == BEGIN:
            found[i] = 1.0
            continue
        first, second = symbols[i - 2], symbols[i - 1]
        p = 1.0 / n_possible
        if total > 0:
            seen = max(np.float64(counts.single[symbol]) - DISCOUNT, 0.0)
            p = (seen + DISCOUNT * np.float64(kinds) * p) / np.float64(total)
        after = counts.after_single[2 * np.int64(second)]
        if after > 0:
            place = _find(entries, _key(0, second, symbol))
            seen = max(np.float64(entries[place + _ONE] & _LOW_HALF) - DISCOUNT, 0.0)
            n_kinds = np.float64(counts.after_single[2 * np.int64(second) + 1])
            p = (seen + DISCOUNT * n_kinds * p) / np.float64(after)
        key = _key(0, first, second)
        context = _find(entries, key)
        if entries[context] == key and counts.after_pair[np.int64(context) // 2] > 0:
            n_after = np.float64(counts.after_pair[np.int64(context) // 2])
            n_kinds = np.float64(entries[context + _ONE] >> _SHIFT)
            place = _find(entries, _key(first, second, symbol))
            seen = max(np.float64(entries[place + _ONE] & _LOW_HALF) - DISCOUNT, 0.0)
            p = (seen + DISCOUNT * n_kinds * p) / n_after
        found[i] = p


# -- the model that calls the kernels, and its twin -------------------------------------------


class NgramModel:
    """Counts of symbols in a table of limited size, and probabilities by them.

    Symbols are 1 before each document, twice, and from 2 on whatever is predicted.

    >>> model = NgramModel(n_symbols=6, max_entries=64)
    >>> text = np.array([1, 1, 4, 5, 4, 5, 2], np.int32)
    >>> model.count(text)
    >>> model.finish()
    >>> model.probabilities(text).round(2).tolist()
    [1.0, 1.0, 0.69, 0.78, 0.47, 0.78, 0.33]
    """

    BEGIN: Final = BEGIN
    """The symbol before a document."""
    MAX_SYMBOL: Final = MAX_SYMBOL
    """The largest symbol."""

    def __init__(self, n_symbols: int, max_entries: int) -> None:
        self._max_entries = 1 << max(max_entries.bit_length() - 1, 3)
        self._counts = NgramCounts(
            np.zeros(2 * min(_MIN_ENTRIES, self._max_entries), np.uint64),
            np.empty(0, np.uint32),
            np.zeros(n_symbols, np.int64),
            np.zeros(2 * n_symbols, np.int64),
        )
        enter_beginning(self._counts)
        self.n_entries = 1
        """How many counts the table holds."""
        self.floor = 0
        """Three symbols that occurred at most this often were left out."""
        self._total = self._kinds = 0

    def count(self, symbols: NDArray[np.int32]) -> None:
        """Count the symbols of whole documents."""
        state = np.array([0, self.n_entries], np.int64)
        while not count_ngrams(self._counts, symbols, state):
            self.n_entries = int(state[1])
            self._make_room()
            state[1] = self.n_entries
        self.n_entries = int(state[1])

    def _make_room(self) -> None:
        """Double the table; if it may not grow, leave out the rarest."""
        size = self._counts.entries.size // 2
        if size < self._max_entries:
            self._move(min(2 * size, self._max_entries), 0)
            return
        while self.n_entries > size // 2:
            self.floor += 1
            self._move(size, self.floor)

    def _move(self, size: int, floor: int) -> None:
        to = self._counts._replace(entries=np.zeros(2 * size, np.uint64))
        self.n_entries = int(move_ngrams(self._counts, to, floor))
        self._counts = to

    def finish(self) -> None:
        """Prepare the counts for `probabilities`, once all are counted."""
        size = self._counts.entries.size // 2
        self._counts = self._counts._replace(after_pair=np.zeros(size, np.uint32))
        sum_contexts(self._counts)
        self._total = int(self._counts.single.sum())
        self._kinds = int(np.count_nonzero(self._counts.single))

    def used(self) -> NDArray[np.int64]:
        """Return the symbols that occurred."""
        return np.flatnonzero(self._counts.single)

    def probabilities(self, symbols: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the probability of each symbol of whole documents; 1 for those before them."""
        found = np.empty(len(symbols))
        score_ngrams(self._counts, symbols, self._total, self._kinds, found)
        return found


def reference_probabilities(
    training: Sequence[Sequence[int]], text: Sequence[int], n_symbols: int
) -> list[float]:
    """Return the probability of each symbol of a document: the model in plain Python.

    Documents are without the symbols before them.

    >>> [round(p, 2) for p in reference_probabilities([[4, 5, 4, 5, 2]], [4, 5, 4, 5, 2], 6)]
    [0.69, 0.78, 0.47, 0.78, 0.33]
    """
    triples: Counter[tuple[int, ...]] = Counter()
    for document in training:
        row = [BEGIN, BEGIN, *document]
        triples.update(zip(row, row[1:], row[2:], strict=False))
    pairs = Counter(triple[1:] for triple in triples)
    singles = Counter(pair[1:] for pair in pairs)
    levels = (singles, pairs, triples)
    found: list[float] = []
    row = [BEGIN, BEGIN, *text]
    for place in range(2, len(row)):
        p = 1 / (n_symbols - 2)
        for n, counts in enumerate(levels):
            before = tuple(row[place - n : place])
            after = [count for key, count in counts.items() if key[:-1] == before]
            if after:
                seen = max(counts[(*before, row[place])] - DISCOUNT, 0)
                p = (seen + DISCOUNT * len(after) * p) / sum(after)
        found.append(p)
    return found
