"""Number the merges that a file lists, and choose the two parts that each token is joined from.

Lists of merges and ranks name many ways in which two tokens make a third. Nothing outside a token
changes the order in which its symbols are joined, so each token is always joined from the same two:
those that all earlier merges would leave apart (see `tokenizer.trie`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.choose import kernels_are_ready
from bpe_core.tokenizer.trie import stay_apart
from bpe_core.types import Pair

Triple = tuple[int, int, int]
Triples = NDArray[np.int32]
"""int32[n, 3]: left, right and what they make."""
NOT_TAKEN, TAKEN, TOO_EARLY = 0, 1, 2
"""What becomes of a candidate. TOO_EARLY: one of its parts was not known yet."""
_MIN_FOR_KERNELS: Final = 20_000


def to_triples(merges: Sequence[Triple]) -> Triples:
    """Return merges as an array.

    >>> to_triples([]).shape, to_triples([(0, 1, 2)]).tolist()
    ((0, 3), [[0, 1, 2]])
    """
    return np.array(merges, np.int32).reshape(-1, 3)


def to_list(triples: Triples) -> list[Triple]:
    """Return merges as tuples.

    >>> to_list(to_triples([(0, 1, 2)]))
    [(0, 1, 2)]
    """
    return list(zip(*triples.T.tolist(), strict=True))


def pair_keys(triples: Triples) -> NDArray[np.int64]:
    """Return a number for each merge's pair, int64[n].

    >>> pair_keys(to_triples([(1, 2, 3)])).tolist()
    [4294967298]
    """
    return triples[:, 0].astype(np.int64) << 32 | triples[:, 1]


def number_merges(
    ids: Mapping[str, int], merges: Sequence[Sequence[str]], left_out: Collection[str] = ()
) -> Triples:
    """Return the ids of the two texts of each merge and of the text that they make.

    Merges that make a text that is `left_out` are skipped. Raises `KeyError` for the first text
    that has no id.

    >>> number_merges({"a": 7, "b": 8, "ab": 9}, [("a", "b")]).tolist()
    [[7, 8, 9]]
    """
    if len(merges) >= _MIN_FOR_KERNELS and kernels_are_ready():
        found = number_by_kernel(ids, merges, left_out)
        if found is not None:
            return found
    return number_in_python(ids, merges, left_out)


def number_in_python(
    ids: Mapping[str, int], merges: Sequence[Sequence[str]], left_out: Collection[str] = ()
) -> Triples:
    """Do the same without kernels.

    >>> number_in_python({"a": 7, "aa": 8}, [("a", "a"), ("a", "x")], {"ax"}).tolist()
    [[7, 7, 8]]
    """
    return to_triples(
        [
            (ids[left], ids[right], ids[left + right])
            for left, right in merges
            if left + right not in left_out
        ]
    )


def number_by_kernel(
    ids: Mapping[str, int], merges: Sequence[Sequence[str]], left_out: Collection[str] = ()
) -> Triples | None:
    """Do the same with kernels; None if a text has no id.

    >>> number_by_kernel({"a": 7, "aa": 8}, [("a", "a")]).tolist()
    [[7, 7, 8]]
    """
    from bpe_core.kernels import whole_words as kernel

    letters, starts = _lay_out(ids.keys())
    whole = kernel.WholeWords(
        places=np.full(1 << (2 * len(ids)).bit_length(), -1, np.int32),
        keys=np.empty(2 * len(ids), np.uint64),
        starts=starts,
        letters=letters,
        ids=np.fromiter(ids.values(), np.int32, len(ids)),
    )
    kernel.enter_whole_words(whole, np.zeros(1 << 16, np.uint8))
    text, ends = _lay_out(list(chain.from_iterable(merges)))
    begins, middles, stops = ends[:-1:2], ends[1::2], ends[2::2]
    found = np.empty(3 * len(merges), np.int32)
    kernel.find_words(
        whole,
        text,
        np.stack([begins, middles, begins], axis=1).reshape(-1),
        np.stack([middles, stops, stops], axis=1).reshape(-1),
        found,
    )
    triples = found.reshape(-1, 3)
    if left_out:
        made = [id for text in left_out if (id := ids.get(text)) is not None]
        triples = triples[~np.isin(triples[:, 2], made)]
    return None if (triples < 0).any() else triples


def _lay_out(texts: Collection[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the UTF-8 of some texts in a row, and where each begins, and the end."""
    data = "".join(texts).encode("utf-8", "surrogatepass")
    letters = np.frombuffer(data, np.uint8)
    n_before = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=n_before[1:])
    if len(data) == n_before[-1]:  # ASCII
        return letters, n_before
    first_bytes = np.flatnonzero(letters & 0xC0 != 0x80)
    return letters, np.append(first_bytes, len(data))[n_before]


def choose_parts(candidates: Triples, base: Set[int]) -> NDArray[np.uint8]:
    """Return what becomes of each candidate, uint8[n]: the first for a token that fits is taken.

    `base` are the ids that nothing makes. Kernels choose if they are compiled and worth it.

    >>> a, b, c, ab, bc, abc = range(6)
    >>> candidates = [(a, b, ab), (b, c, bc), (a, bc, abc), (ab, c, abc)]
    >>> choose_parts(to_triples(candidates), {a, b, c}).tolist()
    [1, 1, 0, 1]
    """
    if len(candidates) >= _MIN_FOR_KERNELS and kernels_are_ready():
        n_ids = 1 + max(int(candidates.max()), max(base, default=0))
        if n_ids <= 24 * len(candidates):
            return choose_by_kernel(candidates, base, n_ids)
    return choose_in_python(candidates, base)


def choose_in_python(candidates: Triples, base: Set[int]) -> NDArray[np.uint8]:
    """Do the same without kernels.

    >>> candidates = to_triples([(0, 2, 3), (0, 1, 2), (0, 2, 3)])
    >>> choose_in_python(candidates, {0, 1}).tolist()
    [2, 1, 1]
    """
    known = set(base)
    ranks: dict[Pair, int] = {}
    parts: dict[int, Triple] = {}
    outcomes = np.zeros(len(candidates), np.uint8)
    for rank, (left, right, made) in enumerate(candidates.tolist()):
        if made in parts:
            continue
        if left not in known or right not in known:
            outcomes[rank] = TOO_EARLY
        elif stay_apart(left, right, ranks, parts):
            outcomes[rank] = TAKEN
            parts[made] = (rank, left, right)
            ranks[left, right] = rank
            known.add(made)
    return outcomes


def choose_by_kernel(candidates: Triples, base: Set[int], n_ids: int) -> NDArray[np.uint8]:
    """Do the same with kernels; all ids are below `n_ids`.

    >>> candidates = to_triples([(0, 2, 3), (0, 1, 2), (0, 2, 3)])
    >>> choose_by_kernel(candidates, {0, 1}, 4).tolist()
    [2, 1, 1]
    """
    from bpe_core.kernels import token_parts as kernel
    from bpe_core.kernels.hashing import EMPTY

    capacity = 1 << (2 * n_ids).bit_length()
    since = np.full(n_ids, kernel.UNKNOWN, np.int32)
    since[np.fromiter(base, np.int64, len(base))] = kernel.BASE
    outcomes = np.zeros(len(candidates), np.uint8)
    kernel.choose_parts(
        candidates.reshape(-1),
        np.full(capacity, EMPTY, np.uint64),
        np.zeros(capacity, np.int32),
        since,
        np.zeros(2 * n_ids, np.int32),
        outcomes,
    )
    return outcomes
