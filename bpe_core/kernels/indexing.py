"""Index the pairs of a row: which occur, how often and where, with a thread for each part."""

from __future__ import annotations

from functools import partial
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import pairs
from bpe_core.kernels.for_callers import aligned_zeros, longer, n_threads, together
from bpe_core.kernels.hashing import EMPTY
from bpe_core.kernels.pairs import CELLS, END, NEXT_SLOT, NEXT_WORD
from bpe_core.kernels.row import BETWEEN, ENTRIES, PAIRS, SLOTS, PairIndex, Row, Tokens

SPARE: Final = 1024
"""The least room for more pairs, slots and heap entries in an index."""

_MIN_ENTRIES: Final = 1 << 12
_MIN_SLOTS: Final = 1 << 19
"""A part of a row has at least this many slots: starting a thread takes as long as 50,000 slots."""


NO_SKETCH: Final = np.empty(0, np.uint32)
_SKETCHED: Final = 1 << 20
"""The places of a sketch: 4 MB."""


class CountedPairs(NamedTuple):
    """The pairs that occur in a row and may merge."""

    keys: NDArray[np.uint64]
    """uint64[n_pairs], see `hashing.pair_key`."""
    counts: NDArray[np.int64]
    """int64[n_pairs]: how often each pair occurs in the corpus."""
    tables: list[NDArray[np.uint64]]
    """The table of counts of each part of the row, see `pairs.count_row`."""

    def where(self, kept: NDArray[np.bool_]) -> CountedPairs:
        """Return only some of the pairs."""
        return CountedPairs(self.keys[kept], self.counts[kept], self.tables)

    def n_slots(self) -> NDArray[np.int64]:
        """Return how often each pair occurs in each part of the row, int64[n_parts, n_pairs]."""
        found = np.zeros((len(self.tables), self.keys.size), np.int64)
        for table, of_part in zip(self.tables, found, strict=True):
            pairs.find_slots(table, self.keys, of_part)
        return found


class RowPart(NamedTuple):
    """A part of a row, between two words."""

    begin: int
    end: int
    """The slots where it begins and ends."""
    word: int
    """The number of words before it."""


