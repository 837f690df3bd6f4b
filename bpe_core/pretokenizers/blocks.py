"""Cut text into blocks of UTF-8 for the kernels that count and encode.

A block consists of sections: whole documents, or parts of one cut where no pre-token crosses. So
the text is never in memory as bytes in full, and several threads can share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import counting as kernels
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.pretokenizers.scanners import class_table
from bpe_core.unicode.kinds import code_points, utf8_lengths

_BLOCK: Final = 1 << 22
_FIRST_BLOCK: Final = 1 << 19


class Block(NamedTuple):
    """Sections of text, each pre-tokenized on its own."""

    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    """int64[n + 1]: the start of each section, and the end of the last."""


def blocks(
    documents: Iterable[Iterable[str] | Iterable[bytes]],
    pretokenizer: Pretokenizer,
    *,
    block_bytes: int = _BLOCK,
    look_back: int = 1 << 16,
) -> Iterator[Block]:
    """Collect documents, which arrive in pieces of text or UTF-8, into blocks of `block_bytes`.

    Blocks have about 4 MB by default. The first ones are smaller, so that several threads share a
    short text; larger ones save time, since a thread may wait 5 ms for its turn after each.
    A long document is cut only where no pre-token crosses, near the end of a piece: if possible
    within the last `look_back` bytes. The pre-tokenizer must have a scanner.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> [block.bounds.tolist() for block in blocks([["ab", "c"], ["d"]], get_pretokenizer("gpt2"))]
    [[0, 3, 4]]
    """
    parts: list[bytes] = []
    bounds = [0]
    enough = min(_FIRST_BLOCK, block_bytes)
    for document in documents:
        for section in _sections(document, pretokenizer, look_back):
            parts += section
            bounds.append(bounds[-1] + sum(map(len, section)))
            if bounds[-1] >= enough:
                yield _block(parts, bounds)
                parts, bounds = [], [0]
                enough = min(2 * enough, block_bytes)
    if parts:
        yield _block(parts, bounds)


def _block(parts: list[bytes], bounds: list[int]) -> Block:
    return Block(np.frombuffer(b"".join(parts), np.uint8), np.array(bounds))


def _sections(
    document: Iterable[str] | Iterable[bytes], pretokenizer: Pretokenizer, look_back: int
) -> Iterator[list[bytes]]:
    """Cut a document where that is safe near the ends of its pieces; yield sections in parts."""
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
    """Return the first byte from `near` on where a cut changes no pre-token.

    Return the length of the text if there is none. The pre-tokenizer must have a scanner.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> safe_split(b"to be", 0, get_pretokenizer("gpt2"))
    2
    """
    text = np.frombuffer(data, np.uint8)
    # A pre-tokenizer that drops white space may join any other characters into one word.
    before_space_only = pretokenizer.drops_text
    return int(kernels.safe_split(text, near, text.size, class_table(), before_space_only))


def byte_ends(text: str, pretokenizer: Pretokenizer) -> NDArray[np.int64]:
    """Return where pre-tokens end in the text's UTF-8; the pre-tokenizer must not drop text.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> byte_ends("é1", get_pretokenizer("regex:[0-9]")).tolist()
    [2, 3]
    """
    ends = np.array([end for _, end in pretokenizer.spans(text)], np.int64)
    if text.isascii():
        return ends
    return np.cumsum(utf8_lengths(code_points(text)))[ends - 1]
