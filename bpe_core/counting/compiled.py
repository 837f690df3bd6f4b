"""Counting by kernels: what `words.count_pretokens` gives for texts that are worth a compiler.

A text goes through in blocks, so that not all of it need be in memory as bytes. Whichever thread is
free takes the next block, into a table of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from bpe_core.compiling import threads
from bpe_core.compiling.arrays import aligned_zeros, longer
from bpe_core.kernels import counting as kernels
from bpe_core.kernels.counting import ENTRY, Batch, WordTable
from bpe_core.pretokenizers.blocks import Block, blocks, byte_ends, safe_split
from bpe_core.pretokenizers.pretokenizers import Pretokenizer, get_pretokenizer
from bpe_core.pretokenizers.scanners import SCANNERS, class_table
from bpe_core.types import PretokenCounts

_CHUNK = 1 << 19
_SCAN_AHEAD = 8192  # bytes scanned at a time: class, flag and end of each stay in the first cache
_FEWEST_ENTRIES = 1 << 13  # a table that starts large cost 97 ns a token, a small one 23
_BATCH = 256  # words looked up at a time: what is fetched for them stays in the first cache


class WordCounter:
    """Counts the words of a text that comes block by block, in the order they are first seen.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> counter = WordCounter(get_pretokenizer("gpt2"))
    >>> for block in blocks([["hug hugs"], ["hug"]], get_pretokenizer("gpt2")):
    ...     counter.add(block)
    >>> counter.result().words
    (b'hug', b' hugs')
    """

    def __init__(self, pretokenizer: Pretokenizer, n_threads: int | None = None) -> None:
        self._scanner = SCANNERS[pretokenizer.name]
        self._n_threads = n_threads or threads.n_threads()
        # Whichever table is free takes the next block: each word remembers where it was first seen.
        self._tables: list[_Table] = []
        self._free: list[_Table] = []
        self._n_bytes = 0
        self._pool = ThreadPoolExecutor(self._n_threads, thread_name_prefix="counting")
        self._running: deque[Future[None]] = deque()

    def add(self, block: Block) -> None:
        """Count one more block; returns while it is counted, so that the next can be got ready."""
        if len(self._running) == self._n_threads:
            self._running.popleft().result()
        self._running.append(self._pool.submit(self._count, block, self._n_bytes))
        self._n_bytes += block.text.size

    def _count(self, block: Block, base: int) -> None:
        try:
            table = self._free.pop()
        except IndexError:
            table = _Table()
            self._tables.append(table)
        table.count(self._scanner, block, base)
        self._free.append(table)

    def result(self) -> PretokenCounts:
        """Give the words counted so far."""
        while self._running:
            self._running.popleft().result()
        self._pool.shutdown()
        self._free.clear()
        # The largest first: what the others have and it lacks is the least.
        self._tables.sort(key=lambda table: table.n_words)
        all_words = self._tables.pop() if self._tables else _Table()
        while self._tables:
            all_words.fold(self._tables.pop())
        return all_words.result()


class _Table:
    """A table of words that grows."""

    def __init__(self) -> None:
        self._words = _words(_FEWEST_ENTRIES, 8 * _FEWEST_ENTRIES)
        self._batch = Batch(*(np.empty(_BATCH, np.uint64) for _ in Batch._fields))
        self._resize_scratch(_SCAN_AHEAD)

    @property
    def n_words(self) -> int:
        return int(self._words.used[0])

    @property
    def size(self) -> int:
        """How many numbers its entries are."""
        return self._words.entries.size

    def count(self, scanner: int, block: Block, base: int) -> None:
        """Count the words of a block, which begins at byte `base` of all text, with a scanner."""
        reached = np.array([0, block.bounds[0]])
        while True:
            status = kernels.count_words(
                scanner,
                block.text,
                block.bounds,
                class_table(),
                *self._scratch,
                self._words,
                self._batch,
                base,
                reached,
            )
            if status == kernels.DONE:
                return
            if status == kernels.SMALL_BUFFERS:
                self._resize_scratch(2 * len(self._scratch[0]))
            else:
                self._grow()

    def count_given(self, text: NDArray[np.uint8], ends: NDArray[np.int64], base: int) -> None:
        """Count the words that end at given bytes of a text, the first starting at 0."""
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
        """Add another table's words."""
        # Seen as what can't be written, as all text is: one type of text, half of the compiling.
        letters = other._words.letters.view()
        letters.flags.writeable = False
        source = other._words._replace(letters=letters)
        n_words, n_letters = (self._words.used + other._words.used).tolist()
        # A smaller table than the one it is read from would get all words in one place at first.
        self.make_room(max(source.entries.size, _size_for(n_words)), n_letters)
        kernels.fold_words(source, self._words)

    def result(self) -> PretokenCounts:
        """Give the words in the order they were first seen."""
        n, n_letters = self._words.used.tolist()
        counts = np.zeros(n, np.int64)
        kernels.gather_counts(self._words.entries, counts)
        # Quick where runs are in order already; of one table all is.
        order = np.argsort(self._words.firsts[:n], kind="stable")
        letters = np.empty(n_letters, np.uint8)
        kernels.copy_words(self._words, order, letters)
        words = letters.tobytes().split(bytes([kernels.AFTER_WORD]))
        words.pop()  # what follows the last
        return PretokenCounts(tuple(words), counts[order])

    def make_room(self, size: int, n_letters: int) -> None:
        """Have at least a table of so many numbers, and room for so many letters."""
        old = self._words
        entries = old.entries
        if size > entries.size:
            entries = aligned_zeros(size)
            kernels.move_entries(old.entries, entries)
        room = _room_of(entries.size)
        self._words = WordTable(
            entries=entries,
            starts=longer(old.starts, room),
            firsts=longer(old.firsts, room),
            letters=longer(old.letters, n_letters),
            used=old.used,
        )

    def _resize_scratch(self, size: int) -> None:
        self._scratch = (np.empty(size, np.uint8), np.empty(size, np.uint8), np.empty(size, int))

    def _grow(self) -> None:
        """Make room for twice as many words, or twice as many letters."""
        words = self._words
        if words.used[0] + _BATCH > words.starts.size:
            self.make_room(2 * words.entries.size, words.letters.size)
        else:
            # Long words fill the letters first; they may want room for one of any length.
            self.make_room(words.entries.size, 2 * words.letters.size)


