"""A text in blocks that threads take in turn, and the ids of all blocks in order again."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import Block, Encoded, longer
from bpe_core.pretokenizers import Pretokenizer, Section, ascii_in_place

_LOOK_BACK: Final = 1 << 12


class Waiting:
    """Blocks of a text that several threads take in turn."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = enumerate(blocks)
        self._lock = threading.Lock()
        self._stopped = False

    def take(self) -> tuple[int, Block] | None:
        """Return the next block and its number; None if there is no more.

        >>> from bpe_core.pretokenizers import get_pretokenizer
        >>> waiting = Waiting(cut_blocks("hug hugs", get_pretokenizer("gpt2"), 4))
        >>> number, block = waiting.take()
        >>> number, block.bounds.tolist(), waiting.take()
        (0, [0, 8], None)
        """
        with self._lock:
            return None if self._stopped else next(self._blocks, None)

    def stop(self) -> None:
        """Give out no more blocks."""
        self._stopped = True


def cut_blocks(text: str, pretokenizer: Pretokenizer, size: int) -> Iterator[Block]:
    """Cut a text where no pre-token crosses, into blocks of about `size` characters, at least 1.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> blocks = cut_blocks("hug hugs", get_pretokenizer("gpt2"), 2)
    >>> [block.bounds.tolist() for block in blocks]
    [[0, 3], [3, 8]]
    """
    return (_cut_ascii if text.isascii() else _cut_and_convert)(text, pretokenizer, size)


def _cut_ascii(text: str, pretokenizer: Pretokenizer, size: int) -> Iterator[Block]:
    utf8 = ascii_in_place(text)
    begin = 0
    while begin < utf8.size:
        end = pretokenizer.safe_split(utf8, min(begin + size, utf8.size))
        yield Block(utf8, np.array([begin, end]))
        begin = end


def _cut_and_convert(text: str, pretokenizer: Pretokenizer, size: int) -> Iterator[Block]:
    """Convert a block at a time to UTF-8, so that the memory for it is used again.

    Other threads wait while one converts, so blocks should be short.
    """
    begin, n_characters = 0, size
    while begin < len(text):
        stop = begin + n_characters
        data = text[begin:stop].encode()
        cut = len(data)
        if stop < len(text):
            # Cut near the end, or else in the second half: after an early cut, most of the block
            # would be converted again, and once more after the next early cut.
            cut = pretokenizer.safe_split(data, max(0, cut - _LOOK_BACK))
            if cut == len(data):
                cut = pretokenizer.safe_split(data, len(data) // 2)
            if cut == len(data):
                n_characters *= 2
                continue
        yield Block(np.frombuffer(data, np.uint8, cut), np.array([0, cut]))
        begin, n_characters = stop - len(data[cut:].decode()), size


def join_texts(texts: Sequence[str], size: int) -> Iterator[Block]:
    """Join texts into blocks of at least `size` characters, except the last; each is a section.

    >>> [block.bounds.tolist() for block in join_texts(["hug", "pugs", "bun"], 4)]
    [[0, 3, 7], [0, 3]]
    """
    first = n_characters = 0
    for number, text in enumerate(texts, 1):
        n_characters += len(text)
        if n_characters >= size or number == len(texts):
            yield one_block(texts[first:number])
            first, n_characters = number, 0


def one_block(texts: Sequence[str]) -> Block:
    """Join texts into a block, in which each is a section.

    >>> one_block(["hug", "pugs"]).bounds.tolist()
    [0, 3, 7]
    """
    if all(map(str.isascii, texts)):
        utf8 = ascii_in_place("".join(texts))
        lengths = map(len, texts)
    else:
        encoded = [text.encode() for text in texts]
        utf8 = np.frombuffer(b"".join(encoded), np.uint8)
        lengths = map(len, encoded)
    return Block(utf8, np.array([0, *accumulate(lengths)]))


def join_sections(sections: Iterable[Section], size: int) -> Iterator[Block]:
    """Join sections of UTF-8 into blocks of at least `size` bytes, except the last.

    >>> sections = [[b"hug", b" "], [b"pugs"], [b"bun"]]
    >>> [block.bounds.tolist() for block in join_sections(sections, 6)]
    [[0, 4, 8], [0, 3]]
    """
    pieces: list[bytes | memoryview] = []
    bounds = [0]
    for section in sections:
        pieces += section
        bounds.append(bounds[-1] + sum(map(len, section)))
        if bounds[-1] >= size:
            yield Block(np.frombuffer(b"".join(pieces), np.uint8), np.array(bounds))
            pieces, bounds = [], [0]
    if len(bounds) > 1:
        yield Block(np.frombuffer(b"".join(pieces), np.uint8), np.array(bounds))


class Gathered:
    """The ids of all blocks in one array, in the order of the blocks.

    Threads write the ids of a block to buffers that they reuse, from where they are copied while
    they are near. n_likely: about how many bytes all blocks have.

    >>> gathered = Gathered(5)
    >>> gathered.add(1, 2, np.array([9], np.int32), np.array([1]))
    >>> gathered.add(0, 3, np.array([7, 8], np.int32), np.array([1, 2]))
    >>> ids, ends = gathered.finish()
    >>> ids.tolist(), ends.tolist()
    ([7, 8, 9], [1, 2, 3])
    """

    def __init__(self, n_likely: int) -> None:
        self._n_likely = n_likely
        self._ids = np.empty(0, np.int32)
        self._ends: list[NDArray[np.int64]] = []
        self._n_ids = self._n_bytes = 0
        self._early: dict[int, tuple[int, NDArray[np.int32], NDArray[np.int64]]] = {}
        self._lock = threading.Lock()

    def add(
        self, number: int, n_bytes: int, ids: NDArray[np.int32], ends: NDArray[np.int64]
    ) -> None:
        """Add the ids of a block, which are copied, and where those of each section end in them."""
        with self._lock:
            if number > len(self._ends):
                self._early[number] = n_bytes, ids.copy(), ends
                return
            self._append(n_bytes, ids, ends)
            while (early := self._early.pop(len(self._ends), None)) is not None:
                self._append(*early)

    def _append(self, n_bytes: int, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        begin = self._n_ids
        self._n_ids += len(ids)
        self._n_bytes += n_bytes
        if self._n_ids > self._ids.size:
            # As many as so far per byte, and a bit: a third of what the bytes could need.
            likely = self._n_ids * self._n_likely // self._n_bytes * 17 // 16
            self._ids = longer(self._ids, max(likely, self._n_ids))
        self._ids[begin : self._n_ids] = ids
        self._ends.append(ends + begin)

    def finish(self) -> Encoded:
        """Return the ids of all blocks, and where those of each section end; add no more."""
        ends = np.concatenate([np.empty(0, np.int64), *self._ends])
        self._ids.resize(self._n_ids, refcheck=False)  # frees the rest without a copy
        return self._ids, ends
