"""The words of a corpus in one row of slots, and what they were at any step of a training.

Two arrays hold a whole run: the base symbol of each slot, and the rank of the merge that joined the
slot to the one before it. From them the symbols before any merge follow without replaying a merge:
the slots joined by then fall away, and a symbol's id is what the last merge within it made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import CorpusError
from bpe_core.types import Base, Pair, PairCount, PretokenCounts, TieBreak

NEVER = np.iinfo(np.int32).max
"""In `joined_at`: no merge has joined this slot to the one before it."""

BITS = 32
"""A pair is one int in the fast code, `left << BITS | right`, which sorts as the pair does."""
_FEW_CODES = 4096  # fewer are sorted sooner than packed


def pair_of(key: int) -> Pair:
    """Take the key of a pair apart into its two ids.

    >>> pair_of(7 << 32 | 8)
    (7, 8)
    """
    return key >> BITS, key & ((1 << BITS) - 1)


@dataclass(frozen=True, slots=True)
class Layout:
    """All words in one row: their symbols' ids, -1 before, between and after the words."""

    ids: NDArray[np.int32]
    """int32[n_slots]"""
    weights: NDArray[np.int64]
    """int64[n_slots]: how often the word of this slot occurs in the corpus; 0 between words."""


def lay_out(words: Iterable[Sequence[int]], counts: Iterable[int]) -> Layout:
    """Lay words in one row; an id of -1 inside a word is a symbol that no merge takes.

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
    """Lay pre-tokens in one row as the base symbols they start as, -1 where the alphabet lacks one.

    Raises CorpusError for more than 2**31 - 1 slots, of bytes whatever the base.

    >>> counts = PretokenCounts((b"ab", b"b"), np.array([3, 5]))
    >>> lay_out_pretokens(counts, "bytes", {b"a": 7, b"b": 8}, end_of_word_id=9).ids.tolist()
    [-1, 7, 8, 9, -1, 8, 9, -1]
    """
    words = pretokens.words
    # After each word stand its marker, if there is one, and a place between words.
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


def _byte_ids(words: Sequence[bytes], base_ids: Mapping[bytes, int]) -> NDArray[np.int32]:
    """Return the id of each byte of all words, -1 for one that the alphabet lacks."""
    id_of = np.full(256, -1, np.int32)
    for byte, id in base_ids.items():
        id_of[byte[0]] = id
    return id_of[np.frombuffer(b"".join(words), np.uint8)]


def _character_ids(texts: Sequence[str], base_ids: Mapping[bytes, int]) -> NDArray[np.int32]:
    """Return the id of each character of all words, -1 for one that the alphabet lacks."""
    code_points = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    id_of = np.full(1 + int(code_points.max(initial=0)), -1, np.int32)
    for character, id in base_ids.items():
        if (code_point := ord(character.decode())) < id_of.size:
            id_of[code_point] = id
    return id_of[code_points]


def _check_slots(n_slots: int) -> None:
    if n_slots > NEVER:
        raise CorpusError(
            f"The different pre-tokens of this corpus take {n_slots:,} places, and training has "
            f"{NEVER:,}. Give less text, or a pre-tokenizer that cuts it into shorter words."
        )


def at_step(
    layout: Layout, joined_at: NDArray[np.int32], merge_ids: NDArray[np.int32], step: int
) -> Layout:
    """Give the row as it was before the merge of rank `step`, one slot a symbol.

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
    # -1, no merge, finds the entry appended at the end, which is not used.
    ids = np.where(last >= 0, np.append(merge_ids, np.int32(-1))[last], layout.ids[starts])
    return Layout(ids, layout.weights[starts])


