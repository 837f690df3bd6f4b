"""Encode texts and give the byte spans of their tokens, in pieces of suitable size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bpe_core.comparison.blocks import Blocks
from bpe_core.errors import UnknownSymbolError
from bpe_core.pretokenizers import cut_text
from bpe_core.tokenizer import BatchEncoder, Encoder, Tokenizer
from bpe_core.types import Segment

_PIECE = 1 << 18
"""The bytes of text that are mapped at once; larger pieces are not faster."""
_BATCH = 1 << 16
"""The characters that are encoded at once, where a text can be cut: work can be cancelled in
between, and the tokens of a part take about 20 times the memory of its text."""
_NO_BLOCKS = np.empty(0, np.int64)
# bool[256]: the bytes that are a whole character outside words.
_NO_WORD = np.array([byte < 0x80 and not chr(byte).isalnum() for byte in range(256)])


@dataclass(frozen=True, slots=True)
class Spans:
    """The byte spans of a tokenizer's tokens in a text, in arrays of equal length."""

    ids: NDArray[np.int32 | np.int64]
    """-1 where there is no token."""
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    blocks: NDArray[np.int64]
    """The block of each token; empty if blocks are not counted."""


class IdTable:
    """A tokenizer's ids, which may be sparse, and the lengths of their tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> table = IdTable(gpt2())
    >>> table.lengths[table.places(np.array([464]))].tolist()
    [3]
    """

    __slots__ = ("ids", "lengths")

    def __init__(self, tokenizer: Encoder) -> None:
        known = sorted(tokenizer.vocab)
        self.ids: NDArray[np.int64] = np.array(known, np.int64)
        self.lengths: NDArray[np.int32] = np.array(
            [len(tokenizer.vocab[id_]) for id_ in known], np.int32
        )

    def places(self, ids: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the index of each id among the sorted ids."""
        if self.ids[-1] == len(self.ids) - 1:
            return ids
        return np.searchsorted(self.ids, ids)


def pieces(
    texts: Iterable[str],
    tokenizer: Encoder,
    table: IdTable,
    *,
    blocks: Blocks | None = None,
    first: int = 0,
) -> Iterator[tuple[str, Spans]]:
    """Yield texts and their tokens in pieces of suitable size: short texts joined, long ones cut.

    `first` is the number of the first text among those of `blocks`.

    A text map takes 80 bytes per byte of text, and one map per short text would be slow.
    """
    joined: list[str] = []
    parts: list[Spans] = []
    offset = 0
    number = first - 1
    for text, is_new, spans in _encoded(texts, tokenizer, table):
        number += is_new
        if blocks is not None:
            block = blocks.block_of_text[number]
            spans = replace(spans, blocks=np.full(len(spans.ids), block))
        utf8 = text.encode()
        if len(utf8) > _PIECE:
            yield from _cut(utf8, spans)
            continue
        joined.append(text)
        parts.append(replace(spans, starts=spans.starts + offset, ends=spans.ends + offset))
        # The line end between two texts belongs to neither, and keeps their words apart.
        offset += len(utf8) + 1
        if offset > _PIECE:
            yield "\n".join(joined), _chained(parts)
            joined, parts, offset = [], [], 0
    if joined:
        yield "\n".join(joined), _chained(parts)


def _chained(parts: Sequence[Spans]) -> Spans:
    return Spans(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.blocks for part in parts]),
    )


def _cut(utf8: bytes, spans: Spans) -> Iterator[tuple[str, Spans]]:
    """Cut a text and its tokens where a token ends between two words.

    If there is no such place, the piece is larger.
    """
    bytes_ = np.frombuffer(utf8, np.uint8)
    first, n_tokens = 0, len(spans.ids)
    while first < n_tokens:
        start, size, last = int(spans.starts[first]), _PIECE, first
        while last == first:
            # A token of length 0 ends where the token before it does, so it stays with that token.
            last = int(np.searchsorted(spans.ends, start + size, side="right"))
            if last < n_tokens:
                at = spans.ends[first:last]
                between = np.flatnonzero(_NO_WORD[bytes_[at - 1]] | _NO_WORD[bytes_[at]])
                last = first + int(between[-1]) + 1 if len(between) else first
            size *= 2
        yield (
            utf8[start : int(spans.ends[last - 1])].decode(),
            Spans(
                spans.ids[first:last],
                spans.starts[first:last] - start,
                spans.ends[first:last] - start,
                spans.blocks[first:last],
            ),
        )
        first = last


def _encoded(
    texts: Iterable[str], tokenizer: Encoder, table: IdTable
) -> Iterator[tuple[str, bool, Spans]]:
    """Yield the texts with the spans of their tokens, and whether each begins a new text.

    A long text is encoded in parts if its ids don't change; each begins and ends between words.
    """
    if not isinstance(tokenizer, BatchEncoder):
        cuts = isinstance(tokenizer, Tokenizer) and tokenizer.pretokenizer.ends_before_space
        for text in texts:
            for place, part in enumerate(cut_text(text, _BATCH) if cuts else (text,)):
                yield part, place == 0, _spans(part, tokenizer, table)
        return
    for batch in _batches(texts, tokenizer):
        columns = tokenizer.place_tokens([part for part, _ in batch])
        for (part, is_new), found in zip(batch, columns, strict=True):
            yield part, is_new, Spans(*found, _NO_BLOCKS)


def _batches(texts: Iterable[str], tokenizer: BatchEncoder) -> Iterator[list[tuple[str, bool]]]:
    batch: list[tuple[str, bool]] = []
    n_characters = 0
    for text in texts:
        parts = tokenizer.parts(text, _BATCH) if len(text) > _BATCH else (text,)
        for place, part in enumerate(parts):
            batch.append((part, place == 0))
            n_characters += len(part)
            if n_characters >= _BATCH:
                yield batch
                batch, n_characters = [], 0
    if batch:
        yield batch


def _spans(text: str, tokenizer: Encoder, table: IdTable) -> Spans:
    """Return the spans of tokens; use only their lengths if they cover the text exactly."""
    if isinstance(tokenizer, Tokenizer) and tokenizer.spells_text:
        try:
            ids = tokenizer.encode_to_numpy(text)
        except UnknownSymbolError:
            return _columns(tokenizer.segments(text))
        lengths = table.lengths[table.places(ids)]
        ends = np.cumsum(lengths, dtype=np.int64)
        return Spans(ids, ends - lengths, ends, _NO_BLOCKS)
    return _columns(tokenizer.segments(text))


def _columns(segments: Sequence[Segment]) -> Spans:
    """Return the ids and spans of segments; the id is -1 if there is no token."""
    n = len(segments)
    return Spans(
        np.fromiter((-1 if each.id is None else each.id for each in segments), np.int64, n),
        np.fromiter((each.byte_start for each in segments), np.int64, n),
        np.fromiter((each.byte_end for each in segments), np.int64, n),
        _NO_BLOCKS,
    )
