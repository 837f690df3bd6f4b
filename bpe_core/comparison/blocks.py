"""Divide a corpus into blocks, over which the uncertainty of a figure is estimated.

A part of a corpus that was split has blocks already: its documents. Neighbouring lines are alike,
so cutting those again would make a figure look more certain than it is. Any other long document is
cut at lines; short documents share a block. The blocks only say where a token is counted: every
document is encoded in one go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.borders import border_near
from bpe_core.corpus.composition import file_of, file_type
from bpe_core.corpus.corpus import Corpus

FEWEST_WANTED: Final = 128
"""Longer documents are cut until there are about this many blocks."""
MOST_WANTED: Final = 1_024
"""Shorter documents are joined until there are about this many blocks."""
_SMALLEST: Final = 16
_LONGEST_REACH: Final = 2_000
_MOST_NAMES: Final = 12
"""This many of the largest files, and types, are counted by name; the others are taken together."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """The blocks of a corpus: which file and type each is of, and where it is."""

    n_blocks: int
    n_documents: int
    """How many documents were divided; 0 for weighted words."""
    n_cut: int
    """How many of those were cut into several blocks."""
    were_held_out: bool
    """True if the documents are the blocks of a split."""
    files: tuple[str, ...]
    """The names of the largest files, and one for the others; empty for weighted words."""
    types: tuple[str, ...]
    file_of_block: NDArray[np.int64]
    """int64[n_blocks], indices in `files`."""
    type_of_block: NDArray[np.int64]
    starts: NDArray[np.int64]
    """int64[n]: the byte where each block, or its part in a document, starts in that document."""
    block_at: NDArray[np.int64]
    """int64[n]: the block that starts there."""
    first_start: NDArray[np.int64]
    """int64[n_documents + 1]: which of `starts` belong to each document."""

    def of_tokens(self, document: int, token_starts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the block of each token of a document, given the bytes where tokens start.

        A token belongs to the block in which it starts.

        >>> blocks = blocks_of(Corpus.from_text("one line\\n" * 64))
        >>> blocks.of_tokens(0, np.array([0, 8, 9, 30])).tolist()
        [0, 0, 0, 1]
        """
        a, b = int(self.first_start[document]), int(self.first_start[document + 1])
        if b - a == 1:
            return np.full(len(token_starts), self.block_at[a])
        place = np.searchsorted(self.starts[a:b], token_starts, side="right") - 1
        return self.block_at[a:b][place]


def blocks_of(corpus: Corpus) -> Blocks:
    """Divide a corpus into blocks; each is of one file, or of several small ones of one type.

    Weighted words are dealt to blocks in turn, because they have no order.

    >>> blocks = blocks_of(Corpus.from_documents(["a line\\n" * 8, "x = 1"], ["a.txt", "b.py"]))
    >>> blocks.n_blocks, blocks.types, blocks.type_of_block.tolist()
    (5, ('.txt', '.py'), [0, 0, 0, 0, 1])
    """
    if corpus.word_counts is not None:
        return _dealt(len(corpus.word_counts))
    documents = corpus.documents
    n_characters = sum(map(len, documents))
    size = max(n_characters / FEWEST_WANTED, _SMALLEST)
    files, file_places = _largest([file_of(name) for name in corpus.names], documents, "files")
    types, type_places = _largest([file_type(name) for name in corpus.names], documents, "types")
    starts: list[int] = []
    block_at: list[int] = []
    first_start = [0]
    kinds: list[tuple[int, int]] = []
    filling: dict[tuple[int, int], tuple[int, int]] = {}
    n_cut = 0
    for text, *kind_of in zip(documents, file_places, type_places, strict=True):
        kind = (kind_of[0], kind_of[1])
        boundaries = [0] if corpus.places or len(text) < 2 * size else _boundaries(text, size)
        n_cut += len(boundaries) > 1
        if len(boundaries) == 1:
            # A block that is not full yet takes the next short document of its file or type.
            block, n_in_it = filling.get(kind, (len(kinds), 0))
            if not n_in_it:
                kinds.append(kind)
            filling[kind] = block, n_in_it + max(len(text), 1)
            if filling[kind][1] >= n_characters / MOST_WANTED:
                del filling[kind]
            starts.append(0)
            block_at.append(block)
        else:
            starts += _in_bytes(text, boundaries)
            block_at += range(len(kinds), len(kinds) + len(boundaries))
            kinds += [kind] * len(boundaries)
        first_start.append(len(starts))
    return Blocks(
        n_blocks=len(kinds),
        n_documents=len(documents),
        n_cut=n_cut,
        were_held_out=bool(corpus.places),
        files=files,
        types=types,
        file_of_block=np.array([file for file, _ in kinds], np.int64),
        type_of_block=np.array([type_ for _, type_ in kinds], np.int64),
        starts=np.array(starts, np.int64),
        block_at=np.array(block_at, np.int64),
        first_start=np.array(first_start, np.int64),
    )


def _dealt(n_words: int) -> Blocks:
    n_blocks = min(n_words, MOST_WANTED)
    none = np.zeros(n_blocks, np.int64)
    return Blocks(
        n_blocks=n_blocks,
        n_documents=0,
        n_cut=0,
        were_held_out=False,
        files=(),
        types=(),
        file_of_block=none,
        type_of_block=none,
        starts=np.zeros(n_words, np.int64),
        block_at=np.arange(n_words) % n_blocks,
        first_start=np.arange(n_words + 1),
    )


def _largest(
    names: Sequence[str], documents: Iterable[str], what: str
) -> tuple[tuple[str, ...], list[int]]:
    """Return the names with the most text, then one for all others, and the place of each name."""
    sizes: Counter[str] = Counter()
    for name, text in zip(names, documents, strict=True):
        sizes[name] += len(text)
    ordered = sorted(sizes, key=lambda name: (-sizes[name], name))
    # One other is named rather than called "1 other".
    named = ordered if len(ordered) <= _MOST_NAMES + 1 else ordered[:_MOST_NAMES]
    place = {name: min(i, len(named)) for i, name in enumerate(ordered)}
    n_others = len(ordered) - len(named)
    others = (f"{n_others:,} other {what}",) if n_others else ()
    return (*named, *others), [place[name] for name in names]


def _boundaries(text: str, size: float) -> list[int]:
    """Return where the blocks of a long text start, in characters: at lines, if any are near."""
    n_blocks = max(1, round(len(text) / size))
    reach = max(1, min(round(size / 2), _LONGEST_REACH))
    boundaries = [0]
    for n in range(1, n_blocks):
        wanted = round(n * len(text) / n_blocks)
        found = border_near(text, wanted, reach)
        boundary = wanted if found is None else found
        if boundaries[-1] < boundary < len(text):
            boundaries.append(boundary)
    return boundaries


def _in_bytes(text: str, boundaries: Sequence[int]) -> list[int]:
    if text.isascii():
        return list(boundaries)
    lengths = [
        len(text[a:b].encode())
        for a, b in zip(boundaries, [*boundaries[1:], len(text)], strict=True)
    ]
    return [0, *np.cumsum(lengths[:-1]).tolist()]