def cut_row(row: Row) -> list[RowPart]:
    """Cut a row between words into a part for each thread.

    >>> none = np.empty(0, np.int32)
    >>> cut_row(Row(np.array([-1, 7, 8, -1, 7, -1], np.int32), none, none))
    [RowPart(begin=0, end=6, word=0)]
    """
    n_parts = max(1, min(n_threads(), row.ids.size // _MIN_SLOTS))
    cuts = {_gap_from(row, part * row.ids.size // n_parts) for part in range(1, n_parts)}
    bounds = sorted({0, *cuts, row.ids.size})
    words = [int(np.count_nonzero(row.ids[:begin] == BETWEEN)) for begin in bounds]
    return [RowPart(*each) for each in zip(bounds, bounds[1:], words, strict=False)]


def _gap_from(row: Row, slot: int) -> int:
    """Return the first slot between two words, from this one on; the last slot always is one."""
    width = 256
    while True:
        found = np.flatnonzero(row.ids[slot : slot + width] == BETWEEN)
        if found.size:
            return slot + int(found[0])
        width *= 2


def sketch_pairs(row: Row, tokens: Tokens, parts: list[RowPart]) -> NDArray[np.uint32]:
    """Return a sketch of a row's pairs: an upper bound of each one's count, at a shared place.

    >>> ones, large = np.ones(9, np.int32), np.empty(0, np.int64)
    >>> row = Row(np.array([-1, 7, 8, -1, 7, 8, 8, -1], np.int32), ones[:2] * 5, large)
    >>> int(sketch_pairs(row, Tokens(ones, ones, ones), cut_row(row)).sum())
    15
    """
    sketches = [np.zeros(_SKETCHED, np.uint32) for _ in parts]
    each = zip(parts, sketches, strict=True)
    together([partial(pairs.sketch_row, row, tokens, *part, sketch) for part, sketch in each])
    total = np.sum(sketches, axis=0, dtype=np.uint64)
    return np.minimum(total, pairs.MAX_SKETCHED).astype(np.uint32)


def count_pairs(
    row: Row,
    tokens: Tokens,
    max_token_bytes: int,
    parts: list[RowPart],
    sketch: NDArray[np.uint32] = NO_SKETCH,
    least: int = 0,
) -> CountedPairs:
    """Count the pairs of a row that may merge; with a sketch, those that may occur `least` times.

    >>> ones, large = np.ones(9, np.int32), np.empty(0, np.int64)
    >>> row = Row(np.array([-1, 7, 8, -1, 7, 8, 8, -1], np.int32), ones[:2] * 5, large)
    >>> found = count_pairs(row, Tokens(ones, ones, ones), 9, cut_row(row))
    >>> counts = zip(found.keys.tolist(), found.counts.tolist())
    >>> sorted((key >> 32, key % 2**32, count) for key, count in counts)
    [(7, 8, 10), (8, 8, 5)]
    """
    least = min(least, pairs.MAX_SKETCHED)
    count = partial(_count_part, row, tokens, max_token_bytes, sketch, least)
    tables = together([partial(count, part) for part in parts])
    total = tables[0] if len(tables) == 1 else _add_tables(tables)
    keys, counts, _, _ = total.reshape(-1, CELLS)[total[2::CELLS] > 0].T.copy()
    return CountedPairs(keys, counts.view(np.int64), tables)


def _count_part(
    row: Row,
    tokens: Tokens,
    max_token_bytes: int,
    sketch: NDArray[np.uint32],
    least: int,
    part: RowPart,
) -> NDArray[np.uint64]:
    """Return the table of counts of a part of a row; see `pairs.count_row`."""
    table = aligned_zeros(_MIN_ENTRIES * CELLS)
    reached = np.zeros(4, np.int64)
    reached[[NEXT_SLOT, END, NEXT_WORD]] = part
    while not pairs.count_row(row, tokens, max_token_bytes, sketch, least, table, reached):
        larger = aligned_zeros(4 * table.size)
        pairs.add_counts(table, larger)
        table = larger
    return table


def _add_tables(tables: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    """Return a table of the pairs of several."""
    n_pairs = sum(int(np.count_nonzero(table[2::CELLS])) for table in tables)
    total = aligned_zeros((1 << max(12, (2 * n_pairs).bit_length())) * CELLS)
    for table in tables:
        pairs.add_counts(table, total)
    return total


def counts_of_words(row: Row, parts: list[RowPart], step: int) -> NDArray[np.int64]:
    """Return how often every step-th word of two or more symbols occurs, int64[n].

    >>> counts, none = np.array([5, 4, 3], np.int32), np.empty(0, np.int64)
    >>> row = Row(np.array([-1, 7, 8, -1, 7, -1, 8, 8, -1], np.int32), counts, none)
    >>> [counts_of_words(row, cut_row(row), step).tolist() for step in (1, 2)]
    [[5, 3], [3]]
    """

    def of_part(part: RowPart) -> NDArray[np.int64]:
        found = np.empty((part.end - part.begin) // (3 * step) + 1, np.int64)
        return found[: pairs.list_counts(row, *part, step, found)]

    return np.concatenate(together([partial(of_part, part) for part in parts]))


def build_index(
    row: Row, tokens: Tokens, parts: list[RowPart], counted: CountedPairs, threshold: int
) -> PairIndex:
    """Return an index of these pairs, with an empty heap.

    >>> ones, large = np.ones(9, np.int32), np.empty(0, np.int64)
    >>> row = Row(np.array([-1, 7, 8, -1, 7, 8, -1], np.int32), ones[:2] * 5, large)
    >>> tokens, parts = Tokens(ones, ones, ones), cut_row(row)
    >>> index = build_index(row, tokens, parts, count_pairs(row, tokens, 9, parts), threshold=1)
    >>> index.counts.tolist(), index.places[2 * index.begins[0] : 2 * index.ends[0] : 2].tolist()
    ([10], [1, 4])
    """
    keys, counts, n_slots = counted.keys, counted.counts, counted.n_slots()
    table_keys, table_pairs = _enter_pairs(keys, keys.size)
    of_pair = n_slots.sum(axis=0)
    n_windows = int(of_pair.sum())
    begins = np.cumsum(of_pair) - of_pair
    index = PairIndex(
        table_keys=table_keys,
        table_pairs=table_pairs,
        keys=keys,
        counts=counts,
        begins=begins,
        ends=begins + of_pair,
        # A merge may need twice the slots of its pair at a time; room that is never used is never
        # touched, so it takes no memory.
        places=np.empty(2 * (3 * n_windows + SPARE), np.int32),
        heap=np.empty(0, np.int32),
        heap_counts=np.empty(0, np.int64),
        heap_ties=np.empty(0, np.uint64),
        used=_used(n_pairs=keys.size, n_slots=n_windows, n_entries=keys.size),
        free=np.zeros(2, np.int64),
        threshold=threshold,
    )
    # For each pair, a part's slots follow those of the parts before it.
    reached = begins + np.cumsum(n_slots, axis=0) - n_slots
    together(
        [
            partial(pairs.gather_slots, row, tokens, index._replace(ends=ends), *part)
            for ends, part in zip(reached, parts, strict=True)
        ]
    )
    return index


def with_heap(index: PairIndex, *, first_seen: bool) -> PairIndex:
    """Return the index with a heap of its pairs, of equally frequent ones by `first_seen`."""
    first_slots = index.places[2 * index.begins].astype(np.uint64)
    ties = first_slots if first_seen else index.keys
    order = np.lexsort((ties, -index.counts)).astype(np.int32)  # sorted, so it is a heap
    return index._replace(heap=order, heap_counts=index.counts[order], heap_ties=ties[order])


def with_room(index: PairIndex, more_pairs: int, more_slots: int) -> PairIndex:
    """Return an index with room for more pairs, each with an entry in the heap, and more slots.

    >>> ones, large = np.ones(9, np.int32), np.empty(0, np.int64)
    >>> row = Row(np.array([-1, 7, 8, -1], np.int32), ones[:1], large)
    >>> tokens, parts = Tokens(ones, ones, ones), cut_row(row)
    >>> index = build_index(row, tokens, parts, count_pairs(row, tokens, 9, parts), threshold=1)
    >>> larger = with_room(index, 100, 0)
    >>> index.keys.size, larger.keys.size >= 101, larger.keys[:1].tolist() == index.keys.tolist()
    (1, True, True)
    """
    n_pairs, n_entries = (int(index.used[of]) + more_pairs for of in (PAIRS, ENTRIES))
    n_slots = int(index.used[SLOTS]) + more_slots
    if 2 * n_pairs > index.table_keys.size:
        table_keys, table_pairs = _enter_pairs(index.keys[: index.used[PAIRS]], n_pairs)
        index = index._replace(table_keys=table_keys, table_pairs=table_pairs)
    return index._replace(
        keys=longer(index.keys, n_pairs),
        counts=longer(index.counts, n_pairs),
        begins=longer(index.begins, n_pairs),
        ends=longer(index.ends, n_pairs),
        places=longer(index.places, 2 * n_slots),
        heap=longer(index.heap, n_entries),
        heap_counts=longer(index.heap_counts, n_entries),
        heap_ties=longer(index.heap_ties, n_entries),
    )


def build_table(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return a table in which `hashing.find_pair` finds these keys.

    keys: uint64[n]. The table is uint64[capacity], a power of two, EMPTY where no key is.

    >>> table = build_table(np.array([5, 9], np.uint64))
    >>> sorted(table[table != EMPTY].tolist())
    [5, 9]
    """
    return _enter_pairs(keys, keys.size)[0]


def _used(n_pairs: int, n_slots: int, n_entries: int) -> NDArray[np.int64]:
    used = np.empty(3, np.int64)
    used[[PAIRS, SLOTS, ENTRIES]] = n_pairs, n_slots, n_entries
    return used


def _enter_pairs(
    keys: NDArray[np.uint64], n_places: int
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    size = 1 << max(12, (4 * n_places).bit_length())
    table_keys = np.full(size, EMPTY, np.uint64)
    table_pairs = np.zeros(size, np.int32)
    pairs.enter_pairs(keys, table_keys, table_pairs)
    return table_keys, table_pairs
