"""The words of a corpus that merges for terms can change, as these merges are applied.

A merge for a term joins a pair in the term. Its two symbols are tokens of the base, or made by
earlier merges, the first of which joined two tokens of the base. So each word that changes holds
a pair of neighbours that the base's encoding of some term holds, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting import NEVER, Layout
from bpe_core.trainers import BITS
from bpe_core.types import Pair


class TermWords:
    """The words of a layout that hold any of some pairs, each as a list of symbols.

    A word with a symbol missing from the alphabet is cut there, because no merge crosses it.

    >>> from bpe_core.counting import lay_out
    >>> words = TermWords(lay_out([[7, 8, 7], [8, 8]], [5, 3]), {(7, 8)})
    >>> words.merge((7, 8), 9, rank=0), words.symbols
    (5, [[9, 7]])
    >>> words.joined_at.tolist() == [NEVER, NEVER, 0, NEVER, NEVER, NEVER, NEVER, NEVER]
    True
    """

    def __init__(self, layout: Layout, pairs: Collection[Pair]) -> None:
        self.joined_at: NDArray[np.int32] = np.full(len(layout.ids), NEVER, np.int32)
        """int32[n_slots]: the rank of the merge that joined each slot, or NEVER."""
        self.symbols: list[list[int]] = []
        """The ids of each word, in the order of the layout."""
        self.weights: list[int] = []
        """How often each word occurs in the corpus."""
        self._slots: list[list[int]] = []
        self._words_with: defaultdict[Pair, set[int]] = defaultdict(set)
        """The words that held a pair at some time: one that was sought, or of a new token."""
        weights = layout.weights()
        for start, end in _spans(layout, pairs):
            number = len(self.symbols)
            symbols: list[int] = layout.ids[start:end].tolist()
            self.symbols.append(symbols)
            self.weights.append(int(weights[start]))
            self._slots.append(list(range(start, end)))
            for pair in pairwise(symbols):
                if pair in pairs:
                    self._words_with[pair].add(number)

    def holding(self, pairs: Collection[Pair]) -> list[int]:
        """Return the numbers of the words that hold any of some pairs, ascending.

        Each pair must be one of those sought at first, or have a token made since.
        """
        found: set[int] = set()
        for pair in pairs:
            for number in self._words_with.get(pair, ()):
                if number not in found and pair in pairwise(self.symbols[number]):
                    found.add(number)
        return sorted(found)

    def merge(self, pair: Pair, new_id: int, rank: int) -> int:
        """Join every occurrence of a pair; return how many tokens shorter this makes the corpus."""
        saved = 0
        for number in self._words_with.pop(pair, set()):
            symbols, slots = self.symbols[number], self._slots[number]
            merged: list[int] = []
            kept: list[int] = []
            at = 0
            while at < len(symbols):
                kept.append(slots[at])
                if tuple(symbols[at : at + 2]) == pair:
                    merged.append(new_id)
                    self.joined_at[slots[at + 1]] = rank
                    saved += self.weights[number]
                    at += 2
                else:
                    merged.append(symbols[at])
                    at += 1
            if len(merged) < len(symbols):
                self.symbols[number], self._slots[number] = merged, kept
                for each in pairwise(merged):
                    if new_id in each:
                        self._words_with[each].add(number)
        return saved


def _spans(layout: Layout, pairs: Collection[Pair]) -> list[tuple[int, int]]:
    """Return the first slot and the one after the last of each word with one of the pairs."""
    if not pairs:
        return []
    keys = layout.ids[:-1].astype(np.int64) << BITS | layout.ids[1:]
    sought = np.array([left << BITS | right for left, right in pairs], np.int64)
    slots = np.flatnonzero(np.isin(keys, sought))
    borders = np.flatnonzero(layout.ids < 0)
    after = np.unique(np.searchsorted(borders, slots))
    begins: list[int] = (borders[after - 1] + 1).tolist()
    ends: list[int] = borders[after].tolist()
    return list(zip(begins, ends, strict=True))
