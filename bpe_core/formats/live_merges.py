"""Find the merges of a long list that can ever apply.

Files of SentencePiece's family list every way in which two tokens make a third: Gemma 3's has
514,906 merges for 236,339 tokens. Nothing outside a token changes the order in which its characters
are joined, so a token is always made by the same merge: of the two tokens that joining its text
alone ends with. Any other merge to the same token never applies, and is left out.

Almost always, the parts have lower ranks than the token, and `stay_apart` finds the merge without
joining anything. A token whose merge comes before those of its parts, such as Gemma's runs of
spaces, is late: it is made as soon as its last part is there. Late tokens, and those that contain
one, are joined from their characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from bpe_core.errors import FormatError
from bpe_core.tokenizer.rank_merging import merge_steps
from bpe_core.tokenizer.trie import stay_apart
from bpe_core.types import Pair

Triple = tuple[int, int, int]
_MAX_CHARACTERS: Final = 1_000_000
"""The most parts of late tokens, and of those that contain one, together."""


def find_live_merges(listed: Sequence[Triple], texts: Mapping[int, str]) -> list[Triple]:
    """Return the merges (left, right, made) that can apply, in their order.

    `texts` are the texts of the tokens that are characters or that merges make. Raises
    `FormatError` if two merges join the same pair, or if late tokens are too many to look at.

    >>> texts = dict(enumerate(["a", "b", "c", "ab", "bc", "abc"]))
    >>> find_live_merges([(0, 1, 3), (1, 2, 4), (0, 4, 5), (3, 2, 5)], texts)
    [(0, 1, 3), (1, 2, 4), (3, 2, 5)]
    >>> find_live_merges([(3, 2, 5), (0, 1, 3)], texts)
    [(3, 2, 5), (0, 1, 3)]
    """
    if len({(left, right) for left, right, _ in listed}) < len(listed):
        raise FormatError("Two merges join the same pair of tokens.")
    known = {id for id, text in texts.items() if len(text) == 1}
    ranks: dict[Pair, int] = {}
    parts: dict[int, Triple] = {}
    early: list[Triple] = []
    for rank, (left, right, made) in enumerate(listed):
        if made in parts:
            continue
        if left not in known or right not in known:
            early.append((left, right, made))
        elif stay_apart(left, right, ranks, parts):
            parts[made] = (rank, left, right)
            ranks[left, right] = rank
            known.add(made)
    late = _find_late(early, parts, known)
    if late:
        _join_late(late, listed, texts, parts)
    live = sorted(rank for rank, _, _ in parts.values())
    return [listed[rank] for rank in live]


def _find_late(
    early: Sequence[Triple], parts: Mapping[int, Triple], known: set[int]
) -> dict[int, int]:
    """Return the tokens that merges which come before their parts may make."""
    late: dict[int, int] = {}
    goes_on = True
    while goes_on:
        goes_on = False
        for left, right, made in early:
            if made in late or left not in known or right not in known:
                continue
            ranks = {part: found[0] for part in (left, right) if (found := parts.get(part))}
            latest = max(late.get(part, ranks.get(part, -1)) for part in (left, right))
            # What makes the token before both parts are there keeps this merge from applying.
            if made not in parts or parts[made][0] > latest:
                late[made] = latest
                known.add(made)
                goes_on = True
    return late


def _join_late(
    late: Mapping[int, int],
    listed: Sequence[Triple],
    texts: Mapping[int, str],
    parts: dict[int, Triple],
) -> None:
    """Set the parts of late tokens and of those that contain one, by joining their characters."""
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
    ranks = {
        (left, right): rank
        for rank, (left, right, made) in enumerate(listed)
        if texts[made] in inner
    }
    made = [each for _, _, each in listed]
    for id in joined:
        parts.pop(id, None)
        if not ids.keys() >= set(texts[id]):
            continue
        symbols = [ids[character] for character in texts[id]]
        *_, (rank, ending) = [(0, ()), *merge_steps(symbols, ranks, made)]
        if ending == (id,):
            parts[id] = (rank, *listed[rank][:2])
