"""Number the merges that a file lists, and choose the two parts that each token is joined from.

Lists of merges and ranks name many ways in which two tokens make a third. Nothing outside a token
changes the order in which its symbols are joined, so each token is always joined from the same two:
those that all earlier merges would leave apart (see `tokenizer.trie`).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence, Set
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels import use_kernels
from bpe_core.tokenizer import stay_apart
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
    if use_kernels(len(merges), _MIN_FOR_KERNELS):
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
    words = _Words(*_lay_out(ids.keys()), ids.values())
    text, ends = _lay_out(list(chain.from_iterable(merges)))
    begins, middles, stops = ends[:-1:2], ends[1::2], ends[2::2]
    triples = words.find(
        text,
        np.stack([begins, middles, begins], axis=1).reshape(-1),
        np.stack([middles, stops, stops], axis=1).reshape(-1),
    ).reshape(-1, 3)
    if left_out:
        made = [id for text in left_out if (id := ids.get(text)) is not None]
        triples = triples[~np.isin(triples[:, 2], made)]
    return None if (triples < 0).any() else triples


def list_cuts(tokens: Sequence[bytes], ids: Mapping[bytes, int]) -> Triples:
    """Return every way in which two tokens spell one of some; all have ids.

    >>> list_cuts([b"aaa"], {b"a": 7, b"aa": 8, b"aaa": 9}).tolist()
    [[7, 8, 9], [8, 7, 9]]
    """
    if use_kernels(len(tokens), _MIN_FOR_KERNELS):
        return cuts_by_kernel(tokens, ids)
    return cuts_in_python(tokens, ids)


def cuts_in_python(tokens: Sequence[bytes], ids: Mapping[bytes, int]) -> Triples:
    """Do the same without kernels.

    >>> cuts_in_python([b"aa"], {b"a": 7, b"aa": 8}).tolist()
    [[7, 7, 8]]
    """
    found = array("i")
    for token in tokens:
        for cut in range(1, len(token)):
            left = ids.get(token[:cut])
            if left is not None and (right := ids.get(token[cut:])) is not None:
                found.extend((left, right, ids[token]))
    return np.array(found, np.int32).reshape(-1, 3)


def cuts_by_kernel(
    tokens: Sequence[bytes], ids: Mapping[bytes, int], n_at_once: int = 1 << 20
) -> Triples:
    """Do the same with kernels, for tokens of `n_at_once` bytes at a time.

    >>> cuts_by_kernel([b"aa"], {b"a": 7, b"aa": 8}).tolist()
    [[7, 7, 8]]
    """
    words = _Words(*_join(ids), ids.values())
    text, starts = _join(tokens)
    made = np.fromiter(map(ids.__getitem__, tokens), np.int32, len(tokens))
    found = [to_triples([])]
    last = 0
    while last < len(tokens):
        first = last
        end = int(starts[first]) + n_at_once
        last = max(first + 1, int(np.searchsorted(starts, end)) - 1)
        begins: NDArray[np.int64] = starts[first:last]
        ends: NDArray[np.int64] = starts[first + 1 : last + 1]
        widths = ends - begins
        # Every byte of these tokens but their first is where one can be cut.
        is_cut = np.ones(int(ends[-1] - begins[0]), np.bool_)
        is_cut[begins - begins[0]] = False
        cuts = np.flatnonzero(is_cut) + begins[0]
        begins, ends = np.repeat(begins, widths - 1), np.repeat(ends, widths - 1)
        lefts = words.find(text, begins, cuts)
        known = np.flatnonzero(lefts >= 0)
        rights = words.find(text, cuts[known], ends[known])
        of = np.repeat(made[first:last], widths - 1)
        triples = np.stack([lefts[known], rights, of[known]], axis=1)
        found.append(triples[rights >= 0])
    return np.concatenate(found)


class _Words:
    """A table of words that kernels look others up in."""

    def __init__(
        self, letters: NDArray[np.uint8], starts: NDArray[np.int64], ids: Collection[int]
    ) -> None:
        from bpe_core.kernels import word_cache as kernel

        self._kernel = kernel
        self._whole = kernel.WholeWords(
            places=np.full(1 << (2 * len(ids)).bit_length(), -1, np.int32),
            keys=np.empty(2 * len(ids), np.uint64),
            starts=starts,
            letters=letters,
            ids=np.fromiter(ids, np.int32, len(ids)),
        )
        kernel.enter_whole_words(self._whole, np.zeros(1 << 16, np.uint8))

    def find(
        self, text: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> NDArray[np.int32]:
        """Return the id of each of many words of a text, -1 for those that are not in the table."""
        found = np.empty(len(begins), np.int32)
        self._kernel.find_words(self._whole, text, begins, ends, found)
        return found


def _join(tokens: Collection[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return some tokens in a row, and where each begins, and the end."""
    starts = np.zeros(len(tokens) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)), out=starts[1:])
    return np.frombuffer(b"".join(tokens), np.uint8), starts


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
    if use_kernels(len(candidates), _MIN_FOR_KERNELS):
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
    from bpe_core.kernels import EMPTY
    from bpe_core.kernels import token_bytes as kernel

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


def compile_all() -> None:
    """Compile every kernel of this module by using it."""
    choose_by_kernel(to_triples([(0, 1, 2)]), {0, 1}, 3)
    number_by_kernel({"a": 0, "aa": 1}, [("a", "a")])
    cuts_by_kernel([b"aa"], {b"a": 0, b"aa": 1})
