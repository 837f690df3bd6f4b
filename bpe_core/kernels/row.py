"""The data structure of the training kernels: all words of a corpus in one row of slots.

A slot is the place of one base symbol. A token has its id in its first slot, and _END - id in its
last, so that both neighbours of any token can be read directly. If a merge joins a token of several
slots to another, the first of these slots records which merge it was. The other slots inside a
token keep what they held in the shorter tokens that it was made from.

For example, the words `abc` and `bc`, with the ids 1 to 3 for their letters: at first, after
merging `bc` into 4, and after merging `abc` into 5. -7 and -8 are the ends of 4 and 5.

    [-1, 1, 2, 3, -1, 2, 3, -1]
    [-1, 1, 4, -7, -1, 4, -7, -1]
    [-1, 5, JOINED - 1, -8, -1, 4, -7, -1]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined

BETWEEN = -1
"""Marks the place between two words."""

MISSING = -2
"""Marks a symbol that the alphabet lacks, which no merge takes."""

JOINED = -(2**30)
"""JOINED - rank marks a slot inside a token: the merge of that rank joined it to the one before.
Ids and ranks are smaller than 2**30 - 3, because arrays of that many ids do not fit into memory."""

_END = -3
"""_END - id marks the last slot of a token of two or more slots."""


class Row(NamedTuple):
    """The words in one row, with BETWEEN before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots], as described above. The occurrences of a pair are far apart, and each costs a
    line of the processor's cache, so a slot holds nothing but this number."""
    weights: NDArray[np.int32]
    """int32[n_words]: how often each word occurs; -1 - i stands for large[i]."""
    large: NDArray[np.int64]
    """int64[n_large]: the counts too large for an int32."""


class Tokens(NamedTuple):
    """The lengths of each token, and how it ends, by id."""

    n_slots: NDArray[np.int32]
    """int32[n_ids]"""
    n_bytes: NDArray[np.int32]
    """int32[n_ids]"""
    end_ranks: NDArray[np.int32]
    """int32[n_ids]: the rank of the merge that joined the token's last slot to the one before."""


# A slot's number is a uint64 here: Numba checks the sign of any other int, because a negative index
# counts from the end.
_ONE = np.uint64(1)


@inlined
def id_before(row, slot):
    """Return the id of the token that ends just before a slot, negative if no token does."""
    value = row.ids[slot - _ONE]
    return value if value >= 0 else np.int32(_END - value)


@inlined
def join(row, slot, middle, last, new, rank):
    """Join two tokens, which begin at `slot` and `middle`, to a new one, which ends at `last`."""
    row.ids[slot] = new
    row.ids[middle] = JOINED - rank  # overwritten below if the right token has one slot only
    row.ids[last] = _END - new


@inlined
def word_count(row, weight):
    """Return how often a word occurs, given its entry in `weights`."""
    count = np.int64(weight)
    if count < 0:
        count = row.large[-1 - count]
    return count


@inlined
def rank_at(row, tokens, slot, never):
    """Return the rank of the merge that joined a slot to the one before it, `never` if none did."""
    value = row.ids[slot]
    is_end = JOINED < value <= _END
    # Always read, because a branch would be mispredicted.
    at_end = tokens.end_ranks[np.uint64(_END - value if is_end else 0)]
    within = at_end if is_end else np.int32(JOINED - value)
    return within if value <= _END else never
