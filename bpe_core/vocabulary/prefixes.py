"""All tokens of a vocabulary as one trie of bytes: what begins with what.

The trie is not built. In a sorted list all that begins with the same bytes stands together, so a
node is a range of the list, found by bisection, and its branches are the ranges within it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """One way on from a node: the bytes up to where tokens end or part, and what is beyond."""

    prefix: bytes
    """The node's own bytes and those of this way."""
    n_tokens: int
    """How many tokens begin with the prefix."""
    ids: tuple[int, ...]
    """Of the tokens that are the prefix and no more; two ids may have the same bytes."""


@dataclass(frozen=True, slots=True)
class Node:
    """The tokens that begin with some bytes: how many, which end there, and the ways on."""

    prefix: bytes
    n_tokens: int
    ids: tuple[int, ...]
    """Of the tokens that are the prefix and no more."""
    branches: tuple[Branch, ...]
    """The way with most tokens first."""


class PrefixTree:
    """The tokens of a vocabulary by their first bytes.

    >>> tree = PrefixTree({0: b"h", 1: b"hu", 2: b"hug", 3: b"hugs", 4: b"the"})
    >>> node = tree.node(b"h")
    >>> node.n_tokens, node.ids, [(b.prefix, b.n_tokens, b.ids) for b in node.branches]
    (4, (0,), [(b'hu', 3, (1,))])
    """

    __slots__ = ("_ids", "_tokens")

    def __init__(self, vocab: Mapping[int, bytes]) -> None:
        entries = sorted((token, id) for id, token in vocab.items())
        self._tokens = [token for token, _ in entries]
        self._ids = [id for _, id in entries]

    def node(self, prefix: bytes = b"") -> Node:
        """Return what begins with a prefix; without tokens where nothing does.

        >>> PrefixTree({0: b"a"}).node(b"b")
        Node(prefix=b'b', n_tokens=0, ids=(), branches=())
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        own = self._end_of_own(prefix, start, stop)
        branches: list[Branch] = []
        at = own
        while at < stop:
            first = self._tokens[at][: len(prefix) + 1]
            _, end = self._range(first, at, stop)
            # Sorted, so what the first and the last share all between them share.
            shared = _shared_beginning(self._tokens[at], self._tokens[end - 1])
            ids = tuple(self._ids[at : self._end_of_own(shared, at, end)])
            branches.append(Branch(shared, end - at, ids))
            at = end
        branches.sort(key=lambda branch: (-branch.n_tokens, branch.prefix))
        return Node(prefix, stop - start, tuple(self._ids[start:own]), tuple(branches))

    def path(self, prefix: bytes) -> tuple[bytes, ...]:
        """Return the nodes on the way from the root to a prefix, both of them in it.

        >>> PrefixTree({0: b"hu", 1: b"hug", 2: b"hut"}).path(b"hug")
        (b'', b'hu', b'hug')
        """
        found = [b""]
        start, stop = 0, len(self._tokens)
        while len(found[-1]) < len(prefix):
            at = len(found[-1])
            start, stop = self._range(prefix[: at + 1], start, stop)
            if start == stop:
                break
            shared = _shared_beginning(self._tokens[start], self._tokens[stop - 1])
            if not prefix.startswith(shared):
                break
            found.append(shared)
        if found[-1] != prefix:
            found.append(prefix)
        return tuple(found)

    def starting_with(self, prefix: bytes, most: int) -> list[int]:
        """Return the ids of tokens that begin with a prefix, in byte order, `most` at most.

        >>> PrefixTree({0: b"hug", 1: b"hu", 2: b"a"}).starting_with(b"h", 5)
        [1, 0]
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        return self._ids[start : min(stop, start + most)]

    def longest_match(self, data: bytes) -> int | None:
        """Return the longest token that bytes begin with, which BPE may cut otherwise.

        >>> PrefixTree({0: b"h", 1: b"hug", 2: b"hugs"}).longest_match(b"hugging")
        1
        """
        start, stop = 0, len(self._tokens)
        found: int | None = None
        for length in range(1, len(data) + 1):
            start, stop = self._range(data[:length], start, stop)
            if start == stop:
                break
            if len(self._tokens[start]) == length:
                found = self._ids[start]
        return found

    def _range(self, prefix: bytes, low: int, high: int) -> tuple[int, int]:
        start = bisect_left(self._tokens, prefix, low, high)
        # 0xFF is not enough to stand above all that begins with the prefix: keys are cut instead.
        length = len(prefix)
        return start, bisect_right(
            self._tokens, prefix, start, high, key=lambda token: token[:length]
        )

    def _end_of_own(self, prefix: bytes, start: int, stop: int) -> int:
        return bisect_right(self._tokens, prefix, start, stop)


def _shared_beginning(first: bytes, second: bytes) -> bytes:
    length = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first[:length]
