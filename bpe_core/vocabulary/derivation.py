"""Find the parts each token was merged from, and the tokens built on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bpe_core.tokenizer.tokenizer import Tokenizer


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
            rank, left, right = self._first.get(own, (None, None, None))
            parts = None
            is_open = not nodes or own not in folded
            if left is not None and right is not None and is_open and len(ids) < most:
                parts = (len(ids), len(ids) + 1)
                ids += (left, right)
            nodes.append(TreeNode(own, rank, parts))
        return tuple(nodes)

    def n_symbols(self, id: int) -> int:
        """Return the number of symbols in a token; one merge fewer joins them.

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
