"""Decode ids to bytes, and choose the two parts that the bytes of each token are joined from.

The twins are `TokenTable.join` without an end-of-word marker, and `formats.token_parts`, which
has the reason.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.hashing import find_pair, pair_key

ROW = 16
"""Bytes per row; up to this many bytes are written past the last token."""

NOT_IN_ROW = 255
"""The last byte of a row whose token is longer than the row's other bytes, or that has no token."""

_ONE = np.uint64(1)
_TWO = np.uint64(2)
_EIGHT = np.uint64(8)
_LAST_BYTE = np.uint64(56)


class Spelling(NamedTuple):
    """The bytes of all tokens."""

    rows: NDArray[np.uint64]
    """uint64[2 * n_ids], little-endian: the bytes of each token of up to 15 bytes, with their
    number in the last byte. So reading a token takes one line of the processor's cache."""
    width: NDArray[np.int32]
    """int32[n_ids]: the length of each token; -1 for an id without a token."""
    start: NDArray[np.int64]
    """int64[n_ids]: where each token starts in letters."""
    letters: NDArray[np.uint8]


@inlined
def _put_eight(out, k, value):
    """Write a uint64's bytes to out[k : k + 8]; LLVM turns this into one store."""
    out[k] = np.uint8(value)
    out[k + _ONE] = np.uint8(value >> _EIGHT)
    out[k + _TWO] = np.uint8(value >> np.uint64(16))
    out[k + np.uint64(3)] = np.uint8(value >> np.uint64(24))
    out[k + np.uint64(4)] = np.uint8(value >> np.uint64(32))
    out[k + np.uint64(5)] = np.uint8(value >> np.uint64(40))
    out[k + np.uint64(6)] = np.uint8(value >> np.uint64(48))
    out[k + np.uint64(7)] = np.uint8(value >> np.uint64(56))


@kernel
def decode_ids(ids, begin, spelling, out, written):
    """Write the bytes of ids[begin:]; return the index of the next id and the bytes written.

    Stops at the end, when out has no room for the next token and a row, or at an id without a
    token; in the last case the number of bytes is negative. Always writing a whole row reaches 4
    GB/s; writing byte by byte reached 0.6 GB/s.
    """
    rows, width = spelling.rows, spelling.width
    n_ids = np.uint64(width.size)
    room = np.int64(out.size) - ROW
    k = np.int64(written)
    for i in range(begin, ids.size):
        id = np.uint64(ids[i])  # a negative id becomes a very large one
        if id >= n_ids:
            return i, np.int64(-1)
        end_of_row = rows[_TWO * id + _ONE]
        n = np.int64(end_of_row >> _LAST_BYTE)
        if n == NOT_IN_ROW:
            n = np.int64(width[id])
            if n < 0:
                return i, np.int64(-1)
        if k + n > room:
            return i, k
        at = np.uint64(k)
        if n < ROW:
            _put_eight(out, at, rows[_TWO * id])
            _put_eight(out, at + _EIGHT, end_of_row)
        else:
            for j in range(n):
                out[at + np.uint64(j)] = spelling.letters[spelling.start[id] + j]
        k += n
    return ids.size, k


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
