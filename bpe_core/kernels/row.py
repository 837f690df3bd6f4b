"""The data structure of the training kernels: all words of a corpus in one row of slots.

A slot is the place of one base symbol. A token stores its id in its first slot and minus its length
in its last, so both neighbours of any token can be read directly. Slots between these are negative:
GONE, or the length of a shorter, earlier token. For example, the words `abc` and `bc`, with the ids
1 to 3 for their letters: at first, after merging `bc` into 4, and after merging `abc` into 5:

    [-1, 1, 2, 3, -1, 2, 3, -1]
    [-1, 1, 4, -2, -1, 4, -2, -1]
    [-1, 5, GONE, -3, -1, 4, -2, -1]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.jit import part

BETWEEN = -1
"""The mark of the place between two words. A token of one slot doesn't store its length."""

GONE = -(2**30)
"""The mark of a slot inside a token that used to be the first slot of another."""


class Row(NamedTuple):
    """The words in one row, BETWEEN before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots]: ids and lengths as described above."""
    weights: NDArray[np.int64]
    """int64[n_slots]: how often the word of a slot occurs; 0 between words."""
    joined_at: NDArray[np.int32]
    """int32[n_slots]: the rank of the merge that joined a slot to the one before it."""


class Tokens(NamedTuple):
    """The length of each token, by id."""

    n_slots: NDArray[np.int32]
    """int32[n_ids]"""
    n_bytes: NDArray[np.int32]
    """int32[n_ids]"""


@part
def id_before(ids, slot):
    """Return the id of the token that ends just before a slot, negative if a word begins there."""
    value = ids[slot - 1]
    if value < BETWEEN:
        value = ids[slot + value]
    return value
