"""Find documents that share most of their lines: copies, licences, generated files.

Documents whose lines are nearly the same are found by MinHash and locality-sensitive hashing, and
then compared line by line. If many are alike, the lines that most of them have are boilerplate, as
the pages of a web site share it: these lines are left out, and they are compared again.

Source: Broder 1997, "On the resemblance and containment of documents"; for bands of hashes,
Leskovec, Rajaraman and Ullman 2014, "Mining of massive datasets", section 3.4.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
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
_MANY: Final = 20
"""If more documents than these are alike, what most of them share is boilerplate."""
_MIN_OWN: Final = 0.05
"""Documents with a smaller share of lines besides the boilerplate are copies of each other: a
licence with the year of its project, or a generated file with its date."""
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
    waiting = [_Lines(*map(np.concatenate, zip(*found, strict=True)))]
    while waiting:
        compared = waiting.pop()
        for group in _groups(compared):
            alike = group
            if len(group) > _MANY:
                own, has_own = _without_boilerplate(compared.only(group))
                waiting.append(own)
                alike = group[~has_own]
            for i in compared.documents[alike].tolist():
                copies[i] = int(compared.documents[alike[0]])
    return [copies[copies[i]] for i in range(len(copies))]


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

    def only(self, places: NDArray[np.int64]) -> _Lines:
        """Return the lines of some of the documents, by their places."""
        is_in = np.zeros(len(self.documents), np.bool_)
        is_in[places] = True
        hashes = self.hashes[np.repeat(is_in, self.n_lines)]
        return _Lines(self.documents[is_in], hashes, self.n_lines[is_in])


def _distinct(lines: array[int], members: array[int], ends: array[int]) -> _Lines:
    documents = np.array(members, np.int64)
    numbers = np.repeat(np.arange(len(documents), dtype=np.uint64), np.diff(ends))
    # Sorting is several times as fast as np.unique, which hashes.
    keys = np.sort(numbers << np.uint64(32) | np.frombuffer(lines, np.uint32))
    is_new = np.diff(keys, prepend=np.uint64(0)) > 0
    keys = keys[is_new & (keys.astype(np.uint32) != 0)]  # 0 is the hash of a blank line
    n_lines = np.bincount((keys >> np.uint64(32)).astype(np.int64), minlength=len(documents))
    found = _Lines(documents, keys.astype(np.uint32), n_lines)
    return found.only(np.flatnonzero(n_lines >= _MIN_LINES))


def _without_boilerplate(alike: _Lines) -> tuple[_Lines, NDArray[np.bool_]]:
    """Leave out the lines that most of some documents have, and the documents that are little else.

    Also returns which documents are left.
    """
    lines, n_documents = np.unique(alike.hashes, return_counts=True)
    is_own = ~np.isin(alike.hashes, lines[2 * n_documents > len(alike.documents)])
    numbers = np.repeat(np.arange(len(alike.documents)), alike.n_lines)
    n_own = np.bincount(numbers[is_own], minlength=len(alike.documents))
    has_own = n_own >= np.maximum(_MIN_LINES, _MIN_OWN * alike.n_lines)
    if is_own.all():
        has_own[:] = False
    own = _Lines(alike.documents, alike.hashes[is_own], n_own)
    return own.only(np.flatnonzero(has_own)), has_own


def _groups(lines: _Lines) -> Iterator[NDArray[np.int64]]:
    """Yield the places of the documents of each group of copies, from the first on."""
    n = len(lines.documents)
    if n < 2:
        return
    roots = list(range(n))
    ends = lines.n_lines.cumsum()
    for one, other in _alike(lines, ends):
        first, second = _root(roots, one), _root(roots, other)
        if first != second and _is_copy(
            _part(lines.hashes, ends, one), _part(lines.hashes, ends, other)
        ):
            roots[max(first, second)] = min(first, second)
    of_each = np.array([_root(roots, place) for place in range(n)])
    order = np.argsort(of_each, kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(of_each[order])) + 1):
        if len(group) > 1:
            yield group


def _part(hashes: NDArray[np.uint32], ends: NDArray[np.int64], i: int) -> NDArray[np.uint32]:
    return hashes[ends[i - 1] if i else 0 : ends[i]]


def _alike(lines: _Lines, ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield pairs of documents that probably share half of their lines, by MinHash."""
    least = _least_hashes(lines, ends)
    for band in range(_N_BANDS):
        keys = least[2 * band] << np.uint64(32) | least[2 * band + 1]
        order = np.argsort(keys, kind="stable")
        for apart in range(1, _MAX_APART + 1):
            same = np.flatnonzero(keys[order[apart:]] == keys[order[:-apart]])
            pairs = np.stack([order[same], order[same + apart]])
            resemblance = (least[:, pairs[0]] == least[:, pairs[1]]).mean(axis=0)
            yield from pairs[:, resemblance >= _MIN_RESEMBLANCE].T.tolist()


def _least_hashes(lines: _Lines, ends: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the MinHashes of each document, uint64[_N_HASHES, n_documents]."""
    found: list[NDArray[np.uint64]] = []
    # Not of all lines together, since that would take much more memory than they do.
    n_lines = range(0, int(ends[-1]), _N_LINES_TOGETHER)
    firsts = sorted(set(np.searchsorted(ends, n_lines, "right").tolist()))
    for first, last in pairwise([*firsts, len(ends)]):
        starts = ends[first:last] - lines.n_lines[first:last]
        wide = lines.hashes[starts[0] : ends[last - 1]].astype(np.uint64)
        starts -= starts[0]
        each = [np.minimum.reduceat(wide * factor >> np.uint64(32), starts) for factor in _FACTORS]
        found.append(np.stack(each))
    return np.hstack(found)


def _is_copy(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> bool:
    n_shared = len(np.intersect1d(one, other, assume_unique=True))
    return 2 * n_shared > max(len(one), len(other))


def _root(roots: list[int], place: int) -> int:
    while roots[place] != place:
        roots[place] = roots[roots[place]]
        place = roots[place]
    return place
