"""Rank merging of one pre-token: two encoders that return the same ids, and an explanation.

While any adjacent pair has a merge, both join the pair of lowest rank, the leftmost first, as do
GPT-2's `bpe`, tiktoken and Hugging Face's tokenizers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from itertools import accumulate, pairwise
from typing import Final

from bpe_core.tokenizer.tables import TokenTable, event_steps
from bpe_core.types import Merge, Pair

_NO_RANK: Final = 1 << 60
# Up to about this length, scanning is at least as fast. With GPT-2's merges, the distinct words of
# a novel took 84 ms by scan and 168 ms by heap; a word of 200 letters took 0.33 and 0.16 ms.
_SCAN_UP_TO: Final = 30


def merge_symbols(
    symbols: Sequence[int], ranks: Mapping[Pair, int], made: Sequence[int]
) -> list[int]:
    """Encode one pre-token with whichever encoder is faster for its length.

    `symbols` are its initial ids, `ranks` the rank of each pair that has a merge, and `made[rank]`
    the id that the merge makes.

    >>> merge_symbols([0, 0, 0, 1], {(0, 0): 0, (0, 1): 1}, [2, 3])
    [2, 3]
    """
    if len(symbols) <= _SCAN_UP_TO:
        return merge_by_scan(symbols, ranks, made)
    return merge_by_heap(symbols, ranks, made)


def merge_in(table: TokenTable, symbols: Sequence[int]) -> list[int]:
    """Encode one pre-token, given as the ids of its symbols, as a tokenizer's table says.

    >>> merge_in(TokenTable(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)]), [0, 0, 0])
    [1, 0]
    """
    if not table.removals:
        return merge_symbols(symbols, table.ranks, table.made)
    steps = [*event_steps(symbols, table.events, table.event_places)]
    return steps[-1][1] if steps else list(symbols)


def steps_in(table: TokenTable, symbols: Sequence[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the rank of each merge that `merge_in` applies, and the ids after it.

    A removal is a part of the step of the merge that it follows.
    """
    if not table.removals:
        yield from merge_steps(symbols, table.ranks, table.made)
        return
    rank_of = accumulate(len(old) == 2 for old, _ in table.events)
    ranks = [rank - 1 for rank in rank_of]
    last: tuple[int, tuple[int, ...]] | None = None
    for place, ids in event_steps(symbols, table.events, table.event_places):
        is_merge = len(table.events[place][0]) == 2
        if is_merge and last is not None:
            yield last
        assert is_merge or last is not None  # only what a merge made is removed
        last = (ranks[place] if is_merge or last is None else last[0]), tuple(ids)
    if last is not None:
        yield last


def merge_by_scan(
    symbols: Sequence[int], ranks: Mapping[Pair, int], made: Sequence[int]
) -> list[int]:
    """Encode one pre-token by searching for the lowest rank again after each merge: O(n^2).

    >>> merge_by_scan([0, 0, 0, 1], {(0, 0): 0, (0, 1): 1}, [2, 3])
    [2, 3]
    """
    ids = list(symbols)
    for _ in _scan(ids, ranks, made):
        pass
    return ids


