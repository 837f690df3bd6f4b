"""Find documents that share most of their lines: copies, licences, generated files.

Documents whose lines are nearly the same are found by MinHash and locality-sensitive hashing, and
then compared line by line.

Source: Broder 1997, "On the resemblance and containment of documents"; for bands of hashes,
Leskovec, Rajaraman and Ullman 2014, "Mining of massive datasets", section 3.4.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_N_BANDS: Final = 16
_N_HASHES: Final = 2 * _N_BANDS
"""Two hashes in each band: of documents that share two thirds of their lines, 99 % are compared."""
_MIN_RESEMBLANCE: Final = 0.2
"""Documents that share half of their lines resemble each other by a third; the estimate from 32
hashes may be off by a tenth."""
_MIN_LINES: Final = 3
"""Documents of fewer lines are copies only if they are equal."""
_MAX_APART: Final = 3
"""Each document of a band is compared with this many before it."""


def find_copies(documents: Sequence[str]) -> list[int]:
    """Return for each document the first one that it is a copy of, directly or by way of others.

    Two documents are copies if they are equal, or if more than half of the distinct lines of the
    larger one are in the other. The result is the same in every process.

    >>> find_copies(["one\\ntwo\\nthree\\nfour", "tiny", "one\\ntwo\\nthree\\n4", "tiny"])
    [0, 1, 0, 1]
    """
    first_of: dict[str, int] = {}
    copies = [first_of.setdefault(text, i) for i, text in enumerate(documents)]
    # The first of equal documents stands for all of them.
    candidates = list(first_of.values())
    lines = array("I")
    n_lines: list[int] = []
    compared: list[int] = []
    for i in candidates:
        found = set(map(crc32, documents[i].encode().splitlines()))
        found.discard(0)  # the hash of a blank line
        if len(found) >= _MIN_LINES:
            compared.append(i)
            lines.extend(sorted(found))
            n_lines.append(len(found))
    if len(compared) < 2:
        return copies
    hashes = np.frombuffer(lines, np.uint32)
    starts = np.cumsum([0, *n_lines])
    for one, other in _alike(hashes, starts):
        first, second = _root(copies, compared[one]), _root(copies, compared[other])
        if first != second and _is_copy(
            hashes[starts[one] : starts[one + 1]], hashes[starts[other] : starts[other + 1]]
        ):
            copies[max(first, second)] = min(first, second)
    return [_root(copies, i) for i in range(len(documents))]


def copied(documents: Sequence[str], others: Sequence[str]) -> list[bool]:
    """Return for each document whether it is a copy of one of `others`.

    >>> copied(["hug", "pug"], ["mug", "hug"])
    [True, False]
    """
    copies = find_copies([*others, *documents])
    return [first < len(others) for first in copies[len(others) :]]


def _alike(hashes: NDArray[np.uint32], starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield pairs of documents that probably share half of their lines, by MinHash."""
    bits = Random(0).getrandbits
    factors = [np.uint64(bits(64) | 1) for _ in range(_N_HASHES)]
    wide = hashes.astype(np.uint64)
    least = np.stack(
        [np.minimum.reduceat(wide * factor >> np.uint64(32), starts[:-1]) for factor in factors]
    )
    for band in range(_N_BANDS):
        keys = least[2 * band] << np.uint64(32) | least[2 * band + 1]
        order = np.argsort(keys, kind="stable")
        for apart in range(1, _MAX_APART + 1):
            same = np.flatnonzero(keys[order[apart:]] == keys[order[:-apart]])
            pairs = np.stack([order[same], order[same + apart]])
            resemblance = (least[:, pairs[0]] == least[:, pairs[1]]).mean(axis=0)
            yield from pairs[:, resemblance >= _MIN_RESEMBLANCE].T.tolist()


def _is_copy(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> bool:
    n_shared = len(np.intersect1d(one, other, assume_unique=True))
    return 2 * n_shared > max(len(one), len(other))


def _root(copies: list[int], i: int) -> int:
    while copies[i] != i:
        copies[i] = copies[copies[i]]
        i = copies[i]
    return i
