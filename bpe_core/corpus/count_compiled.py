"""Count with kernels: the results of `count.count_pretokens`, faster for long texts.

The text is encoded block by block, so that it is never in memory as bytes in full. Each thread
takes the next block and counts it into its own table, until there are no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import (
    ENTRY,
    Array,
    Batch,
    Scanner,
    WordTable,
    aligned_empty,
    aligned_zeros,
    for_callers,
    longer,
)
from bpe_core.kernels import counting as kernels
from bpe_core.pretokenizers import (
    SCANNERS,
    Block,
    Buffer,
    Pretokenizer,
    Section,
    SharedText,
    byte_ends,
    get_pretokenizer,
    get_scanner,
    safe_split,
    sections,
)
from bpe_core.types import PretokenCounts

_CHUNK = 1 << 19
_FIRST_BLOCK = 1 << 19
_BLOCK = 1 << 22
_SCAN_AHEAD = 8192  # bytes scanned at a time: their ends stay in the L1 cache
_MIN_ENTRIES = 1 << 13  # starting with a large table took 97 ns a token, with a small one 23
_LONG = 1 << 18  # bytes of an array that gets a reserve when it grows
_RESERVE = 64  # times the room it needs
_MAX_RESERVED = 1 << 29  # bytes; a process may be refused more than it could ever use
_BATCH = 256  # words looked up at a time: their entries stay in the L1 cache


class _Table:
    """A table of words that grows."""

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

    def fold(self, other: _Table) -> None:
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

    def result(self) -> PretokenCounts:
        """Return the words in the order they were first seen."""
        n, n_letters = self._words.used.tolist()
        counts = self._counts()
        # Fast for runs in order, and a single table is in order throughout.
        order = np.argsort(self._words.firsts[:n], kind="stable")
        letters = np.empty(n_letters, np.uint8)
        kernels.copy_words(self._words, order, letters)
        return PretokenCounts.of_letters(letters, counts[order])

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


def count_documents(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of documents, each on its own, in the order they are first seen.

    `should_stop` is called after about every 4 MB that this thread counts, or before each document
    for a custom pattern. Raises what the pre-tokenizer raises.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> count_documents(["a1b1"], get_pretokenizer("regex:[0-9]")).words
    (b'a', b'1', b'b')
    """
    if pretokenizer.cut not in SCANNERS:
        return _count_by_regex(documents, pretokenizer, should_stop)
    text = sections(map(_pieces, documents), pretokenizer)
    return count_sections(text, pretokenizer, should_stop)


def count_sections(
    text: Iterable[Section],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None = None,
    n_threads: int | None = None,
    block_bytes: int = _BLOCK,
) -> PretokenCounts:
    """Count the words of a text in sections, in the order they are first seen.

    Each thread takes blocks of about `block_bytes`, the first of which are smaller so that several
    threads share a short text. `should_stop` is called only by this thread, at the start and after
    each of its own blocks.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> count_sections([[b"hug hu", b"gs"], [b"hug"]], get_pretokenizer("gpt2")).words
    (b'hug', b' hugs')
    """
    waiting = SharedText(iter(text), min(_FIRST_BLOCK, block_bytes), block_bytes)
    scanner = get_scanner(pretokenizer.cut)
    if should_stop is not None and should_stop():
        waiting.stop()
    # This thread takes part because `should_stop` and what it calls may be bound to it.
    tasks = [partial(_count_waiting, waiting, scanner, should_stop)]
    tasks += [partial(_count_waiting, waiting, scanner)] * (
        (n_threads or for_callers.n_threads()) - 1
    )
    return _folded(for_callers.together(tasks)).result()


def _count_waiting(
    waiting: SharedText, scanner: Scanner, should_stop: Callable[[], bool] | None = None
) -> _Table:
    """Count blocks until there are no more; an error or `should_stop` ends it for all threads."""
    table, buffer = _Table(), Buffer()
    try:
        while (taken := waiting.take(buffer)) is not None:
            table.count(scanner, *taken)
            if should_stop is not None and should_stop():
                break
    finally:
        waiting.stop()  # the text is used up, or nobody wants the rest
    return table


def _folded(tables: list[_Table]) -> _Table:
    """Return a table of the words of all."""
    # Fold into the largest table, which lacks the fewest words of the others.
    *others, all_words = sorted(tables, key=lambda table: table.n_words)
    while others:
        all_words.fold(others.pop())
    return all_words


def _pieces(document: str) -> Iterator[str]:
    for start in range(0, len(document), _CHUNK):
        yield document[start : start + _CHUNK]


def _count_by_regex(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None,
) -> PretokenCounts:
    table = _Table()
    base = 0
    for document in documents:
        if should_stop is not None and should_stop():
            break
        text = np.frombuffer(document.encode(), np.uint8)
        table.count_given(text, byte_ends(document, pretokenizer), base)
        base += text.size
    return table.result()


def compile_all() -> None:
    """Compile every kernel of this module by calling it."""
    table, other = _Table(), _Table()
    block = Buffer().fill(sections([["hug hugs"]], get_pretokenizer("gpt2")), 1)
    assert block is not None
    table.count(get_scanner("gpt2"), 0, block)
    table.count_given(block.text, np.array([block.text.size]), 0)
    other.fold(table)
    other.result()
    other.make_room(2 * other.n_entries, 0)
    safe_split(b"hug hugs", 0, get_pretokenizer("gpt2"))