@dataclass(frozen=True, slots=True)
class PairTable:
    """Every pair of neighbours in a row: how often it counts and where it stands."""

    keys: NDArray[np.int64]
    """int64[n_pairs], ascending."""
    counts: NDArray[np.int64]
    """int64[n_pairs]"""
    slots: NDArray[np.int64]
    """int64[n_windows]: where the pairs start; a pair's slots together, from left to right."""
    bounds: NDArray[np.int64]
    """int64[n_pairs + 1]: pair n has slots[bounds[n] : bounds[n + 1]]."""

    @property
    def first_slots(self) -> NDArray[np.int64]:
        """int64[n_pairs]: where each pair stands first."""
        return self.slots[self.bounds[:-1]]

    def counts_as_seen(self) -> dict[Pair, int]:
        """Return each pair's count, the pair that stands first in the row at first.

        >>> pair_table(lay_out([[8, 8, 7]], [2])).counts_as_seen()
        {(8, 8): 2, (8, 7): 2}
        """
        order = np.argsort(self.first_slots)
        counts: list[int] = self.counts[order].tolist()
        keys: list[int] = self.keys[order].tolist()
        return {pair_of(key): count for key, count in zip(keys, counts, strict=True)}

    def best(self, k: int, tie_break: TieBreak) -> list[PairCount]:
        """Return the k most frequent pairs in the order of the rule; a tie for the best is marked.

        >>> table = pair_table(lay_out([[8, 8, 7], [8, 7], [7, 7, 7]], [2, 1, 1]))
        >>> [tuple(pair) for pair in table.best(2, "smallest-pair")]
        [(8, 7, 3), (7, 7, 2)]
        """
        ties = self.keys if tie_break == "smallest-pair" else self.first_slots
        order = np.lexsort((ties, -self.counts))[:k]
        counts: list[int] = self.counts[order].tolist()
        keys: list[int] = self.keys[order].tolist()
        most = counts[0] if counts else 0
        several = int(np.count_nonzero(self.counts == most)) > 1
        return [
            PairCount(*pair_of(key), count, tied=several and count == most)
            for key, count in zip(keys, counts, strict=True)
        ]


def pair_table(
    layout: Layout, tokens: Sequence[bytes] = (), max_token_bytes: int | None = None
) -> PairTable:
    """Count all pairs, windows as in `aaa` with its two (a, a), save those too long to merge.

    >>> table = pair_table(lay_out([[7, 7, 7], [0, 7]], [2, 5]))
    >>> [pair_of(key) for key in table.keys.tolist()], table.counts.tolist()
    ([(0, 7), (7, 7)], [5, 4])
    """
    left, right = layout.ids[:-1], layout.ids[1:]
    fits = (left >= 0) & (right >= 0)
    if max_token_bytes is not None:
        lengths = np.array([len(token) for token in tokens])
        fits &= lengths[left] + lengths[right] <= max_token_bytes
    slots = np.flatnonzero(fits)
    keys = left[slots].astype(np.int64) << BITS | right[slots]
    order = order_of_pairs(keys)
    keys, slots = keys[order], slots[order]
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    # reduceat and not bincount: sums of float64 are exact up to 2**53 only.
    counts = np.add.reduceat(layout.weights[slots], starts) if len(starts) else starts
    return PairTable(keys[starts], counts, slots, np.append(starts, len(slots)))


def order_of_pairs(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the places of pairs' keys in ascending order, equal ones from left to right.

    >>> order_of_pairs(np.array([7 << 32 | 8, 7 << 32 | 2, 7 << 32 | 8])).tolist()
    [1, 0, 2]
    """
    if len(keys) < _FEW_CODES:
        return np.argsort(keys, kind="stable")
    left, right = keys >> BITS, keys & ((1 << BITS) - 1)
    # Without the gap between the ids there is more room behind them.
    return order_of(left << int(right.max()).bit_length() | right)


def order_of(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the places of codes, none below 0, in ascending order, equal ones from left to right.

    Where they fit, the places are sorted in the same ints as the codes: of five million pairs in
    0.2 s, where `argsort` takes 1.0 s.

    >>> order_of(np.array([5, 3, 5, 3])).tolist()
    [1, 3, 0, 2]
    """
    n = len(codes)
    bits = n.bit_length()
    if n < _FEW_CODES or int(codes.max()).bit_length() + bits >= 63:
        return np.argsort(codes, kind="stable")
    packed = codes << bits | np.arange(n)
    packed.sort()
    return packed & ((1 << bits) - 1)
