"""The merges that a file's list names: those of a long list that can apply, and those of ranks.

Some files list every way in which two tokens make a third: Gemma 3's has 514,906 merges for 236,339
tokens, Llama 3.1's 280,147 for 127,156. Nothing outside a token changes the order in which its
characters, or bytes, are joined, so a token is always made by the same merge: of the two tokens
that joining its text alone ends with. Any other merge to the same token never applies, and is left
out.

Almost always, the parts have lower ranks than the token, and `choose_parts` finds the merge without
joining anything. A token whose merge comes before those of its parts, such as Gemma's runs of
spaces, is late: it is made as soon as its last part is there. Late tokens, and those that contain
one, are joined from their characters.

A file of tiktoken's has no merges but ranks, which imply them. tiktoken joins any two neighbours
whose bytes make a token, lowest rank first, but looks up the whole pre-token first. So a token is
made in one of three ways:

- Almost always by one merge, of the two tokens into which it would be encoded with only the tokens
  of lower rank. They are the only two parts that those tokens would not merge (see
  `tokenizer.trie`); looking for them is twice as fast as encoding each token.
- By a merge whose parts have higher ranks than the token itself, as in some ranks that were put
  together from two vocabularies.
- By no merge: encoding its bytes ends at other tokens. Then only looking it up finds it.

In the first and the second case the merge is always the same: nothing outside a token changes the
order in which its bytes are joined, so the last two parts are those that joining its bytes alone
ends with. A token of the second kind, called late, is joined as soon as its last part is there: in
a list of merges, where every merge comes after its parts, it stands right after that part's merge.
This is exact as long as what late tokens join to a part cannot interfere with other occurrences of
that part: see `after_their_parts`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from operator import itemgetter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import FormatError
from bpe_core.formats.token_parts import (
    TAKEN,
    TOO_EARLY,
    Triple,
    Triples,
    choose_parts,
    list_cuts,
    pair_keys,
    to_list,
    to_triples,
)
from bpe_core.tokenizer import MAX_FREE_IDS, Tokenizer, merge_steps
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
    >>> from bpe_core.formats.token_parts import to_triples
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
    return tokenizer.with_changes(merges=list_live_merges(tokenizer), counts=None)


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


_MAX_STEPS: Final = 200_000_000
# The most bytes that are copied and hashed for the two parts at each cut of all tokens. One token
# of more than about 31 kB exceeds it.
_MAX_BYTES_CUT: Final = 1_000_000_000
_NO_RANK: Final = 1 << 60
_NOT_OF_TWO: Final = "Some tokens are not made of two tokens of lower rank, and "


class MergesNotFoundError(FormatError):
    """No order of merges is known to encode as some ranks do; tiktoken itself can use them."""


def ranks_imply(ranks: Mapping[bytes, int], merges: Sequence[Triple]) -> bool:
    """Return True if `recover_merges` would find these merges, without searching for the cuts.

    >>> ranks_imply({b"a": 0, b"b": 1, b"ab": 2}, [(0, 1, 2)])
    True
    """
    if sorted(id for token, id in ranks.items() if len(token) > 1) != [id for *_, id in merges]:
        return False
    base = {id for token, id in ranks.items() if len(token) == 1}
    return bool((choose_parts(to_triples(merges), base) == TAKEN).all())


def recover_merges(ranks: Mapping[bytes, int]) -> list[Triple]:
    """Return the merges that the ranks imply, as (left, right, made), in an order that works.

    A token that is longer than a byte and that no merge makes is found by looking up whole words.
    Raises `MergesNotFoundError` if no order of merges is known to encode as the ranks do, and
    `FormatError` for a token with a byte that is not one, or too long to look for its merge.

    >>> recover_merges({b"a": 0, b"b": 1, b"ab": 2, b"abb": 3})
    [(0, 1, 2), (2, 1, 3)]
    >>> recover_merges({b"a": 0, b"b": 1, b"c": 2, b"abc": 3, b"ab": 4})
    [(0, 1, 4), (4, 2, 3)]
    >>> recover_merges({b"a": 0, b"b": 1, b"c": 2, b"abc": 3})
    []
    """
    _check_length(ranks, ranks, _MAX_BYTES_CUT)
    in_order = sorted(ranks, key=ranks.__getitem__)
    base = {ranks[token] for token in in_order if len(token) == 1}
    cuts = list_cuts([token for token in in_order if len(token) > 1], ranks)
    merges = to_list(cuts[choose_parts(cuts, base) == TAKEN])
    made = {id for _, _, id in merges}
    others = [token for token in in_order if len(token) > 1 and ranks[token] not in made]
    _check_bytes(others, ranks)
    _check_length(others, ranks, _MAX_STEPS, _NOT_OF_TWO)
    late = {token: pair for token in others if (pair := _last_pair(token, ranks))}
    if not late:
        return merges
    # A late merge may come before others that cross its token. That makes no difference to tokens
    # that don't contain that one, so only the others are looked for again.
    crossed = _containing(late, [token for token in in_order if ranks[token] in made])
    _check_length(crossed, ranks, _MAX_STEPS, _NOT_OF_TWO)
    again = late | {token: pair for token in crossed if (pair := _last_pair(token, ranks))}
    dropped = set(map(ranks.__getitem__, crossed))
    by_rank = [merge for merge in merges if merge[2] not in dropped]
    by_rank += [(ranks[left], ranks[right], ranks[token]) for token, (left, right) in again.items()]
    by_rank.sort(key=itemgetter(2))
    return after_their_parts(to_triples(by_rank), {rank: token for token, rank in ranks.items()})


def _containing(inner: Iterable[bytes], tokens: Iterable[bytes]) -> list[bytes]:
    """Return the tokens that contain one of `inner`, each of at least two bytes."""
    inner = list(inner)
    width = min(map(len, inner))
    by_head: dict[bytes, list[bytes]] = {}
    for token in inner:
        by_head.setdefault(token[:width], []).append(token)
    return [
        token
        for token in tokens
        if any(
            token.startswith(tuple(by_head[head]), at)
            for at in range(len(token) - width + 1)
            if (head := token[at : at + width]) in by_head
        )
    ]


def after_their_parts(merges: Triples, tokens: Mapping[int, bytes]) -> list[Triple]:
    """Return merges by rank so that each comes after those of its parts, and encodes as before.

    Each merge makes a token of its own, and a late one may come before its parts; `tokens` are the
    bytes of what they make. A late merge's place is that of its last part and its own rank behind
    it, so the first number is the rank of the part that all of its late parts wait for. The lowest
    rank first, this part is joined at its leftmost place, then late tokens to it, and then at the
    next place; in the new order, it is joined at all places first. That is the same unless late
    tokens join it to what another place needs: to the same part there, or from both sides to one
    and the same token, or to the token that begins the same part behind it. Raises
    `MergesNotFoundError` in these cases.

    >>> tokens = {0: b"a", 1: b"b", 2: b"c", 3: b"abc", 4: b"ab"}
    >>> after_their_parts(to_triples([(4, 2, 3), (0, 1, 4)]), tokens)
    [(0, 1, 4), (4, 2, 3)]
    """
    triples, late = to_list(merges), _order_late(merges)
    if not late:
        return triples
    left_of = {made: left for left, _, made in triples}
    places: dict[int, tuple[int, ...]] = {
        made: (rank,) for rank, (_, _, made) in enumerate(triples)
    }
    joined_before = defaultdict[int, set[int]](set)
    joined_behind = defaultdict[int, set[int]](set)
    for rank in sorted(late, key=lambda rank: len(tokens[triples[rank][2]])):  # parts are shorter
        left, right, made = triples[rank]
        of_left, of_right = places.get(left, ()), places.get(right, ())
        later = max(of_left, of_right)
        places[made] = (*later, rank)
        if later == of_left:
            joined_behind[later[0]].add(right)
        if later == of_right:
            joined_before[later[0]].add(left)
    for rank in joined_before.keys() | joined_behind.keys():
        part = triples[rank][2]
        before, behind = joined_before[rank], joined_behind[rank]
        same = any(places.get(other, ())[:1] == (rank,) for other in before | behind)
        if same or before & behind or left_of[part] in behind:
            raise MergesNotFoundError(
                f"The token {tokens[part]!r:.60}, id {part:,}, is a part of tokens of lower rank, "
                f"and no order of merges is known to encode as these ranks do."
            )
    return sorted(triples, key=lambda merge: places[merge[2]])


def _order_late(merges: Triples) -> list[int]:
    """Return the ranks of the merges that wait for a part of higher rank, ascending."""
    ids, places = np.unique(merges, return_inverse=True)  # ids may be far apart
    lefts, rights, made = places.reshape(-1, 3).T
    ranks = np.arange(len(merges))
    waits_for = np.full(len(ids), -1)
    waits_for[made] = ranks
    late = np.zeros(len(merges), np.bool_)
    while True:  # with more of them, until none is a part of others
        latest = np.maximum(waits_for[lefts], waits_for[rights])
        now_late = latest > ranks
        waits_for[made] = np.maximum(latest, ranks)
        if (now_late == late).all():
            return np.flatnonzero(late).tolist()
        late = now_late


def _last_pair(token: bytes, ranks: Mapping[bytes, int]) -> tuple[bytes, bytes] | None:
    """Return the two tokens that tiktoken's merging joins last; None if it ends at others."""
    parts = [token[i : i + 1] for i in range(len(token))]
    rank_at = [ranks.get(token[i : i + 2], _NO_RANK) for i in range(len(token) - 1)]
    while len(parts) > 2:
        rank = min(rank_at)
        if rank == _NO_RANK:
            return None
        i = rank_at.index(rank)
        parts[i : i + 2] = [parts[i] + parts[i + 1]]
        del rank_at[i]
        if i > 0:
            rank_at[i - 1] = ranks.get(parts[i - 1] + parts[i], _NO_RANK)
        if i < len(rank_at):
            rank_at[i] = ranks.get(parts[i] + parts[i + 1], _NO_RANK)
    return (parts[0], parts[1]) if len(parts) == 2 else None


def _check_bytes(tokens: Sequence[bytes], ranks: Mapping[bytes, int]) -> None:
    for token in tokens:
        for byte in token:
            if bytes([byte]) not in ranks:
                raise FormatError(
                    f"The token {token!r:.60} contains the byte {bytes([byte])!r}, which is not a "
                    f"token itself."
                )


def _check_length(
    tokens: Iterable[bytes], ranks: Mapping[bytes, int], most: int, why: str = ""
) -> None:
    """Raise if the squares of the tokens' lengths are more than `most` together.

    `why` says in a clause what makes the merges hard to find.
    """
    tokens = list(tokens)
    if sum(length**2 for length in map(len, tokens)) > most:
        longest = max(tokens, key=len)
        raise FormatError(
            f"{why}{'the' if why else 'The'} longest token, rank {ranks[longest]:,}, has "
            f"{len(longest):,} bytes ({longest!r:.40}): looking for the merges would take "
            f"too long. Remove such tokens from the file, or encode with tiktoken itself."
        )
