"""The words of a corpus in one row of slots, and their symbols at any step of a training run.

Two arrays describe a whole run: the base symbol of each slot, and the rank of the merge that joined
the slot to the one before it. They yield the symbols before any merge without replaying merges:
drop the slots joined by then, and take as a symbol's id what the last merge within it made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import CorpusError
from bpe_core.types import Base, PretokenCounts

NEVER = np.iinfo(np.int32).max
"""In `joined_at`: no merge joins this slot to the one before it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """All words in one row: the ids of their symbols, and -1 before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots]"""
    weights: NDArray[np.int64]
    """int64[n_slots]: how often the word of this slot occurs in the corpus; 0 between words."""


def lay_out(words: Iterable[Sequence[int]], counts: Iterable[int]) -> Layout:
    """Place words in one row; no merge takes a symbol with the id -1.

    >>> lay_out([[7, 8], [7]], [3, 5]).ids.tolist()
    [-1, 7, 8, -1, 7, -1]
    """
    ids = [-1]
    lengths = [1]
    weights = [0]
    for word, count in zip(words, counts, strict=True):
        ids += word
        ids.append(-1)
        lengths += (len(word), 1)
        weights += (count, 0)
    return Layout(
        np.array(ids, dtype=np.int32),
        np.repeat(np.array(weights, dtype=np.int64), np.array(lengths)),
    )


def lay_out_pretokens(
    pretokens: PretokenCounts,
    base: Base,
    base_ids: Mapping[bytes, int],
    end_of_word_id: int | None = None,
) -> Layout:
    """Place pre-tokens in one row as base symbols; -1 represents one missing from the alphabet.

    Raises CorpusError for more than 2**31 - 1 slots, counted in bytes for either base.

    >>> counts = PretokenCounts((b"ab", b"b"), np.array([3, 5]))
    >>> lay_out_pretokens(counts, "bytes", {b"a": 7, b"b": 8}, end_of_word_id=9).ids.tolist()
    [-1, 7, 8, 9, -1, 8, 9, -1]
    """
    words = pretokens.words
    # Each word is followed by the marker, if there is one, and by a gap.
    n_after = 1 if end_of_word_id is None else 2
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    _check_slots(1 + int(lengths.sum()) + n_after * len(words))
    if base == "bytes":
        symbols = _byte_ids(words, base_ids)
    else:
        texts = [word.decode() for word in words]
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        symbols = _character_ids(texts, base_ids)
    ends = np.cumsum(lengths + n_after)
    ids = np.full(1 + symbols.size + n_after * len(words), -1, np.int32)
    is_symbol = np.ones(ids.size, np.bool_)
    is_symbol[0] = False
    is_symbol[ends] = False
    if end_of_word_id is not None:
        is_symbol[ends - 1] = False
        ids[ends - 1] = end_of_word_id
    ids[is_symbol] = symbols
    weights = np.zeros(2 * len(words) + 1, np.int64)
    weights[1::2] = pretokens.counts
    repeats = np.ones(2 * len(words) + 1, np.int64)
    repeats[1::2] = lengths + n_after - 1
    return Layout(ids, np.repeat(weights, repeats))


def lay_out_encoded(
    pretokens: PretokenCounts, ids: NDArray[np.int32], ends: NDArray[np.int64]
) -> Layout:
    """Place pre-tokens in one row as the tokens of an existing tokenizer.

    `ids` and `ends` are as `Tokenizer.encode_words` returns them: the ids of all words, and where
    each word's ids end.

    >>> counts = PretokenCounts((b"hugs", b"s"), np.array([3, 5]))
    >>> row = lay_out_encoded(counts, np.array([7, 8, 8], np.int32), np.array([2, 3]))
    >>> row.ids.tolist(), row.weights.tolist()
    ([-1, 7, 8, -1, 8, -1], [0, 3, 3, 0, 5, 0])
    """
    n_words = len(ends)
    _check_slots(1 + len(ids) + n_words)
    gaps = ends + 1 + np.arange(n_words)
    laid_out = np.full(1 + len(ids) + n_words, -1, np.int32)
    is_symbol = np.ones(laid_out.size, np.bool_)
    is_symbol[0] = False
    is_symbol[gaps] = False
    laid_out[is_symbol] = ids
    weights = np.zeros(2 * n_words + 1, np.int64)
    weights[1::2] = pretokens.counts
    repeats = np.ones(2 * n_words + 1, np.int64)
    repeats[1::2] = np.diff(ends, prepend=0)
    return Layout(laid_out, np.repeat(weights, repeats))


def _byte_ids(words: Sequence[bytes], base_ids: Mapping[bytes, int]) -> NDArray[np.int32]:
    """Return the id of each byte of all words, or -1 if the alphabet lacks it."""
    id_of = np.full(256, -1, np.int32)
    for byte, id in base_ids.items():
        id_of[byte[0]] = id
    return id_of[np.frombuffer(b"".join(words), np.uint8)]


def _character_ids(texts: Sequence[str], base_ids: Mapping[bytes, int]) -> NDArray[np.int32]:
    """Return the id of each character of all words, or -1 if the alphabet lacks it."""
    code_points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    id_of = np.full(1 + int(code_points.max(initial=0)), -1, np.int32)
    for character, id in base_ids.items():
        if (code_point := ord(character.decode())) < id_of.size:
            id_of[code_point] = id
    return id_of[code_points]


def _check_slots(n_slots: int) -> None:
    if n_slots > NEVER:
        raise CorpusError(
            f"The distinct pre-tokens of this corpus have {n_slots:,} symbols, more than the "
            f"{NEVER:,} that can be trained on. Give less text, or a pre-tokenizer that cuts it "
            "into shorter words."
        )


def at_step(
    layout: Layout, joined_at: NDArray[np.int32], merge_ids: NDArray[np.int32], step: int
) -> Layout:
    """Return the row before the merge of rank `step`, with one slot for each symbol.

    `joined_at` is int32[n_slots], `merge_ids` int32[n_merges]: the id that each merge makes.

    >>> start = lay_out([[7, 7, 8]], [1])
    >>> joined_at = np.array([NEVER, NEVER, 0, 1, NEVER], np.int32)
    >>> made = np.array([9, 10], np.int32)
    >>> [at_step(start, joined_at, made, step).ids.tolist() for step in (1, 2)]
    [[-1, 9, 8, -1], [-1, 10, -1]]
    """
    joined = joined_at < step
    starts = np.flatnonzero(~joined)
    last = np.maximum.reduceat(np.where(joined, joined_at, -1), starts)
    # Without a merge, -1 picks the appended last entry, which is not used.
    ids = np.where(last >= 0, np.append(merge_ids, np.int32(-1))[last], layout.ids[starts])
    return Layout(ids, layout.weights[starts])
