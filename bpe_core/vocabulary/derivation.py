"""What tokens are made of, and which are made of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.tokenizer.tokenizer import Tokenizer


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A token where it stands in the tree of another."""

    id: int
    rank: int | None
    """The rank of the merge that first makes it; None for a symbol."""
    parts: tuple[int, int] | None
    """The places of its two parts in the tree; None for a symbol, and where the tree is cut."""


class Derivations:
    """The merges of a tokenizer from both sides: parts of tokens, and tokens built on them.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> derivations = Derivations(gpt2())
    >>> tree = derivations.tree(262)
    >>> [(gpt2().vocab[node.id], node.rank, node.parts) for node in tree[:3]]
    [(b' the', 6, (1, 2)), (b' t', 0, (3, 4)), (b'he', 2, (5, 6))]
    >>> [gpt2().vocab[id] for id in derivations.built_on(262)[:3]]
    [b' they', b' their', b' them']
    """

    __slots__ = ("_built_on", "_first")

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._first: dict[int, tuple[int, int, int]] = {}
        built: dict[int, dict[int, None]] = defaultdict(dict)
        for merge in tokenizer.merges:
            self._first.setdefault(merge.id, (merge.rank, merge.left, merge.right))
            for part in merge.pair:
                built[part][merge.id] = None
        self._built_on = {id: tuple(made) for id, made in built.items()}

    def tree(self, id: int, most: int = 127) -> tuple[TreeNode, ...]:
        """Return the tree of a token, the token first and symbols last: by levels.

        It is cut at about `most` nodes: a token of a million equal letters is made by twenty
        merges, but its tree has two million nodes.
        """
        ids = [id]
        nodes: list[TreeNode] = []
        # The list grows while it is gone through.
        for own in ids:
            rank, left, right = self._first.get(own, (None, None, None))
            parts = None
            if left is not None and right is not None and len(ids) < most:
                parts = (len(ids), len(ids) + 1)
                ids += (left, right)
            nodes.append(TreeNode(own, rank, parts))
        return tuple(nodes)

    def n_symbols(self, id: int) -> int:
        """Return how many symbols a token is made of, which takes one merge fewer.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> Derivations(gpt2()).n_symbols(262)
        4
        """
        counts: dict[int, int] = {}
        waiting = [id]
        while waiting:
            own = waiting[-1]
            _, left, right = self._first.get(own, (None, None, None))
            if left is None or right is None:
                counts[own] = 1
            elif left in counts and right in counts:
                counts[own] = counts[left] + counts[right]
            else:
                waiting += (part for part in (left, right) if part not in counts)
                continue
            waiting.pop()
        return counts[id]

    def built_on(self, id: int) -> tuple[int, ...]:
        """Return the tokens that a merge makes of this one and another, in rank order."""
        return self._built_on.get(id, ())

    def all_built_on(self, id: int) -> frozenset[int]:
        """Return all tokens that have this one in their making, directly or not."""
        found: set[int] = set()
        waiting = [id]
        while waiting:
            new = [made for made in self.built_on(waiting.pop()) if made not in found]
            found.update(new)
            waiting += new
        return frozenset(found)
