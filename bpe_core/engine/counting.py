"""Counting by kernels: what `counting.count_pretokens` gives for texts that are worth a compiler.

A text goes through in blocks, so that not all of it need be in memory as bytes. A block is made of
sections, whole documents or parts of one that end where no pattern looks across, and two threads
share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.engine.scanners import SCANNERS, class_table
from bpe_core.kernels import counting as kernels
from bpe_core.kernels.counting import WordTable
from bpe_core.pretokenizers import Pretokenizer, get_pretokenizer
from bpe_core.types import PretokenCounts

_CHUNK = 1 << 20
_SCAN_AHEAD = 8192  # bytes scanned at a time: class, flag and end of each stay in the first cache
_ROOM = 8192  # words; a table that starts at 2**20 cost 97 ns a token where a small one cost 23


class Block(NamedTuple):
    """Sections of text, each to be pre-tokenized on its own."""

    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    """int64[n + 1]: where each section starts, and where the last ends."""


class WordCounter:
    """Counts the words of a text that comes block by block, in the order they are first seen.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> counter = WordCounter(get_pretokenizer("gpt2"))
    >>> for block in blocks([["hug hugs"], ["hug"]], get_pretokenizer("gpt2")):
    ...     counter.add(block)
    >>> counter.result().words
    (b'hug', b' hugs')
    """

    def __init__(self, pretokenizer: Pretokenizer, *, bytes_to_share: int = 1 << 18) -> None:
        self._scanner = SCANNERS[pretokenizer.name]
        # A second thread costs 0.1 ms, and as many words as both see are folded once more.
        self._bytes_to_share = bytes_to_share
        self._tables = (_Table(), _Table())
        # How many words each table had after each block: a word that both have seen belongs where
        # the earlier block put it, and within a block the first table has the first half.
        self._marks: list[tuple[int, int]] = [(0, 0)]
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="counting")
        self._running: list[Future[None]] = []

    def add(self, block: Block) -> None:
        """Count one more block; returns while it is counted, so that the next can be got ready."""
        self._wait()
        n_first = len(block.bounds) - 1
        if block.text.size > self._bytes_to_share and n_first > 1:
            middle = int(np.searchsorted(block.bounds, block.text.size // 2))
            n_first = max(1, min(middle, n_first - 1))
        shares = block.bounds[: n_first + 1], block.bounds[n_first:]
        self._running = [
            self._pool.submit(table.count, self._scanner, block.text, bounds)
            for table, bounds in zip(self._tables, shares, strict=True)
        ]

    def _wait(self) -> None:
        for share in self._running:
            share.result()
        self._marks.append((self._tables[0].n_words, self._tables[1].n_words))

    def result(self) -> PretokenCounts:
        """Give the words counted so far."""
        self._wait()
        self._pool.shutdown()
        first, second = self._tables
        if not second.n_words:
            return first.result()
        both = _Table()
        for before, after in pairwise(self._marks):
            both.fold(first, before[0], after[0])
            both.fold(second, before[1], after[1])
        del first, second, self._tables  # before the words are made, which take as much
        return both.result()


class _Table:
    """A table of words that grows."""

    def __init__(self) -> None:
        self._words = _words(_ROOM, 8 * _ROOM)
        self._resize_scratch(_SCAN_AHEAD)

    @property
    def n_words(self) -> int:
        return int(self._words.used[0])

    def count(self, scanner: int, text: NDArray[np.uint8], bounds: NDArray[np.int64]) -> None:
        """Count the words of some sections of a text, with a scanner."""
        reached = np.array([0, bounds[0]])
        while True:
            status = kernels.count_words(
                scanner, text, bounds, class_table(), *self._scratch, self._words, reached
            )
            if status == kernels.DONE:
                return
            if status == kernels.SMALL_BUFFERS:
                self._resize_scratch(2 * len(self._scratch[0]))
            else:
                self.grow()

    def count_given(self, text: NDArray[np.uint8], ends: NDArray[np.int64]) -> None:
        """Count the words that end at given bytes of a text, the first starting at 0."""
        begin = taken = 0
        while True:
            rest = ends[taken:]
            taken += int(kernels.count_ends(text, begin, rest, len(rest), self._words))
            if taken == len(ends):
                return
            begin = int(ends[taken - 1]) if taken else 0
            self.grow()

    def fold(self, other: _Table, begin: int, end: int) -> None:
        """Add some of another table's words, in their order."""
        # Seen as what can't be written, as all text is: one type of text, half of the compiling.
        letters = other._words.letters.view()
        letters.flags.writeable = False
        source = other._words._replace(letters=letters)
        while (begin := int(kernels.fold_words(source, begin, end, self._words))) < end:
            self.grow()

    def result(self) -> PretokenCounts:
        n = self.n_words
        starts = self._words.starts[:n]
        ends: list[int] = np.append(starts[1:], self._words.used[1]).tolist()
        letters = self._words.letters[: self._words.used[1]].tobytes()
        words = tuple(
            [letters[start:end] for start, end in zip(starts.tolist(), ends[:n], strict=True)]
        )
        return PretokenCounts(words, self._words.counts[:n].copy())

    def _resize_scratch(self, size: int) -> None:
        self._scratch = (np.empty(size, np.uint8), np.empty(size, np.uint8), np.empty(size, int))

    def grow(self) -> None:
        """Make room for twice as many words, or twice as many letters."""
        old = self._words
        full = old.used[0] == old.low.size
        # Long words fill the letters first; they may want room for one of any length.
        new = _words(
            old.low.size * (2 if full else 1),
            old.letters.size * (1 if full else 2),
            places=old.places.size * (2 if full else 1),
        )
        for name in ("low", "high", "counts", "starts", "letters"):
            array = getattr(old, name)
            getattr(new, name)[: array.size] = array
        new.used[:] = old.used
        kernels.refill_places(new)
        self._words = new


