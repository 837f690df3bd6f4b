"""Cut text into blocks of UTF-8 for the kernels that count and encode.

A block consists of sections: whole documents, or parts of one cut where no pre-token crosses. So
the text is never in memory as bytes in full, and several threads can share it.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import counting as kernels
from bpe_core.kernels import longer
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.pretokenizers.scanners import class_table, number_table, space_table
from bpe_core.unicode import byte_offsets

Section = Sequence[bytes | memoryview]
"""A whole document, or a part of one cut where no pre-token crosses, in pieces of UTF-8."""

_ROOM = 1 << 23
"""Bytes; blocks are seldom longer."""

_LONG = 1 << 14
"""ASCII text of at least this many characters is read in place. For shorter text, encoding takes
less time than preparing for that."""


_bytes_at = cast(
    "Callable[[str], int]",
    ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(("PyUnicode_AsUTF8", ctypes.pythonapi)),
)


class _Memory:
    """What NumPy needs to make an array of memory; the array refers to this, and so to the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.__array_interface__: dict[str, Any] = {
            "version": 3,
            "typestr": "|u1",
            "shape": (len(text),),
            "data": (_bytes_at(text), True),  # read-only
        }


class Block(NamedTuple):
    """Sections of text, each pre-tokenized on its own."""

    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    """int64[n + 1]: the start of each section, and the end of the last."""


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


def sections(
    documents: Iterable[Iterable[str] | Iterable[bytes]],
    pretokenizer: Pretokenizer,
    look_back: int = 1 << 16,
) -> Iterator[Section]:
    """Cut documents, which arrive in pieces of text or UTF-8, into sections.

    A long document is cut only where no pre-token crosses, near the end of a piece: if possible
    within the last `look_back` bytes. The pre-tokenizer must have a scanner.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> list(sections([["ab", "c d"], ["e"]], get_pretokenizer("gpt2"), look_back=1))
    [[b'ab', b'c'], [b' d'], [b'e']]
    """
    for document in documents:
        yield from _sections(document, pretokenizer, look_back)


def _sections(
    document: Iterable[str] | Iterable[bytes], pretokenizer: Pretokenizer, look_back: int
) -> Iterator[Section]:
    """Cut a document into sections, at safe places near the ends of its pieces."""
    section: list[bytes | memoryview] = []
    for piece in document:
        data = piece if isinstance(piece, bytes) else _utf8(piece)
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


def _utf8(text: str) -> bytes | memoryview:
    """Return the UTF-8 of a text, without a copy if it is long and in ASCII.

    Python allocates new memory for the bytes of each long text, and touching it took longer than
    copying the text.
    """
    if len(text) >= _LONG and text.isascii():
        return ascii_in_place(text).data
    return text.encode()


def safe_split(
    data: bytes | memoryview | NDArray[np.uint8], near: int, pretokenizer: Pretokenizer
) -> int:
    """Return the first byte from `near` on where a cut changes no pre-token.

    Return the length of the text if there is none. The pre-tokenizer must have a scanner.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> safe_split(b"to be", 0, get_pretokenizer("gpt2"))
    2
    """
    text = np.frombuffer(data, np.uint8)
    # A pre-tokenizer that drops white space may join any other characters into one word.
    before_space_only = pretokenizer.drops_text or not pretokenizer.ends_before_space
    classes = class_table() if pretokenizer.ends_before_space else space_table()
    if pretokenizer.cut == "superwords":
        classes = number_table()
    return int(kernels.safe_split(text, near, text.size, classes, before_space_only))


def byte_ends(text: str, pretokenizer: Pretokenizer) -> NDArray[np.int64]:
    """Return where pre-tokens end in the text's UTF-8; the pre-tokenizer must not drop text.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> byte_ends("é1", get_pretokenizer("regex:[0-9]")).tolist()
    [2, 3]
    """
    ends = np.array([end for _, end in pretokenizer.spans(text)], np.int64)
    return ends if text.isascii() else byte_offsets(text)[ends]


def ascii_in_place(text: str) -> NDArray[np.uint8]:
    """Return the bytes of a text of ASCII characters, read-only.

    Other text has no bytes to read in place: Python would encode it and keep the result, half as
    much again or more, for as long as the text lives.

    >>> ascii_in_place("hug").tobytes()
    b'hug'
    """
    if not text.isascii():
        raise ValueError("only text of ASCII characters can be read in place")
    return np.asarray(_Memory(text))
