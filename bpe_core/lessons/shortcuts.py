"""What is lost by a shortcut: training without cuts, and encoding by longest match."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from bpe_core.lessons.walk import Walk
from bpe_core.trie import Trie


def crossing(tokens: Iterable[bytes], cut: Callable[[str], Sequence[str]]) -> list[bool]:
    """Tell of each token whether it reaches over a place where a text would be cut.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> crossing([b" dog", b"dog.", b"e dog"], get_pretokenizer("gpt2").split)
    [False, True, True]
    """
    return [len(cut(token.decode(errors="replace"))) > 1 for token in tokens]


def trie_of(learned: Walk) -> Trie:
    """Return the trie of what a walk has learned.

    >>> from bpe_core.lessons.walk import walk
    >>> from bpe_core.types import TrainingConfig
    >>> config = TrainingConfig(6, base="characters", special_tokens=())
    >>> trie_of(walk({"hug": 2, "ug": 1}, config)).encode([1, 2, 0])
    [4]
    """
    return Trie(
        {merge.pair: merge.rank for merge in learned.merges},
        [merge.id for merge in learned.merges],
    )


def longest_matches(trie: Trie, symbols: Sequence[int]) -> list[int]:
    """Take the longest token that fits, again and again, and never look back: this is not BPE.

    >>> longest_matches(Trie({(0, 1): 0, (2, 3): 1, (4, 2): 2}, [4, 5, 6]), [0, 1, 2, 3])
    [6, 3]
    """
    ids: list[int] = []
    at = 0
    while at < len(symbols):
        id, length = trie.longest_match(symbols, at)
        ids.append(id)
        at += length
    return ids