def _words(room: int, n_letters: int, places: int = 2 * _ROOM) -> WordTable:
    return WordTable(
        places=np.full(places, -1, np.int32),
        low=np.empty(room, np.uint64),
        high=np.empty(room, np.uint64),
        counts=np.empty(room, np.int64),
        starts=np.empty(room, np.int64),
        letters=np.empty(n_letters, np.uint8),
        used=np.zeros(2, np.int64),
    )


def count_documents(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None = None,
) -> PretokenCounts:
    """Count the pre-tokens of documents, each on its own, in the order they are first seen.

    `should_stop` is asked about every 8 MB, and before each document under a custom pattern.
    Raises what the pre-tokenizer raises.

    >>> from bpe_core.pretokenizers import get_pretokenizer
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


def blocks(
    documents: Iterable[Iterable[str] | Iterable[bytes]],
    pretokenizer: Pretokenizer,
    *,
    block_bytes: int = 8 << 20,
    look_back: int = 1 << 16,
) -> Iterator[Block]:
    """Gather documents, given in pieces of text or UTF-8, into blocks of about 8 MB.

    A long document is cut, but only near the end of a piece, from `look_back` bytes before it on
    if that can be, and only where the pre-tokenizer, one with a scanner, doesn't look across.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> [block.bounds.tolist() for block in blocks([["ab", "c"], ["d"]], get_pretokenizer("gpt2"))]
    [[0, 3, 4]]
    """
    parts: list[bytes] = []
    bounds = [0]
    for document in documents:
        for section in _sections(document, pretokenizer, look_back):
            parts += section
            bounds.append(bounds[-1] + sum(map(len, section)))
            if bounds[-1] >= block_bytes:
                yield _block(parts, bounds)
                parts, bounds = [], [0]
    if parts:
        yield _block(parts, bounds)


def _block(parts: list[bytes], bounds: list[int]) -> Block:
    return Block(np.frombuffer(b"".join(parts), np.uint8), np.array(bounds))


def _pieces(document: str) -> Iterator[str]:
    for start in range(0, len(document), _CHUNK):
        yield document[start : start + _CHUNK]


def _sections(
    document: Iterable[str] | Iterable[bytes], pretokenizer: Pretokenizer, look_back: int
) -> Iterator[list[bytes]]:
    """Cut a document near the ends of its pieces, where that is safe; a section in parts."""
    section: list[bytes] = []
    for piece in document:
        data = piece if isinstance(piece, bytes) else piece.encode()
        if len(data) >= look_back:
            cut = safe_split(data, len(data) - look_back, pretokenizer)
            if cut == len(data):
                cut = safe_split(data, 0, pretokenizer)
            if cut < len(data):
                yield [*section, data[:cut]]
                section = []
                data = data[cut:]
        section.append(data)
    if section:
        yield section


def safe_split(data: bytes, near: int, pretokenizer: Pretokenizer) -> int:
    """Find a byte from `near` on where UTF-8 can be cut without changing any pre-token.

    The length of the text where there is none. The pre-tokenizer must have a scanner.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> safe_split(b"to be", 0, get_pretokenizer("gpt2"))
    2
    """
    text = np.frombuffer(data, np.uint8)
    # What leaves white space out may take any other characters for one word.
    before_space_only = pretokenizer.drops_text
    return int(kernels.safe_split(text, near, text.size, class_table(), before_space_only))


def _count_by_regex(
    documents: Iterable[str],
    pretokenizer: Pretokenizer,
    should_stop: Callable[[], bool] | None,
) -> PretokenCounts:
    table = _Table()
    for document in documents:
        if should_stop is not None and should_stop():
            break
        ends = byte_ends(document, pretokenizer)
        table.count_given(np.frombuffer(document.encode(), np.uint8), ends)
    return table.result()


def byte_ends(text: str, pretokenizer: Pretokenizer) -> NDArray[np.int64]:
    """Where pre-tokens end in the text's UTF-8, for a pre-tokenizer that leaves nothing out.

    >>> byte_ends("é1", get_pretokenizer("regex:[0-9]")).tolist()
    [2, 3]
    """
    ends = np.array([end for _, end in pretokenizer.spans(text)], np.int64)
    if text.isascii():
        return ends
    code_points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    widths = 1 + (code_points > 0x7F) + (code_points > 0x7FF) + (code_points > 0xFFFF)
    return np.cumsum(widths, dtype=np.int64)[ends - 1]


def compile_all() -> None:
    """Compile every kernel of this module, by using it."""
    table, other = _Table(), _Table()
    text = np.frombuffer(b"hug hugs", np.uint8)
    table.count(0, text, np.array([0, text.size]))
    table.count_given(text, np.array([text.size]))
    other.fold(table, 0, table.n_words)
    other.grow()
    safe_split(b"hug hugs", 0, get_pretokenizer("gpt2"))
