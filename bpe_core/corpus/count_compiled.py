"""Count with kernels: the results of `count.count_pretokens`, faster for long texts.

The text is encoded block by block, so that it is never in memory as bytes in full. Each thread
takes the next block and counts it into its own table, until there are no more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import numpy as np

from bpe_core.kernels import Block, Scanner, WordCounter, for_callers, longer
from bpe_core.pretokenizers import Pretokenizer, Section, get_pretokenizer
from bpe_core.types import PretokenCounts

_CHUNK = 1 << 19
_FIRST_BLOCK = 1 << 19
_BLOCK = 1 << 22
_ROOM = 1 << 23
"""Bytes; blocks are seldom longer."""


class Buffer:
    """Memory for one block after another.

    It is reused because filling new memory took twice as long, mostly for the first touch. It has
    room from the start, because the part that is never written to takes no memory, but each longer
    buffer would take new memory.
    """

    def __init__(self) -> None:
        self._text = np.empty(_ROOM, np.uint8)
        self._view = self._text.data

    def fill(self, waiting: Iterator[Section], n_bytes: int) -> Block | None:
        """Take waiting sections until there are at least `n_bytes`; return None if there are none.

        The next call overwrites the block.

        >>> waiting = iter([[b"hug", b" hugs"], [b"pug"], [b"bun"]])
        >>> block = Buffer().fill(waiting, 10)
        >>> block.text.tobytes(), block.bounds.tolist()
        (b'hug hugspug', [0, 8, 11])
        """
        bounds = [0]
        at = 0
        for section in waiting:
            for piece in section:
                stop = at + len(piece)
                if stop > len(self._view):
                    self._text = longer(self._text, stop)
                    self._view = self._text.data
                self._view[at:stop] = piece
                at = stop
            bounds.append(at)
            if at >= n_bytes:
                break
        if len(bounds) == 1:
            return None
        text = self._text[:at]
        text.flags.writeable = False  # as all text is: kernels are compiled per type of array
        return Block(text, np.array(bounds))


class SharedText:
    """Sections of text that several threads take in turn."""

    def __init__(self, waiting: Iterator[Section], first_bytes: int, max_bytes: int) -> None:
        """Give out blocks of about `first_bytes`, then twice as many each time up to the most."""
        self._waiting = waiting
        self._enough, self._most = first_bytes, max_bytes
        self._n_taken = 0
        self._lock = threading.Lock()
        self._stopped = False

    def take(self, buffer: Buffer) -> tuple[int, Block] | None:
        """Return the byte at which the next block starts, and the block; None at the end.

        >>> text = SharedText(iter([[b"hug"], [b" hugs"]]), 1, 1)
        >>> [text.take(Buffer())[0] for _ in range(2)], text.take(Buffer())
        ([0, 3], None)
        """
        with self._lock:
            block = None if self._stopped else buffer.fill(self._waiting, self._enough)
            if block is None:
                return None
            begin = self._n_taken
            self._n_taken += block.text.size
            self._enough = min(2 * self._enough, self._most)
            return begin, block

    def stop(self) -> None:
        """Give out no more blocks."""
        self._stopped = True


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
    if not pretokenizer.has_scanner:
        return _count_by_regex(documents, pretokenizer, should_stop)
    text = pretokenizer.sections(map(_pieces, documents))
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
    scanner = pretokenizer.scanner()
    if should_stop is not None and should_stop():
        waiting.stop()
    # This thread takes part because `should_stop` and what it calls may be bound to it.
    tasks = [partial(_count_waiting, waiting, scanner, should_stop)]
    tasks += [partial(_count_waiting, waiting, scanner)] * (
        (n_threads or for_callers.n_threads()) - 1
    )
    return _counted(_folded(for_callers.together(tasks)))


def _count_waiting(
    waiting: SharedText, scanner: Scanner, should_stop: Callable[[], bool] | None = None
) -> WordCounter:
    """Count blocks until there are no more; an error or `should_stop` ends it for all threads."""
    table, buffer = WordCounter(), Buffer()
    try:
        while (taken := waiting.take(buffer)) is not None:
            table.count(scanner, *taken)
            if should_stop is not None and should_stop():
                break
    finally:
        waiting.stop()  # the text is used up, or nobody wants the rest
    return table


def _folded(tables: list[WordCounter]) -> WordCounter:
    """Return a table of the words of all."""
    # Fold into the largest table, which lacks the fewest words of the others.
    *others, all_words = sorted(tables, key=lambda table: table.n_words)
    while others:
        all_words.fold(others.pop())
    return all_words


def _counted(table: WordCounter) -> PretokenCounts:
    words, counts = table.result()
    return PretokenCounts.of_letters(words.letters, counts)


def _pieces(document: str) -> Iterator[str]:
    for start in range(0, len(document), _CHUNK):
        yield document[start : start + _CHUNK]


def _count_by_regex(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None,
) -> PretokenCounts:
    table = WordCounter()
    base = 0
    for document in documents:
        if should_stop is not None and should_stop():
            break
        text = np.frombuffer(document.encode(), np.uint8)
        table.count_given(text, pretokenizer.byte_ends(document), base)
        base += text.size
    return _counted(table)


def compile_all() -> None:
    """Compile every kernel of this module by calling it."""
    table, other = WordCounter(), WordCounter()
    gpt2 = get_pretokenizer("gpt2")
    block = Buffer().fill(gpt2.sections([["hug hugs"]]), 1)
    assert block is not None
    table.count(gpt2.scanner(), 0, block)
    table.count_given(block.text, np.array([block.text.size]), 0)
    other.fold(table)
    words, counts = other.result()
    for array in (words.letters, counts):
        array.flags.writeable = False  # as those of counted words are
    words.row(np.zeros(256, np.int32))
    words.character_row(np.zeros(0x110000, np.int32))
    words.character_uses(counts)
    words.find_with(np.zeros(0x110000, np.bool_), counts.size)
    words.find_unwritten(counts.size)
    other.make_room(2 * other.n_entries, 0)
    gpt2.safe_split(b"hug hugs", 0)
