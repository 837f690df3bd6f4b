"""Encode without merging: take the longest match in a trie, and backtrack if it doesn't fit.

Rank merging starts from single bytes and joins pair after pair. This encoder goes through a word
from left to right and takes whole tokens, which is faster on long words. It is exact, because of
two facts.

*Every token in an encoding encodes to itself.* If a token covers some bytes in the encoding of a
word, then encoding those bytes alone returns that token: the merges inside them happened in the
same order, and none crossed their ends. So a token that rank merging never returns for its own
bytes is left out of the trie.

*Only neighbours have to be compatible.* Tokens that encode to themselves are together the encoding
of their bytes if and only if each two adjacent tokens are the encoding of theirs. Otherwise some
merge crossed a boundary; the first to do so joined the symbols on either side of that boundary, and
it would have done the same if only those two tokens had been there.

To check whether two tokens are compatible, go back in time: undo whichever merge came last, and
check at each state whether the two symbols at the boundary would have been merged before that.

The encoding of a prefix is unique, so the tokens before a given position are always the same ones.
Hence at most one way leads on from each position, and a position found to be a dead end never has
to be tried again: the time is proportional to the word's length.

Example: the merges `a b`, `b c`, `ab c` and `c d`, in this order, and the word `abcd`.

1. The longest match is `abc`, and then `d`. Are `abc` and `d` compatible? `abc` was made by `ab c`;
   after it, `abc` and `d` were adjacent, and no merge joins these two. Before it, `c` and `d` were
   adjacent, and `c d` is a merge, but comes later than `ab c`. No other symbols met at the
   boundary. So they are compatible: `abc`, `d`.
2. If `c d` had been learned before `ab c`, it would have come first, so the two are incompatible.
   No shorter token begins with `d`, so the position after `abc` is a dead end, and the next shorter
   token, `ab`, is tried. The longest match after it is `cd`; the two are compatible: `ab`, `cd`.

Source: Hendrik van Antwerpen and Alexander Neubeck, the crate `bpe` in GitHub's rust-gems, and
their article "So many tokens, so little time: Introducing a faster, more flexible byte-pair
tokenizer" (GitHub blog, 2024). Their crate numbers tokens by rank; here ids may be in any order.
`bpe_core.kernels.word_merging` is the same algorithm on arrays, used for encoding long words; it
also remembers which match fits after which token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from bpe_core.errors import ConfigError
from bpe_core.tokenizer.rank_merging import merge_symbols
from bpe_core.types import Pair

_NEVER: Final = 1 << 60
_ID: Final = -1
"""The key of a token's id in a node; symbols are 0 and more."""
_Node = dict[int, Any]
"""The child nodes by symbol, and the id of the token that ends here, if any."""


class Attempt(NamedTuple):
    """A token that is tried at a position in a word, and the outcome."""

    start: int
    id: int
    outcome: Literal["taken", "would merge", "leads nowhere", "given back"]
    """"would merge" if a merge crosses its left boundary; "leads nowhere" if its end is a known
    dead end; "given back" if it was taken, but its end turned out to be a dead end."""


