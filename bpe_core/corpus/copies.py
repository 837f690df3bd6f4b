"""Find documents that share most of their lines: copies, licences, generated files.

Documents whose lines are nearly the same are found by MinHash and locality-sensitive hashing, and
then compared line by line.

Source: Broder 1997, "On the resemblance and containment of documents"; for bands of hashes,
Leskovec, Rajaraman and Ullman 2014, "Mining of massive datasets", section 3.4.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from random import Random
from typing import Final, NamedTuple
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
_PIECE: Final = 1 << 20
"""A long document is read in pieces of this many characters."""
_N_LINES_TOGETHER: Final = 1 << 20
_BITS: Final = Random(0).getrandbits
_FACTORS: Final = [np.uint64(_BITS(64) | 1) for _ in range(_N_HASHES)]


def find_copies(documents: Iterable[str]) -> list[int]:
    """Return for each document the first one that it is a copy of, directly or by way of others.

    Two documents are copies if they are equal, or if more than half of the distinct lines of the
    larger one are in the other. The result is the same in every process.

    >>> find_copies(["one\\ntwo\\nthree\\nfour", "tiny", "one\\ntwo\\nthree\\n4", "tiny"])
    [0, 1, 0, 1]
    """
    first_of: dict[int, int] = {}
    copies: list[int] = []
    found: list[_Lines] = []
    lines, members, ends = array("I"), array("q"), array("q", [0])
    for i, text in enumerate(documents):
        # The hash, so that no document has to stay in memory.
        copies.append(first_of.setdefault(hash(text), i))
        if copies[i] < i:
            # The first of equal documents stands for all of them.
            continue
        for start in range(0, len(text), _PIECE):
            lines.extend(map(crc32, text[start : start + _PIECE].encode().splitlines()))
        members.append(i)
        ends.append(len(lines))
        if len(lines) > _N_LINES_TOGETHER:
            found.append(_distinct(lines, members, ends))
            lines, members, ends = array("I"), array("q"), array("q", [0])
    found.append(_distinct(lines, members, ends))
    compared = np.concatenate([each.documents for each in found]).tolist()
    if len(compared) < 2:
        return copies
    hashes = np.concatenate([each.hashes for each in found])
    ends = np.concatenate([each.n_lines for each in found]).cumsum()
    for one, other in _alike(np.hstack([each.least for each in found])):
        first, second = _root(copies, compared[one]), _root(copies, compared[other])
        if first != second and _is_copy(_part(hashes, ends, one), _part(hashes, ends, other)):
            copies[max(first, second)] = min(first, second)
    return [_root(copies, i) for i in range(len(copies))]


def copied(documents: Sequence[str], others: Sequence[str]) -> list[bool]:
    """Return for each document whether it is a copy of one of `others`.

    >>> copied(["hug", "pug"], ["mug", "hug"])
    [True, False]
    """
    copies = find_copies(chain(others, documents))
    return [first < len(others) for first in copies[len(others) :]]


class _Lines(NamedTuple):
    """The distinct lines of documents that have enough of them, as hashes."""

    documents: NDArray[np.int64]
    hashes: NDArray[np.uint32]
    """Those of one document after another, sorted."""
    n_lines: NDArray[np.int64]
    least: NDArray[np.uint64]
    """uint64[_N_HASHES, n_documents], for MinHash."""


def _distinct(lines: array[int], members: array[int], ends: array[int]) -> _Lines:
    documents = np.array(members, np.int64)
    numbers = np.repeat(np.arange(len(documents), dtype=np.uint64), np.diff(ends))
    # Sorting is several times as fast as np.unique, which hashes.
    keys = np.sort(numbers << np.uint64(32) | np.frombuffer(lines, np.uint32))
    is_new = np.diff(keys, prepend=np.uint64(0)) > 0
    keys = keys[is_new & (keys.astype(np.uint32) != 0)]  # 0 is the hash of a blank line
    n_lines = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=len(documents))
    has_enough = n_lines >= _MIN_LINES
    hashes = keys.astype(np.uint32)[np.repeat(has_enough, n_lines)]
    n_lines = n_lines[has_enough]
    starts = n_lines.cumsum() - n_lines
    wide = hashes.astype(np.uint64)
    least = [
        np.minimum.reduceat(wide * factor >> np.uint64(32), starts) if len(starts) else wide
        for factor in _FACTORS
    ]
    return _Lines(documents[has_enough], hashes, n_lines, np.stack(least))


def _part(hashes: NDArray[np.uint32], ends: NDArray[np.int64], i: int) -> NDArray[np.uint32]:
    return hashes[ends[i - 1] if i else 0 : ends[i]]


def _alike(least: NDArray[np.uint64]) -> Iterator[tuple[int, int]]:
    """Yield pairs of documents that probably share half of their lines, by MinHash."""
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