def merge_steps(
    symbols: Sequence[int], ranks: Mapping[Pair, int], made: Sequence[int]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the rank of each merge that encoding a pre-token applies, and the ids after it.

    Consecutive joins by the same merge are one step.

    >>> list(merge_steps([0, 0, 0, 0, 1], {(0, 0): 0, (2, 1): 1}, [2, 3]))
    [(0, (2, 2, 1)), (1, (2, 3))]
    """
    ids = list(symbols)
    last: tuple[int, tuple[int, ...]] | None = None
    for rank in _scan(ids, ranks, made):
        if last is not None and last[0] != rank:
            yield last
        last = (rank, tuple(ids))
    if last is not None:
        yield last


def merge_by_heap(
    symbols: Sequence[int], ranks: Mapping[Pair, int], made: Sequence[int]
) -> list[int]:
    """Encode one pre-token with a heap of candidates over a linked list: O(n log n).

    >>> merge_by_heap([0, 0, 0, 1], {(0, 0): 0, (0, 1): 1}, [2, 3])
    [2, 3]
    """
    n = len(symbols)
    ids = list(symbols)
    following = list(range(1, n + 1))
    preceding = list(range(-1, n - 1))
    # A candidate is one integer, rank * n + place, because comparing ints is faster than tuples.
    heap = [ranks[pair] * n + i for i, pair in enumerate(pairwise(ids)) if pair in ranks]
    heapify(heap)
    while heap:
        rank, i = divmod(heappop(heap), n)
        j = following[i]
        # Stale if the symbol no longer exists (-1 is in no pair) or has joined another since.
        if j == n or ranks.get((ids[i], ids[j])) != rank:
            continue
        ids[i], ids[j] = made[rank], -1
        k = following[i] = following[j]
        if k < n:
            preceding[k] = i
            right = ranks.get((ids[i], ids[k]))
            if right is not None:
                heappush(heap, right * n + i)
        h = preceding[i]
        if h >= 0:
            left = ranks.get((ids[h], ids[i]))
            if left is not None:
                heappush(heap, left * n + h)
    return [id for id in ids if id >= 0]


def _scan(ids: list[int], ranks: Mapping[Pair, int], made: Sequence[int]) -> Iterator[int]:
    """Merge in place, one pair at a time, and yield the rank of each."""
    rank_at = [ranks.get(pair, _NO_RANK) for pair in pairwise(ids)]
    while rank_at:
        rank = min(rank_at)
        if rank == _NO_RANK:
            return
        i = rank_at.index(rank)
        ids[i : i + 2] = [made[rank]]
        del rank_at[i]
        if i > 0:
            rank_at[i - 1] = ranks.get((ids[i - 1], ids[i]), _NO_RANK)
        if i < len(rank_at):
            rank_at[i] = ranks.get((ids[i], ids[i + 1]), _NO_RANK)
        yield rank


@dataclass(frozen=True, slots=True)
class ExplainedMerge:
    """One step of encoding a pre-token: the merge applied and the symbols after it."""

    merge: Merge
    symbols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """The steps from one pre-token's base symbols to its tokens."""

    start: int
    """The pre-token's start in the text, in characters."""
    text: str
    symbols: tuple[int, ...]
    """The ids of its base symbols."""
    steps: tuple[ExplainedMerge, ...]
    looked_up: int | None = None
    """The id of the whole pre-token if it was looked up and merging would give other tokens; the
    steps are then those that merging would take."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of its tokens."""
        if self.looked_up is not None:
            return (self.looked_up,)
        return self.steps[-1].symbols if self.steps else self.symbols


def explain_pieces(word: str, start: int, table: TokenTable) -> Iterator[Explanation | None]:
    """Explain each piece of a pre-token; yield None for one missing from the alphabet.

    `start` is the pre-token's start in the text, in characters.

    >>> table = TokenTable(vocab={0: b"a", 1: b"b", 2: b"ab"}, merges=[(0, 1, 2)])
    >>> found = list(explain_pieces("ab?a", 0, table))
    >>> [each and (each.start, each.text, each.ids) for each in found]
    [(0, 'ab', (2,)), None, (3, 'a', (0,))]
    """
    at = 0
    whole = table.word_ids.get(word.encode())
    pieces = table.pieces(word)
    if whole is not None and any(symbols is None for symbols, _ in pieces):
        yield Explanation(start, word, (), (), looked_up=whole)
        return
    for symbols, piece in pieces:
        if symbols is None:
            yield None
        else:
            steps = tuple(
                ExplainedMerge(table.merges[rank], ids) for rank, ids in steps_in(table, symbols)
            )
            piece_start = start + len(word.encode()[:at].decode(errors="ignore"))
            shown = piece.decode(errors="replace")
            explained = Explanation(piece_start, shown, tuple(symbols), steps)
            if whole is not None and explained.ids != (whole,):
                explained = replace(explained, looked_up=whole)
            yield explained
        at += len(piece)


def explain_word(word: str, table: TokenTable) -> list[Explanation]:
    """Explain one pre-token, given whole, without the pieces missing from the alphabet.

    >>> from bpe_core.tokenizer import gpt2
    >>> [len(each.steps) for each in explain_word("The end", gpt2().table)]
    [5]
    """
    return [each for each in explain_pieces(word, 0, table) if each is not None]
