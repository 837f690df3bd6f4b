"""Walk the tokens of a vocabulary as a trie of bytes.

The trie is never built. In a sorted list, tokens with a common prefix are adjacent, so a node is a
range of the list, found by bisection, and its branches are the ranges within it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """An edge from a node down to where a token ends or the tokens diverge."""

    prefix: bytes
    """The node's own bytes followed by those of this branch."""
    n_tokens: int
    """The number of tokens that begin with the prefix."""
    ids: tuple[int, ...]
    """The ids whose token equals the prefix; two ids may have the same bytes."""


@dataclass(frozen=True, slots=True)
class Node:
    """A prefix: how many tokens begin with it, which equal it, and how they continue."""

    prefix: bytes
    n_tokens: int
    ids: tuple[int, ...]
    """The ids whose token equals the prefix."""
    branches: tuple[Branch, ...]
    """The branch with the most tokens first."""


class PrefixTree:
    """The tokens of a vocabulary, looked up by prefix.

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
        """Return the node of a prefix; it has no tokens if none begins with the prefix.

        >>> PrefixTree({0: b"a"}).node(b"b")
        Node(prefix=b'b', n_tokens=0, ids=(), branches=())
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        own = self._find_own_end(prefix, start, stop)
        branches: list[Branch] = []
        at = own
        while at < stop:
            first = self._tokens[at][: len(prefix) + 1]
            _, end = self._range(first, at, stop)
            # In a sorted range, a prefix shared by the first and the last token is shared by all.
            shared = _shared_beginning(self._tokens[at], self._tokens[end - 1])
            ids = tuple(self._ids[at : self._find_own_end(shared, at, end)])
            branches.append(Branch(shared, end - at, ids))
            at = end
        branches.sort(key=lambda branch: (-branch.n_tokens, branch.prefix))
        return Node(prefix, stop - start, tuple(self._ids[start:own]), tuple(branches))

    def path(self, prefix: bytes) -> tuple[bytes, ...]:
        """Return the prefixes of the nodes from the root to a prefix, both included.

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
        """Return the ids of at most `most` tokens that begin with a prefix, in byte order.

        >>> PrefixTree({0: b"hug", 1: b"hu", 2: b"a"}).starting_with(b"h", 5)
        [1, 0]
        """
        start, stop = self._range(prefix, 0, len(self._tokens))
        return self._ids[start : min(stop, start + most)]

    def longest_match(self, data: bytes) -> int | None:
        """Return the id of the longest token that `data` begins with; BPE may choose another.

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
        # No suffix of 0xFF bytes is an upper bound for a prefix, so keys are compared truncated.
        length = len(prefix)
        return start, bisect_right(
            self._tokens, prefix, start, high, key=lambda token: token[:length]
        )

    def _find_own_end(self, prefix: bytes, start: int, stop: int) -> int:
        return bisect_right(self._tokens, prefix, start, stop)


def _shared_beginning(first: bytes, second: bytes) -> bytes:
    length = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first[:length]