class Trie:
    """The tokens that encode to themselves, by their base symbols.

    `ranks` maps each pair that has a merge to its rank, `made[rank]` is the id that the merge
    makes; all other ids are base symbols. Raises `ConfigError` if two merges make the same id,
    because its rank would then be ambiguous.

    >>> a, b, c, d = range(4)
    >>> trie = Trie({(a, b): 0, (b, c): 1, (4, c): 2, (c, d): 3}, [4, 5, 6, 7])
    >>> trie.encode([a, b, c, d])
    [6, 3]
    >>> Trie({(a, b): 0, (b, c): 1, (c, d): 2, (4, c): 3}, [4, 5, 6, 7]).encode([a, b, c, d])
    [4, 6]
    """

    def __init__(self, ranks: Mapping[Pair, int], made: Sequence[int]) -> None:
        if len(set(made)) < len(made):
            raise ConfigError(
                f"{len(made):,} merges make {len(set(made)):,} distinct tokens. A trie needs one "
                f"token per merge. Use rank merging instead."
            )
        self._ranks = ranks
        self._parts = {made[rank]: (rank, left, right) for (left, right), rank in ranks.items()}
        self._root: _Node = {}
        spelled: dict[int, tuple[int, ...]] = {}
        # In rank order, so that a merge's parts are spelled before it.
        for id in made:
            _, left, right = self._parts[id]
            symbols = spelled.get(left, (left,)) + spelled.get(right, (right,))
            spelled[id] = symbols
            if merge_symbols(symbols, ranks, made) == [id]:
                self._add(symbols, id)

    def matches(self, symbols: Sequence[int], start: int) -> list[tuple[int, int]]:
        """Return the tokens that match at a position in a word, shortest first: id and length.

        >>> Trie({(0, 1): 0, (2, 0): 1}, [2, 3]).matches([0, 1, 0, 1], 0)
        [(0, 1), (2, 2), (3, 3)]
        """
        found = [(symbols[start], 1)]
        node = self._root
        for at in range(start, len(symbols)):
            if symbols[at] not in node:
                break
            node = node[symbols[at]]
            if _ID in node:
                found.append((node[_ID], at + 1 - start))
        return found

    def longest_match(self, symbols: Sequence[int], start: int = 0) -> tuple[int, int]:
        """Return the longest token that matches at a position in a word: id and length.

        Always taking it is greedy encoding, which is not BPE: see the example above.

        >>> Trie({(0, 1): 0, (2, 0): 1}, [2, 3]).longest_match([0, 1, 1])
        (2, 2)
        """
        return self.matches(symbols, start)[-1]

    def stay_apart(self, left: int, right: int) -> bool:
        """Return True if no merge crosses the boundary between two adjacent tokens.

        >>> trie = Trie({(0, 1): 0, (1, 2): 1}, [3, 4])
        >>> trie.stay_apart(3, 2), trie.stay_apart(0, 4)
        (True, False)
        """
        return stay_apart(left, right, self._ranks, self._parts)

    def encode(self, symbols: Sequence[int]) -> list[int]:
        """Encode one pre-token, exactly as rank merging does.

        >>> Trie({(0, 0): 0, (1, 0): 1}, [1, 2]).encode([0] * 6)
        [1, 1, 1]
        """
        ids: list[int] = []
        for attempt in self.attempts(symbols):
            if attempt.outcome == "taken":
                ids.append(attempt.id)
            elif attempt.outcome == "given back":
                ids.pop()
        return ids

    def attempts(self, symbols: Sequence[int]) -> Iterator[Attempt]:
        """Yield each token that encoding a pre-token tries, in order, with the outcome.

        >>> trie = Trie({(0, 1): 0, (2, 3): 1, (4, 2): 2}, [4, 5, 6])
        >>> [(attempt.id, attempt.outcome) for attempt in trie.attempts([0, 1, 2, 3])]
        [(6, 'taken'), (3, 'would merge'), (6, 'given back'), (4, 'taken'), (5, 'taken')]
        """
        dead: set[int] = set()
        taken: list[tuple[int, int]] = []
        at = 0
        untried = self.matches(symbols, at) if symbols else []
        while at < len(symbols):
            if not untried:
                # Every token that begins here has failed, so the last one taken was too long.
                dead.add(at)
                id, length = taken.pop()
                at -= length
                untried = [match for match in self.matches(symbols, at) if match[1] < length]
                yield Attempt(at, id, "given back")
                continue
            id, length = untried.pop()
            if at + length in dead:
                yield Attempt(at, id, "leads nowhere")
            elif taken and not self.stay_apart(taken[-1][0], id):
                yield Attempt(at, id, "would merge")
            else:
                yield Attempt(at, id, "taken")
                taken.append((id, length))
                at += length
                untried = self.matches(symbols, at) if at < len(symbols) else []

    def _add(self, symbols: Sequence[int], id: int) -> None:
        node = self._root
        for symbol in symbols:
            node = node.setdefault(symbol, {})
        node[_ID] = id


def stay_apart(
    left: int,
    right: int,
    ranks: Mapping[Pair, int],
    parts: Mapping[int, tuple[int, int, int]],
) -> bool:
    """Return True if no merge crosses the boundary of two tokens that encode to themselves.

    `parts` maps the id that a merge makes to the merge's rank, left id and right id.

    >>> ranks, parts = {(0, 1): 0, (1, 2): 1}, {3: (0, 0, 1), 4: (1, 1, 2)}
    >>> stay_apart(3, 2, ranks, parts), stay_apart(0, 4, ranks, parts)
    (True, False)
    """
    limit = _NEVER
    while True:
        if ranks.get((left, right), _NEVER) < limit:
            return False
        left_rank = parts[left][0] if left in parts else -1
        right_rank = parts[right][0] if right in parts else -1
        if left_rank < 0 and right_rank < 0:
            return True
        # Of pairs with equal rank, the left one is merged first. So a pair across the boundary
        # comes before the right token's merge at equal rank, but after the left token's.
        if left_rank > right_rank:
            limit, left = left_rank, parts[left][2]
        else:
            limit, right = right_rank + 1, parts[right][1]