def _words(n_entries: int, n_letters: int) -> WordTable:
    entries = aligned_zeros(n_entries * ENTRY)
    room = _room_of(entries.size)
    return WordTable(
        entries=entries,
        starts=np.empty(room, np.int64),
        firsts=np.empty(room, np.int64),
        letters=np.empty(n_letters, np.uint8),
        used=np.zeros(2, np.int64),
    )


def _room_of(size: int) -> int:
    """How many words a table of so many numbers takes before it is too full to be quick."""
    return size // ENTRY * 3 // 4


def _size_for(n_words: int) -> int:
    """How many numbers a table has that takes so many words."""
    n_entries = _FEWEST_ENTRIES
    while _room_of(n_entries * ENTRY) < n_words:
        n_entries *= 2
    return n_entries * ENTRY


def count_documents(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of documents, each on its own, in the order they are first seen.

    `should_stop` is asked about every 4 MB, and before each document under a custom pattern.
    Raises what the pre-tokenizer raises.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> count_documents(["a1b1"], get_pretokenizer("regex:[0-9]")).words
    (b'a', b'1', b'b')
    """
    if pretokenizer.name not in SCANNERS:
        return _count_by_regex(documents, pretokenizer, should_stop)
    return count_blocks(blocks(map(_pieces, documents), pretokenizer), pretokenizer, should_stop)


def count_blocks(
    text: Iterable[Block],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None = None,
) -> PretokenCounts:
    """Count the words of a text that comes block by block; `should_stop` is asked before each."""
    counter = WordCounter(pretokenizer)
    waiting = iter(text)
    while should_stop is None or not should_stop():
        block = next(waiting, None)
        if block is None:
            break
        counter.add(block)
    return counter.result()


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
    """Compile every kernel of this module, by using it."""
    table, other = _Table(), _Table()
    (block,) = blocks([["hug hugs"]], get_pretokenizer("gpt2"))
    table.count(0, block, 0)
    table.count_given(block.text, np.array([block.text.size]), 0)
    other.fold(table)
    other.result()
    other.make_room(2 * other.size, 0)
    safe_split(b"hug hugs", 0, get_pretokenizer("gpt2"))
