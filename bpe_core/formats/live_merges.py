"""Find the merges of a long list that can ever apply.

Some files list every way in which two tokens make a third: Gemma 3's has 514,906 merges for 236,339
tokens, Llama 3.1's 280,147 for 127,156. Nothing outside a token changes the order in which its
characters, or bytes, are joined, so a token is always made by the same merge: of the two tokens
that joining its text alone ends with. Any other merge to the same token never applies, and is left
out.

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
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.tokenizer import (
    MAX_FREE_IDS,
    TAKEN,
    TOO_EARLY,
    Tokenizer,
    Triple,
    Triples,
    choose_parts,
    merge_steps,
    pair_keys,
    to_list,
    to_triples,
    with_changes,
)
from bpe_core.unicode import to_printable

_MAX_CHARACTERS: Final = 1_000_000
"""The most parts of late tokens, and of those that contain one, together."""

_NEVER: Final = np.iinfo(np.int64).max
_END_OF_WORD: Final = "\ud800"
"""Stands for the marker, as one symbol; a lone surrogate is in no token."""


def find_live_merges(listed: Triples, texts: Mapping[int, str]) -> Triples:
    """Return the merges (left, right, made) that can apply, in their order.

    `texts` are the texts of the tokens that are characters or that merges make. Raises
    `FormatError` if two merges join the same pair, or if late tokens are too many to look at.

    >>> texts = dict(enumerate(["a", "b", "c", "ab", "bc", "abc"]))
    >>> from bpe_core.tokenizer import to_triples
    >>> find_live_merges(to_triples([(0, 1, 3), (1, 2, 4), (0, 4, 5), (3, 2, 5)]), texts).tolist()
    [[0, 1, 3], [1, 2, 4], [3, 2, 5]]
    >>> find_live_merges(to_triples([(3, 2, 5), (0, 1, 3)]), texts).tolist()
    [[3, 2, 5], [0, 1, 3]]
    """
    # np.unique takes three times as long.
    if (np.diff(np.sort(pair_keys(listed))) == 0).any():
        raise FormatError("Two merges join the same pair of tokens.")
    characters = {text: id for id, text in texts.items() if len(text) == 1}
    base = set(characters.values())
    outcomes = choose_parts(listed, base)
    taken = np.flatnonzero(outcomes == TAKEN)
    # A part that nothing makes is in no text.
    rank_of = np.full(1 + max(int(listed.max(initial=0)), max(texts, default=0)), _NEVER)
    rank_of[listed[taken, 2]] = taken
    late = _find_late(listed[outcomes == TOO_EARLY], rank_of, base)
    if late:
        _join_late(late, listed, texts, characters, rank_of)
    return listed[np.sort(rank_of[rank_of != _NEVER])]


def list_live_merges(tokenizer: Tokenizer) -> list[Triple]:
    """Return the merges of a tokenizer that can apply, in their order.

    One may come before the merge that makes one of its parts, if that part has two merges of which
    only the later one can apply.

    >>> vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc"]))
    >>> dead = [(0, 1, 3), (1, 2, 4), (3, 2, 5), (0, 4, 5)]
    >>> tokenizer = Tokenizer(vocab=vocab | {5: b"abc"}, merges=dead, pretokenizer="none")
    >>> list_live_merges(tokenizer)
    [(0, 1, 3), (1, 2, 4), (3, 2, 5)]
    """
    table = tokenizer.table
    if not table.triples:
        return []
    write = to_printable if tokenizer.base == "bytes" else bytes.decode
    texts = {id: write(table.content[id]) for id in {*table.base_ids.values(), *table.made}}
    texts |= {id: f"{write(table.content[id])}{_END_OF_WORD}" for id in table.ending_word}
    return to_list(find_live_merges(to_triples(table.triples), texts))


def without_dead_merges(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer without the merges that never apply, which encodes alike.

    >>> vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc"]))
    >>> dead = [(0, 1, 3), (1, 2, 4), (3, 2, 5), (0, 4, 5)]
    >>> tokenizer = Tokenizer(vocab=vocab | {5: b"abc"}, merges=dead, pretokenizer="none")
    >>> without_dead_merges(tokenizer).table.triples
    ((0, 1, 3), (1, 2, 4), (3, 2, 5))
    """
    return with_changes(tokenizer, merges=list_live_merges(tokenizer), counts=None)


def check_ids(ids: Mapping[str, int]) -> None:
    """Raise `FormatError` if ids are so sparse that arrays with a place for each would be large.

    >>> check_ids({"a": 0})
    """
    largest, most = max(ids.values(), default=0), 8 * len(ids) + MAX_FREE_IDS
    if largest > most:
        raise FormatError(
            f"Its largest id is {largest:,}, more than the {most:,} allowed for {len(ids):,} "
            "tokens. Use the file as it was saved."
        )


def _find_late(early: Triples, rank_of: NDArray[np.int64], base: Set[int]) -> set[int]:
    """Return the tokens that merges which come before their parts may make."""
    made_after = rank_of.copy()
    made_after[list(base)] = -1
    lefts, rights, made = early.T
    latest = np.maximum(made_after[lefts], made_after[rights])
    # A merge never applies if another makes its token before both of its parts exist.
    may_apply = (latest != _NEVER) & (rank_of[made] > latest)
    late: set[int] = set()
    while True:  # with more of the few merges that matter, until late tokens are in no others
        late = _find_late_among(early[may_apply].tolist(), rank_of, made_after)
        has_late = np.isin(lefts, list(late)) | np.isin(rights, list(late))
        if not (has_late & ~may_apply).any():
            return late
        may_apply |= has_late


def _find_late_among(
    early: Sequence[Sequence[int]], rank_of: NDArray[np.int64], made_after: NDArray[np.int64]
) -> set[int]:
    late: set[int] = set()
    known = made_after.copy()
    """After which merge each token is there."""
    goes_on = True
    while goes_on:
        goes_on = False
        for left, right, made in early:
            latest = max(known[left], known[right])
            if made not in late and rank_of[made] > latest != _NEVER:
                late.add(made)
                known[made] = latest
                goes_on = True
    return late


def _join_late(
    late: Set[int],
    listed: Triples,
    texts: Mapping[int, str],
    characters: Mapping[str, int],
    rank_of: NDArray[np.int64],
) -> None:
    """Set the merges of late tokens and of those that contain one, by joining their characters."""
    joined = _find_within(texts, {texts[id] for id in late})
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
        rank_of[id] = _NEVER
        if not characters.keys() >= set(texts[id]):
            continue
        symbols = [characters[character] for character in texts[id]]
        *_, (rank, ending) = [(0, ()), *merge_steps(symbols, ranks, made)]
        if ending == (id,):
            rank_of[id] = rank


def _find_within(texts: Mapping[int, str], parts: Set[str]) -> list[int]:
    """Return the ids of the longer texts that contain one of the parts.

    >>> _find_within({3: "a", 4: "ab", 5: "ba"}, {"b", "ba"})
    [4, 5]
    """
    ids, all_texts = [*texts], [*texts.values()]
    border = "\ud800"  # a lone surrogate: one search of all texts is faster than one of each
    joined = border.join(all_texts)
    shortest_first = sorted(parts, key=len)  # it only matters whether there is one
    found = re.finditer("|".join(map(re.escape, shortest_first)), joined)
    ends = np.cumsum(1 + np.fromiter(map(len, all_texts), np.int64, len(ids)))
    places = np.unique(np.searchsorted(ends, [match.start() for match in found], "right"))
    in_order: list[int] = places.tolist()
    return [ids[place] for place in in_order if len(all_texts[place]) > 1]
