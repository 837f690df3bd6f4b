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

from bpe_core.kernels.jit import inlined

BETWEEN = -1
"""Marks the place between two words. A token of one slot doesn't store its length."""

GONE = -(2**30)
"""Marks a slot inside a token that used to be the first slot of another token."""


class Row(NamedTuple):
    """The words in one row, with BETWEEN before, between and after them."""

    slots: NDArray[np.int32]
    """int32[2 * n_slots]: for each slot, an id or a length as described above, followed by how
    often the word occurs, or, in a joined slot, by the rank of the merge that joined it to the one
    before; 0 between words. Each occurrence is read at a place far from the last one, so keeping
    these numbers side by side costs one line of the processor's cache instead of three."""
    large: NDArray[np.int64]
    """int64[n_large]: the counts too large for an int32; in a slot, -1 - i stands for large[i]."""


class Tokens(NamedTuple):
    """The length of each token, by id."""

    n_slots: NDArray[np.int32]
    """int32[n_ids]"""
    n_bytes: NDArray[np.int32]
    """int32[n_ids]"""


# A slot's number is a uint64 here: Numba checks the sign of any other int, because a negative index
# counts from the end.
_ONE = np.uint64(1)


@inlined
def id_at(row, slot):
    """Return the id at a token's first slot; between words and inside tokens it is negative."""
    return row.slots[slot + slot]


@inlined
def set_id(row, slot, id):
    """Write an id or a length into a slot."""
    row.slots[slot + slot] = id


@inlined
def weight_at(row, slot):
    """Return how often the word of a slot occurs; no merge may have joined the slot to another."""
    weight = np.int64(row.slots[slot + slot + _ONE])
    if weight < 0:
        weight = row.large[-1 - weight]
    return weight


@inlined
def note_rank(row, slot, rank):
    """Note which merge joined a slot to the one before it; this overwrites its weight."""
    row.slots[slot + slot + _ONE] = rank


@inlined
def rank_at(row, slot, never):
    """Return the rank of the merge that joined a slot to the one before it, `never` if none did."""
    rank = row.slots[slot + slot + _ONE]  # always read: a branch would be mispredicted
    return rank if row.slots[slot + slot] < BETWEEN else never


@inlined
def is_gap(row, slot):
    """Return True if a slot is between two words, not a symbol that the alphabet lacks."""
    return row.slots[slot + slot] == BETWEEN and row.slots[slot + slot + _ONE] == 0


@inlined
def id_before(row, slot):
    """Return the id of the token that ends just before a slot, negative if a word begins there."""
    last = slot - _ONE
    value = id_at(row, last)
    if value < BETWEEN:
        value = id_at(row, slot - np.uint64(-value))
    return value
