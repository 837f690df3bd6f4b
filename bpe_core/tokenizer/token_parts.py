"""Choose the two parts that each token is joined from, among all that spell it.

Lists of merges and ranks name many ways in which two tokens make a third. Nothing outside a token
changes the order in which its symbols are joined, so each token is always joined from the same two:
those that all earlier merges would leave apart (see `tokenizer.trie`).
"""

from __future__ import annotations

from array import array
from collections.abc import Set
from typing import Final

from bpe_core.kernels.compiling.choose import kernels_are_ready
from bpe_core.tokenizer.trie import stay_apart
from bpe_core.types import Pair

Triple = tuple[int, int, int]
NOT_TAKEN, TAKEN, TOO_EARLY = 0, 1, 2
"""What becomes of a candidate. TOO_EARLY: one of its parts was not known yet."""
_MIN_FOR_KERNELS: Final = 20_000


def choose_parts(candidates: array[int], base: Set[int]) -> bytes:
    """Return what becomes of each candidate: the first for a token that fits is taken.

    `candidates` are left, right and what they make, in a row, and `base` the ids that nothing
    makes. Kernels choose if they are compiled and worth it.

    >>> a, b, c, ab, bc, abc = range(6)
    >>> candidates = array("i", [a, b, ab, b, c, bc, a, bc, abc, ab, c, abc])
    >>> list(choose_parts(candidates, {a, b, c}))
    [1, 1, 0, 1]
    """
    if len(candidates) >= 3 * _MIN_FOR_KERNELS and kernels_are_ready():
        n_ids = 1 + max(max(candidates), max(base, default=0))
        if n_ids <= 8 * len(candidates):
            return choose_by_kernel(candidates, base, n_ids)
    return choose_in_python(candidates, base)


def choose_in_python(candidates: array[int], base: Set[int]) -> bytes:
    """Do the same without kernels.

    >>> list(choose_in_python(array("i", [0, 2, 3, 0, 1, 2, 0, 2, 3]), {0, 1}))
    [2, 1, 1]
    """
    known = set(base)
    ranks: dict[Pair, int] = {}
    parts: dict[int, Triple] = {}
    outcomes = bytearray(len(candidates) // 3)
    each = zip(candidates[::3], candidates[1::3], candidates[2::3], strict=True)
    for rank, (left, right, made) in enumerate(each):
        if made in parts:
            continue
        if left not in known or right not in known:
            outcomes[rank] = TOO_EARLY
        elif stay_apart(left, right, ranks, parts):
            outcomes[rank] = TAKEN
            parts[made] = (rank, left, right)
            ranks[left, right] = rank
            known.add(made)
    return bytes(outcomes)


def choose_by_kernel(candidates: array[int], base: Set[int], n_ids: int) -> bytes:
    """Do the same with kernels; all ids are below `n_ids`.

    >>> list(choose_by_kernel(array("i", [0, 2, 3, 0, 1, 2, 0, 2, 3]), {0, 1}, 4))
    [2, 1, 1]
    """
    import numpy as np

    from bpe_core.kernels import token_parts as kernel
    from bpe_core.kernels.hashing import EMPTY

    capacity = 1 << (2 * n_ids).bit_length()
    since = np.full(n_ids, kernel.UNKNOWN, np.int32)
    since[np.fromiter(base, np.int64, len(base))] = kernel.BASE
    outcomes = np.zeros(len(candidates) // 3, np.uint8)
    kernel.choose_parts(
        np.array(candidates, np.int32),
        np.full(capacity, EMPTY, np.uint64),
        np.zeros(capacity, np.int32),
        since,
        np.zeros(2 * n_ids, np.int32),
        outcomes,
    )
    return outcomes.tobytes()
