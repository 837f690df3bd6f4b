"""Choose the two parts that each token is joined from, among all that spell it.

The twin, and the reason, are in `tokenizer.token_parts`.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import kernel, part
from bpe_core.kernels.hashing import find_pair, pair_key

NOT_TAKEN, TAKEN, TOO_EARLY = np.uint8(0), np.uint8(1), np.uint8(2)
"""TOO_EARLY: a part of the token was not known yet."""
UNKNOWN, BASE = np.int32(-2), np.int32(-1)
_NO_LIMIT = np.int32(0x7FFFFFFF)


@part
def _stay_apart(pairs, ranks, since, parts, left, right):
    """Return True if no merge that was taken crosses the boundary between two tokens."""
    limit = _NO_LIMIT
    while True:
        key = pair_key(left, right)
        place = find_pair(pairs, key)
        if pairs[place] == key and ranks[place] < limit:
            return False
        if since[left] < 0 and since[right] < 0:
            return True
        # Undo the last merge first; of equal ranks, the left one is merged first.
        if since[left] > since[right]:
            limit = since[left]
            left = parts[2 * left + 1]
        else:
            limit = since[right] + np.int32(1)
            right = parts[2 * right]


@kernel
def choose_parts(candidates, pairs, ranks, since, parts, outcomes):
    """Take the first candidate for each token whose parts stay apart.

    candidates: int32[3 * n], left, right and what they make. pairs: uint64[capacity], a power of
    two, and ranks: int32[capacity], the pairs that were taken, EMPTY at first. since: int32[n_ids],
    BASE or UNKNOWN at first, then the number of the candidate that makes the token. parts: int32[2
    * n_ids], its parts. outcomes: uint8[n].
    """
    for i in range(outcomes.size):
        left = candidates[3 * i]
        right = candidates[3 * i + 1]
        made = candidates[3 * i + 2]
        if since[made] >= 0:
            continue
        if since[left] == UNKNOWN or since[right] == UNKNOWN:
            outcomes[i] = TOO_EARLY
        elif _stay_apart(pairs, ranks, since, parts, left, right):
            outcomes[i] = TAKEN
            key = pair_key(left, right)
            place = find_pair(pairs, key)
            pairs[place] = key
            ranks[place] = i
            since[made] = i
            parts[2 * made] = left
            parts[2 * made + 1] = right
