"""Merges and removals in the order of a training that took tokens out again (PickyBPE)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from bpe_core.types import Pair


def spell_with(id: int, parts: Mapping[int, Pair], removed: Collection[int]) -> list[int]:
    """Return the tokens that spell a token without those that were removed.

    >>> spell_with(9, {9: (8, 2), 8: (0, 1)}, {9}), spell_with(9, {9: (8, 2), 8: (0, 1)}, {8, 9})
    ([8, 2], [0, 1, 2])
    """
    if id not in removed:
        return [id]
    left, right = parts[id]
    return spell_with(left, parts, removed) + spell_with(right, parts, removed)


Event = tuple[tuple[int, ...], tuple[int, ...]]
"""What training replaced everywhere, and by what: a pair by its token, or a token by its parts."""


def replace_all(symbols: Sequence[int], event: Event) -> list[int]:
    """Apply an event to a word, from left to right without overlap.

    >>> replace_all([7, 7, 7], ((7, 7), (9,))), replace_all([9, 7], ((9,), (7, 7)))
    ([9, 7], [7, 7, 7])
    """
    old, new = event
    ids: list[int] = []
    at = 0
    while at < len(symbols):
        found = tuple(symbols[at : at + len(old)]) == old
        ids += new if found else symbols[at : at + 1]
        at += len(old) if found else 1
    return ids


def event_steps(
    symbols: Sequence[int], events: Sequence[Event], places: Mapping[tuple[int, ...], Sequence[int]]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the events that encoding a pre-token applies, in their order, and the ids after each.

    `places` are where each pair or token is replaced in `events`, ascending. An event that comes
    before one already applied is over, as it was in training. Source: PickyBPE (arXiv 2409.04599).

    >>> events = [((0, 1), (3,)), ((3, 2), (4,)), ((3,), (0, 1))]
    >>> places = {old: [at] for at, (old, _) in enumerate(events)}
    >>> list(event_steps([0, 1, 2], events, places)), list(event_steps([0, 1], events, places))
    ([(0, [3, 2]), (1, [4])], [(0, [3]), (2, [0, 1])])
    """
    ids, now = list(symbols), -1
    while True:
        olds = places.keys() & {*pairwise(ids), *((id,) for id in ids)}
        due = [
            places[old][at]
            for old in olds
            if (at := bisect_right(places[old], now)) < len(places[old])
        ]
        if not due:
            return
        now = min(due)
        ids = replace_all(ids, events[now])
        yield now, ids
