r"""Encoding without merging: longest matches in a trie, and a step back where they don't fit.

Rank merging starts from single bytes and joins pair after pair. The encoder here goes through a
word from left to right and takes tokens whole, which is faster on long words. It is exact, thanks
to two facts.

*What stands in an encoding encodes to itself.* If a token covers some bytes in the encoding of a
word, then encoding those bytes alone gives that token: merges inside them happened in the same
order, and none reached out. So a token that rank merging never gives for its own bytes is left out
of the trie.

*Only neighbours have to agree.* Tokens that encode to themselves are the encoding of their bytes
together exactly if each two that stand side by side are the encoding of theirs. Otherwise some
merge reached across a border, the first to do so joined what stood left and right of that border,
and it would have done the same with only those two tokens there.

Whether two tokens agree is found by going back in time: take apart whichever was merged last, and
look at each state whether the two symbols at the border would have merged before that.

The encoding of a word's beginning is unique, so the tokens before a given place are always the
same ones. Hence there is one way on from each place at most, and a place that was found to lead
nowhere need not be tried again: the time is in proportion to the word's length.

One word, worked. Merges `a b`, `b c`, `ab c` and `c d`, in this order, and the word `abcd`:

1. The longest match is `abc`. What begins with `d` is `d`. Do `abc` and `d` agree? `abc` was
   merged by `ab c`, after which `d` stood beside it, and no merge joins these two. Before it, `c`
   and `d` stood side by side, and `c d` is a merge, but a later one than `ab c`. Before `c` there
   was nothing else at the border. So they agree: `abc`, `d`.
2. With `c d` learned before `ab c`, it would have come first: they don't agree. `d` has no shorter
   beginning, so the place after `abc` leads nowhere, and the next shorter token `ab` is tried. The
   longest match after it is `cd`, the two agree: `ab`, `cd`.

Source: Hendrik van Antwerpen and Alexander Neubeck, the crate `bpe` in GitHub's rust-gems, and
their article "So many tokens, so little time: Introducing a faster, more flexible byte-pair
tokenizer" (GitHub blog, 2024). Their crate numbers tokens by rank; here ranks decide, so ids may
be in any order. `bpe_core.kernels.trie` is the same in arrays: that one the engine uses.
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
"""What follows, by symbol; and the id of the token that ends here, if one does."""


class Attempt(NamedTuple):
    """A token that is tried at a place of a word, and what becomes of it."""

    start: int
    id: int
    outcome: Literal["taken", "would merge", "leads nowhere", "given back"]
    """"would merge" where a merge comes across its left border; "leads nowhere" where no token goes
    on behind it; "given back" where it was taken, and nothing went on behind it."""


class Trie:
    """The tokens that encode to themselves, by the symbols that they start as.

    `ranks` gives each pair that is a merge its rank, `made[rank]` the id that the merge makes; ids
    that no merge makes are the symbols that words start as. Raises `ConfigError` where two merges
    make the same id: then its rank doesn't say when it was merged.

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
                f"{len(made):,} merges make {len(set(made)):,} different tokens. A trie needs "
                f"merges that each make a token of their own: encode by rank merging."
            )
        self._ranks = ranks
        self._parts = {made[rank]: (rank, left, right) for (left, right), rank in ranks.items()}
        self._root: _Node = {}
        spelled: dict[int, tuple[int, ...]] = {}
        # In the order in which they were learned: a merge's parts are spelled before it.
        for id in made:
            _, left, right = self._parts[id]
            symbols = spelled.get(left, (left,)) + spelled.get(right, (right,))
            spelled[id] = symbols
            if merge_symbols(symbols, ranks, made) == [id]:
                self._add(symbols, id)

    def matches(self, symbols: Sequence[int], start: int) -> list[tuple[int, int]]:
        """Return the tokens that begin at a place of a word, shortest first: id and length.

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
        """Return the longest token that begins at a place of a word: id and length.

        Taking it each time is greedy encoding, which is not BPE: see the word in the module's text.

        >>> Trie({(0, 1): 0, (2, 0): 1}, [2, 3]).longest_match([0, 1, 1])
        (2, 2)
        """
        return self.matches(symbols, start)[-1]

    def starting_with(self, prefix: Sequence[int]) -> list[int]:
        """Return the tokens of two symbols and more that begin with some symbols, shortest first.

        >>> Trie({(0, 1): 0, (2, 0): 1}, [2, 3]).starting_with([0])
        [2, 3]
        """
        node = self._root
        for symbol in prefix:
            node = node.get(symbol, {})
        found: list[int] = []
        level = [node]
        while level:
            found += [node[_ID] for node in level if _ID in node]
            level = [node[symbol] for node in level for symbol in sorted(node) if symbol != _ID]
        return found

    def stay_apart(self, left: int, right: int) -> bool:
        """Tell whether two tokens that stand side by side are never joined across their border.

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
        """Yield each token that encoding a pre-token tries, in turn, and what becomes of it.

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
                # No token goes on from here: the last one was too long.
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
    """Tell whether two tokens that encode to themselves are never joined across their border.

    `parts` gives the id that a merge makes the merge's rank and what it joins.

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
        # Of equal ranks the pair further left is merged first. So one across the border comes
        # before the right token's merge if it has the same rank, but not before the left one's.
        if left_rank > right_rank:
            limit, left = left_rank, parts[left][2]
        else:
            limit, right = right_rank + 1, parts[right][1]
