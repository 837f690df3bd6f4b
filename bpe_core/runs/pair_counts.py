"""Count the pairs at any step of a run: what `TrainingRun.pair_counts` and `top_pairs` return."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import Layout, at_step
from bpe_core.trainers.forbidden_pairs import ForbiddenPairs
from bpe_core.trainers.pair_order import goes_by_slot, order_pairs
from bpe_core.trainers.pair_table import PairTable, pair_table, unpack_pair
from bpe_core.types import Pair, PairCount, TieBreak


def pairs_at_step(
    first: Layout,
    joined_at: NDArray[np.int32],
    merge_ids: NDArray[np.int32],
    step: int,
    tokens: Sequence[bytes],
    max_token_bytes: int | None = None,
    forbidden: ForbiddenPairs | None = None,
) -> PairTable:
    """Count the pairs before merge `step`, from the row as it was before the first merge.

    `joined_at` is int32[n_slots], the rank of the merge that joined each slot; `merge_ids` is
    int32[n_merges], the id that each merge made.

    >>> from bpe_core.counting.word_row import NEVER, lay_out
    >>> first = lay_out([[8, 8, 7]], [2])
    >>> joined_at = np.array([NEVER, NEVER, NEVER, 0, NEVER], np.int32)
    >>> merge_ids = np.array([9], np.int32)
    >>> [pair_counts(pairs_at_step(first, joined_at, merge_ids, n, [b"x"] * 10)) for n in (0, 1)]
    [{(8, 8): 2, (8, 7): 2}, {(8, 9): 2}]
    """
    row = at_step(first, joined_at, merge_ids, step)
    return pair_table(row, tokens, max_token_bytes, forbidden)


def pair_counts(table: PairTable) -> dict[Pair, int]:
    """Return each pair's count, in the order of their first places in the row.

    >>> from bpe_core.counting.word_row import lay_out
    >>> from bpe_core.trainers.pair_table import pair_table
    >>> pair_counts(pair_table(lay_out([[8, 8, 7]], [2])))
    {(8, 8): 2, (8, 7): 2}
    """
    order = np.argsort(table.first_slots)
    counts: list[int] = table.counts[order].tolist()
    keys: list[int] = table.keys[order].tolist()
    return {unpack_pair(key): count for key, count in zip(keys, counts, strict=True)}


def top_pairs(table: PairTable, k: int, tie_break: TieBreak) -> list[PairCount]:
    """Return the k most frequent pairs by the tie rule; mark those that tie for first place.

    >>> from bpe_core.counting.word_row import lay_out
    >>> from bpe_core.trainers.pair_table import pair_table
    >>> table = pair_table(lay_out([[8, 8, 7], [8, 7], [7, 7, 7]], [2, 1, 1]))
    >>> [tuple(pair) for pair in top_pairs(table, 2, "smallest-pair")]
    [(8, 7, 3), (7, 7, 2)]
    """
    ties = table.first_slots if goes_by_slot(tie_break) else table.keys
    order = order_pairs(table.counts, ties)[:k]
    counts: list[int] = table.counts[order].tolist()
    keys: list[int] = table.keys[order].tolist()
    most = counts[0] if counts else 0
    is_tie = int(np.count_nonzero(table.counts == most)) > 1
    return [
        PairCount(*unpack_pair(key), count, tied=is_tie and count == most)
        for key, count in zip(keys, counts, strict=True)
    ]
