"""Two trees of a vocabulary: the parts each token was merged from, and the tokens it begins."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.tokenizer import Tokenizer


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


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A token at its place in a derivation tree."""

    id: int
    rank: int | None
    """The rank of the merge that first makes it; None for a symbol."""
    parts: tuple[int, int] | None
    """The indices of its two parts in the tree; None for a symbol or where the tree is cut off."""


class Derivations:
    """The merges of a tokenizer, indexed by the token they make and by its parts.

    >>> from bpe_core.tokenizer import gpt2
    >>> derivations = Derivations(gpt2())
    >>> tree = derivations.tree(262)
    >>> [(gpt2().vocab[node.id], node.rank, node.parts) for node in tree[:3]]
    [(b' the', 6, (1, 2)), (b' t', 0, (3, 4)), (b'he', 2, (5, 6))]
    >>> [gpt2().vocab[id] for id in derivations.built_on(262)[:3]]
    [b' they', b' their', b' them']
    """

    __slots__ = ("_built_on", "_table")

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._table = tokenizer.table
        built: dict[int, dict[int, None]] = defaultdict(dict)
        for left, right, made in self._table.triples:
            for part in (left, right):
                built[part][made] = None
        self._built_on = {id: tuple(made) for id, made in built.items()}

    def tree(
        self, id: int, most: int = 127, *, folded: Container[int] = ()
    ) -> tuple[TreeNode, ...]:
        """Return the derivation tree of a token level by level, the token itself first.

        The tree is cut off at about `most` nodes: twenty merges make a token of a million equal
        letters, but its tree has two million nodes. It is also cut off below the ids in `folded`,
        but not below the token itself.
        """
        ids = [id]
        nodes: list[TreeNode] = []
        # The loop appends to the list that it iterates over.
        for own in ids:
            pair = self._table.parts.get(own)
            rank = None if pair is None else self._table.ranks[pair]
            parts = None
            is_open = not nodes or own not in folded
            if pair is not None and is_open and len(ids) < most:
                parts = (len(ids), len(ids) + 1)
                ids += pair
            nodes.append(TreeNode(own, rank, parts))
        return tuple(nodes)

    def n_symbols(self, id: int) -> int:
        """Return the number of symbols in a token; one merge fewer joins them.

        >>> from bpe_core.tokenizer import gpt2
        >>> Derivations(gpt2()).n_symbols(262)
        4
        """
        counts: dict[int, int] = {}
        waiting = [id]
        while waiting:
            own = waiting[-1]
            parts = self._table.parts.get(own, ())
            if missing := [part for part in parts if part not in counts]:
                waiting += missing
            else:
                counts[own] = sum(counts[part] for part in parts) or 1
                waiting.pop()
        return counts[id]

    def built_on(self, id: int) -> tuple[int, ...]:
        """Return the tokens that a single merge makes from this one, in rank order."""
        return self._built_on.get(id, ())

    def all_built_on(self, id: int) -> frozenset[int]:
        """Return all tokens merged from this one, directly or indirectly."""
        found: set[int] = set()
        waiting = [id]
        while waiting:
            new = [made for made in self.built_on(waiting.pop()) if made not in found]
            found.update(new)
            waiting += new
        return frozenset(found)

    def families(self, words: Collection[int], most: int) -> list[tuple[int, tuple[int, ...]]]:
        """Return the words on which the most other words are built, each with these, in id order.

        A word that is itself built on one of them gets no family of its own.

        >>> from bpe_core.tokenizer import gpt2
        >>> words = [id for id, token in gpt2().vocab.items() if token.strip().startswith(b"port")]
        >>> [(root, members), *_] = Derivations(gpt2()).families(words, 3)
        >>> gpt2().vocab[root], [gpt2().vocab[id] for id in members[:3]]
        (b' port', [b' portion', b' portray', b' portfolio'])
        """
        among = frozenset(words)
        built = {id: self.all_built_on(id) & among for id in words}
        found: list[tuple[int, tuple[int, ...]]] = []
        taken: set[int] = set()
        for root in sorted(words, key=lambda id: (-len(built[id]), id)):
            if len(found) == most or not built[root]:
                break
            if root not in taken:
                found.append((root, tuple(sorted(built[root]))))
                taken |= built[root]
        return found


def _shared_beginning(first: bytes, second: bytes) -> bytes:
    length = next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b),
        min(len(first), len(second)),
    )
    return first[:length]
