"""Find the merges of a long list that can ever apply.

Files of SentencePiece's family list every way in which two tokens make a third: Gemma 3's has
514,906 merges for 236,339 tokens. Nothing outside a token changes the order in which its characters
are joined, so a token is always made by the same merge: of the two tokens that joining its text
alone ends with. Any other merge to the same token never applies, and is left out.

Almost always, the parts have lower ranks than the token, and `choose_parts` finds the merge without
joining anything. A token whose merge comes before those of its parts, such as Gemma's runs of
spaces, is late: it is made as soon as its last part is there. Late tokens, and those that contain
one, are joined from their characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Final

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.tokenizer.rank_merging import merge_steps
from bpe_core.tokenizer.token_parts import (
    TAKEN,
    TOO_EARLY,
    Triple,
    Triples,
    choose_parts,
    pair_keys,
    to_list,
)

_MAX_CHARACTERS: Final = 1_000_000
"""The most parts of late tokens, and of those that contain one, together."""


def find_live_merges(listed: Triples, texts: Mapping[int, str]) -> list[Triple]:
    """Return the merges (left, right, made) that can apply, in their order.

    `texts` are the texts of the tokens that are characters or that merges make. Raises
    `FormatError` if two merges join the same pair, or if late tokens are too many to look at.

    >>> texts = dict(enumerate(["a", "b", "c", "ab", "bc", "abc"]))
    >>> from bpe_core.tokenizer.token_parts import to_triples
    >>> find_live_merges(to_triples([(0, 1, 3), (1, 2, 4), (0, 4, 5), (3, 2, 5)]), texts)
    [(0, 1, 3), (1, 2, 4), (3, 2, 5)]
    >>> find_live_merges(to_triples([(3, 2, 5), (0, 1, 3)]), texts)
    [(3, 2, 5), (0, 1, 3)]
    """
    # np.unique takes three times as long.
    if (np.diff(np.sort(pair_keys(listed))) == 0).any():
        raise FormatError("Two merges join the same pair of tokens.")
    base = {id for id, text in texts.items() if len(text) == 1}
    outcomes = choose_parts(listed, base)
    taken = np.flatnonzero(outcomes == TAKEN)
    rank_of = dict(zip(listed[taken, 2].tolist(), taken.tolist(), strict=True))
    late = _find_late(listed[outcomes == TOO_EARLY].tolist(), rank_of, base)
    if late:
        _join_late(late, listed, texts, rank_of)
    return to_list(listed[sorted(rank_of.values())])


def _find_late(
    early: Sequence[Sequence[int]], rank_of: Mapping[int, int], base: Set[int]
) -> set[int]:
    """Return the tokens that merges which come before their parts may make."""
    late: set[int] = set()
    known = {**dict.fromkeys(base, -1), **rank_of}
    """When each token is there: after which merge."""
    goes_on = True
    while goes_on:
        goes_on = False
        for left, right, made in early:
            if left not in known or right not in known or made in late:
                continue
            latest = max(known[left], known[right])
            # What makes the token before both parts are there keeps this merge from applying.
            if made not in rank_of or rank_of[made] > latest:
                late.add(made)
                known[made] = latest
                goes_on = True
    return late


def _join_late(
    late: Set[int],
    listed: Triples,
    texts: Mapping[int, str],
    rank_of: dict[int, int],
) -> None:
    """Set the merges of late tokens and of those that contain one, by joining their characters."""
    ids = {text: id for id, text in texts.items() if len(text) == 1}
    has_late = re.compile("|".join(sorted(re.escape(texts[id]) for id in late))).search
    joined = [id for id, text in texts.items() if len(text) > 1 and has_late(text)]
    if sum(len(texts[id]) ** 2 for id in joined) > _MAX_CHARACTERS:
        raise FormatError("Too many of its merges come before those that make their parts.")
    inner = {
        text[start:end]
        for text in map(texts.__getitem__, joined)
        for start in range(len(text))
        for end in range(start + 2, len(text) + 1)
    }
    inner_ids = [id for id, text in texts.items() if text in inner]
    ways = np.flatnonzero(np.isin(listed[:, 2], inner_ids))
    ranks = {
        (left, right): rank
        for rank, (left, right, _) in zip(ways.tolist(), listed[ways].tolist(), strict=True)
    }
    made = listed[:, 2].tolist()
    for id in joined:
        rank_of.pop(id, None)
        if not ids.keys() >= set(texts[id]):
            continue
        symbols = [ids[character] for character in texts[id]]
        *_, (rank, ending) = [(0, ()), *merge_steps(symbols, ranks, made)]
        if ending == (id,):
            rank_of[id] = rank
