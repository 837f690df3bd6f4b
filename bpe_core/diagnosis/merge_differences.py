"""Find the words on which the merges of two tokenizers differ, and what a text costs with each.

The shortest words are found first.

A *live* token is one that its own symbols are merged to. Live tokens in a row are what a word is
encoded to if and only if no merge crosses the border of two neighbours (see `tokenizer.trie`). Two
facts follow for two lists of merges over the same symbols:

1. They give every word the same tokens exactly if they have the same live tokens and allow the same
   neighbours.
2. A shortest word that they encode differently is one live token, or two neighbours, of one of
   them. Otherwise all its neighbours lie in shorter words, which both encode alike, so both would
   allow them, and the word would not be a difference.

All pairs of tokens are too many to try, and need not be. A merge m of x and y crosses the border of
l and r if x ends l, y begins r, and m comes before the merges that join x in l and y in r. So the
pairs that m keeps from being neighbours are U x V: U are the tokens that x ends and whose merge of
x comes after m, V the same for y. Where both lists have the same U and V for a merge, nothing needs
to be tried; where they don't, only the pairs that one of them has are, and each is decided by
`stay_apart`. U and V change only with a merge's own rank among those that it shares a part with,
or with the tree of a token, so for lists that are nearly alike that is little work, and it is a
proof if nothing is found.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.formats import list_live_merges
from bpe_core.tokenizer import Tokenizer, stay_apart

if TYPE_CHECKING:
    from bpe_core.corpus import Corpus
    from bpe_core.tokenizer import Encoder

_MAX_PAIRS: Final = 3_000_000
"""The most pairs of tokens that are tried for one length; then a search is not a proof."""
_NEVER: Final = 1 << 60
_MERGES_PER_LOOK: Final = 256
ShouldStop = Callable[[int, int], bool]
"""Called with how many merges were looked at, and of how many; True ends the search."""


class Candidate(NamedTuple):
    """One token, or two neighbours, of one of two tokenizers, which the other does not have."""

    word: bytes
    """The bytes of the tokens."""
    ids: tuple[int, ...]
    in_first: bool
    """True if the first tokenizer has it."""


class LiveMerges:
    """The merges of a tokenizer that can apply, by the bytes that they join.

    >>> vocab = dict(enumerate([b"a", b"b", b"ab", b"ba"]))
    >>> merges = [(0, 1, 2), (1, 0, 3)]
    >>> live = LiveMerges(Tokenizer(vocab=vocab, merges=merges, pretokenizer="none"))
    >>> live.ranks, live.stay_apart(b"ab", b"a"), live.stay_apart(b"b", b"ab")
    ({(b'a', b'b'): 0, (b'b', b'a'): 1}, True, True)
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        table = tokenizer.table
        vocab = table.vocab
        try:
            triples = list_live_merges(tokenizer)
            self.exact = table.end_of_word is None
        except BpeError:  # too many come before their parts
            triples, self.exact = table.triples, False
        self.ids: dict[bytes, int] = dict(table.base_ids)
        """The id of each live token, by its bytes."""
        self.ranks: dict[tuple[bytes, bytes], int] = {}
        self.is_clear = True
        """True if no two of these tokens have the same bytes."""
        self.parts: dict[bytes, tuple[int, bytes, bytes]] = {}
        """The rank, left and right part of each token that a merge makes."""
        for rank, (left, right, made) in enumerate(triples):
            one, other = vocab[left], vocab[right]
            # A merge may come before its parts, above all in SentencePiece's family.
            self.exact &= one in self.ids and other in self.ids
            self.exact &= one + other not in self.parts
            self.is_clear &= self.ids.setdefault(one + other, made) == made
            self.ranks[one, other] = rank
            self.parts[one + other] = rank, one, other
        self.base = frozenset(table.base_ids)
        self.fallback: Mapping[bytes, int] = table.byte_ids
        self.words: Mapping[bytes, int] = table.word_ids
        """The id of each token that is looked up before anything is merged."""

    def stay_apart(self, left: bytes, right: bytes) -> bool:
        """Return True if two live tokens can be neighbours."""
        return stay_apart(left, right, self.ranks, self.parts)  # pyright: ignore[reportArgumentType]

    def sides(self, *, right: bool) -> Sides:
        """Return the lookups for the ends of tokens, or for their beginnings."""
        return self._ends if right else self._beginnings

    @cached_property
    def _ends(self) -> Sides:
        return Sides(self, right=True)

    @cached_property
    def _beginnings(self) -> Sides:
        return Sides(self, right=False)

    def on_spines(self, tokens: Iterable[bytes], *, right: bool) -> frozenset[bytes]:
        """Return the live ones of some tokens, and their right or left parts down to symbols.

        >>> vocab = dict(enumerate([b"a", b"b", b"ab", b"aab"]))
        >>> merges = [(0, 1, 2), (0, 2, 3)]
        >>> live = LiveMerges(Tokenizer(vocab=vocab, merges=merges, pretokenizer="none"))
        >>> [sorted(live.on_spines([b"aab"], right=right)) for right in (True, False)]
        [[b'aab', b'ab', b'b'], [b'a', b'aab']]
        """
        found: set[bytes] = set()
        for token in tokens:
            part = token if token in self.ids else b""
            while part and part not in found:
                found.add(part)
                _, one, other = self.parts.get(part, _NONE)
                part = other if right else one
        return frozenset(found)


class Sides:
    """For each token, the merges that join it as their right part, or as their left part."""

    def __init__(self, live: LiveMerges, *, right: bool) -> None:
        self._joined: dict[bytes, list[tuple[int, bytes]]] = defaultdict(list)
        """The rank and the token of each merge that has a token on this side, in rank order."""
        for made, (rank, one, other) in live.parts.items():
            self._joined[other if right else one].append((rank, made))
        self._strict = right

    def joined(self, token: bytes) -> list[tuple[int, bytes]]:
        """Return the rank and the token of each merge that joins a token, in rank order."""
        return self._joined.get(token, [])

    def after(self, token: bytes, rank: int) -> list[bytes]:
        """Return the tokens that merges after a rank make of a token.

        Of pairs with one rank, the left one is merged first: a merge that crosses the border keeps
        apart from what it makes itself only on its right side.
        """
        joined = self.joined(token)
        first = bisect_right(joined, rank if self._strict else rank - 1, key=itemgetter(0))
        return [made for _, made in joined[first:]]

    def closure(self, tokens: list[bytes], most: int) -> set[bytes]:
        """Return tokens of at most `most` bytes, and all that end, or begin, with one of them."""
        found: set[bytes] = set()
        waiting = [token for token in tokens if len(token) <= most]
        while waiting:
            token = waiting.pop()
            if token not in found:
                found.add(token)
                waiting += [made for _, made in self.joined(token) if len(made) <= most]
        return found


class MergeDifferences:
    """What differs between the merges of two tokenizers over bytes, or over characters.

    >>> vocab = dict(enumerate([b"a", b"b", b"c", b"ab", b"bc"]))
    >>> one, other = (
    ...     Tokenizer(vocab=vocab, merges=merges, pretokenizer="none")
    ...     for merges in ([(0, 1, 3), (1, 2, 4)], [(1, 2, 4), (0, 1, 3)])
    ... )
    >>> found = MergeDifferences(LiveMerges(one), LiveMerges(other))
    >>> found.proves, found.up_to(8, with_ids=True)[0].word
    (True, b'abc')
    """

    def __init__(
        self, one: LiveMerges, other: LiveMerges, should_stop: ShouldStop | None = None
    ) -> None:
        self.one, self.other = one, other
        self._should_stop = should_stop
        self.complete = True
        """False once pairs were too many to try all."""
        self._n_looked = 0
        self._neighbours: dict[int, list[Candidate]] = {}
        """By the most bytes of a word."""

    @property
    def proves(self) -> bool:
        """True if finding nothing proves that there is nothing."""
        return self.complete and self.one.exact and self.other.exact

    def singles(self, most: int, *, with_ids: bool) -> Iterator[Candidate]:
        """Yield the tokens of at most `most` bytes, alone, that the two do not share.

        With `with_ids`, a token with another id is one of them. One may be yielded twice.
        """
        for mine, theirs, in_first in ((self.one, self.other, True), (self.other, self.one, False)):
            for own, others in (
                (mine.ids, theirs.ids),
                (mine.fallback, theirs.fallback),
                (mine.words, theirs.words),
            ):
                for token, id in own.items():
                    if len(token) <= most and (
                        token not in others or (with_ids and others[token] != id)
                    ):
                        yield Candidate(token, (id,), in_first)

    def up_to(self, most: int, *, with_ids: bool) -> list[Candidate]:
        """Return what differs in words of at most `most` bytes, the shortest first."""
        if most not in self._neighbours:
            self._neighbours[most] = [
                *self._pairs(self.one, self.other, most, in_first=False),
                *self._pairs(self.other, self.one, most, in_first=True),
            ]
        singles = {*self.singles(most, with_ids=with_ids)}
        return sorted([*singles, *self._neighbours[most]], key=_by_length)

    @cached_property
    def longest(self) -> int:
        """The bytes that a word can have in which two neighbours differ."""
        return 2 * max(map(len, [*self.one.ids, *self.other.ids, b""]))

    @cached_property
    def _rebuilt(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The tokens that end, and that begin, a token whose parts are not the same in both."""
        one, other = self.one, self.other
        rebuilt = [
            token
            for token in one.ids.keys() | other.ids.keys()
            if one.parts.get(token, _NONE)[1:] != other.parts.get(token, _NONE)[1:]
            or (token in one.ids) != (token in other.ids)
        ]
        ends, beginnings = (
            one.on_spines(rebuilt, right=right) | other.on_spines(rebuilt, right=right)
            for right in (True, False)
        )
        return ends, beginnings

    @cached_property
    def moved(self) -> frozenset[tuple[bytes, bytes]]:
        """The fewest merges without which both have the same merges in the same order."""
        both = [pair for pair in self.one.ranks if pair in self.other.ranks]
        rises = _longest_rise([self.other.ranks[pair] for pair in both])
        stay = {both[place] for place in rises}
        return frozenset((self.one.ranks.keys() | self.other.ranks.keys()) - stay)

    @cached_property
    def _reordered(self) -> tuple[frozenset[bytes], frozenset[bytes]]:
        """The tokens at which merges meet in another order: at the end of one, at the beginning."""
        near = {part for pair in self.moved for part in pair}
        orders: list[dict[bytes, list[tuple[bytes, bytes]]]] = []
        for live in (self.one, self.other):
            # Of these merges, some join the token within l, and some across the border.
            order: dict[bytes, list[tuple[bytes, bytes]]] = defaultdict(list)
            for pair in live.ranks if near else ():
                for part in {*pair}:
                    if part in near:
                        order[part].append(pair)
            orders.append(order)
        changed = [part for part in near if orders[0][part] != orders[1][part]]
        ends, beginnings = (
            frozenset(
                part
                for part in changed
                if any(pair[place] == part for order in orders for pair in order[part])
            )
            for place in (1, 0)
        )
        return ends, beginnings

    @cached_property
    def _suspects(self) -> tuple[list[tuple[bytes, bytes]], list[tuple[bytes, bytes]]]:
        """The merges of each that may keep apart what the other's do not, the shortest first."""
        found: list[list[tuple[bytes, bytes]]] = []
        for one, other in ((self.one, self.other), (self.other, self.one)):
            sides = one.sides(right=True), one.sides(right=False)
            their_sides = other.sides(right=True), other.sides(right=False)
            is_quiet = not self._rebuilt[0] and not self._rebuilt[1]
            ends, beginnings = self._reordered
            suspects: list[tuple[bytes, bytes]] = []
            for pair, rank in one.ranks.items():
                if self._n_looked % _MERGES_PER_LOOK == 0:
                    self.look()
                self._n_looked += 1
                if is_quiet and pair[0] not in ends and pair[1] not in beginnings:
                    continue
                their_rank = other.ranks.get(pair)
                if their_rank is None or any(
                    self._changes(pair[side], side, rank, their_rank, sides, their_sides)
                    for side in (0, 1)
                ):
                    suspects.append(pair)
            found.append(sorted(suspects, key=lambda pair: len(pair[0]) + len(pair[1])))
        return found[0], found[1]

    def look(self) -> None:
        """Report how many merges were looked at; raise CancelledError if it should stop."""
        n = len(self.one.ranks) + len(self.other.ranks)
        if self._should_stop is not None and self._should_stop(self._n_looked, n):
            raise CancelledError

    def _pairs(
        self, one: LiveMerges, other: LiveMerges, most: int, *, in_first: bool
    ) -> Iterator[Candidate]:
        """Yield the pairs that the merges of the one keep apart, and that the other allows."""
        if most < 2:  # two tokens have two bytes, and what differs near them takes seconds to find
            return
        sides = one.sides(right=True), one.sides(right=False)
        their_sides = other.sides(right=True), other.sides(right=False)
        seen = set[tuple[bytes, bytes]]()
        tried = 0
        for number, pair in enumerate(self._suspects[1 if in_first else 0]):
            x, y = pair
            if len(x) + len(y) > most:
                break
            if number % _MERGES_PER_LOOK == 0:
                self.look()
            room = most - len(y), most - len(x)
            rank, their_rank = one.ranks[pair], other.ranks.get(pair)
            lefts, rights = self._kept_apart(pair, rank, sides, room)
            if their_rank is None:
                todo = [(lefts, rights)]
            else:
                their_lefts, their_rights = self._kept_apart(pair, their_rank, their_sides, room)
                todo = [(lefts - their_lefts, rights), (lefts & their_lefts, rights - their_rights)]
            for some_lefts, some_rights in todo:
                in_order = sorted((r for r in some_rights if r in other.ids), key=len)
                for left in some_lefts:
                    if left not in other.ids:
                        continue
                    for right in in_order:
                        if len(left) + len(right) > most:
                            break
                        tried += 1
                        if tried > _MAX_PAIRS:
                            self.complete = False
                            return
                        if (left, right) not in seen and other.stay_apart(left, right):
                            seen.add((left, right))
                            ids = other.ids[left], other.ids[right]
                            yield Candidate(left + right, ids, in_first)

    def _changes(
        self,
        token: bytes,
        place: int,
        rank: int,
        their_rank: int,
        sides: tuple[Sides, Sides],
        their_sides: tuple[Sides, Sides],
    ) -> bool:
        """Return True if U (place 0) or V (place 1) of a merge that both have may differ."""
        is_moved = token in self._reordered[place]
        rebuilt = self._rebuilt[place]
        if token in rebuilt:
            return True
        if not is_moved and not rebuilt:
            return False
        after = sides[place].after(token, rank)
        if is_moved and set(after) != set(their_sides[place].after(token, their_rank)):
            return True
        return not rebuilt.isdisjoint(after)

    @staticmethod
    def _kept_apart(
        pair: tuple[bytes, bytes], rank: int, sides: tuple[Sides, Sides], room: tuple[int, int]
    ) -> tuple[set[bytes], set[bytes]]:
        """Return U and V of a merge, without tokens that are too long."""
        left, right = (
            {token} | side.closure(side.after(token, rank), most)
            for token, side, most in zip(pair, sides, room, strict=True)
        )
        return left, right


def _by_length(candidate: Candidate) -> tuple[int, bytes, bool]:
    return len(candidate.word), candidate.word, not candidate.in_first


_NONE: Final[tuple[int, bytes, bytes]] = (_NEVER, b"", b"")


def _longest_rise(numbers: list[int]) -> list[int]:
    """Return the places of a longest rising subsequence.

    >>> _longest_rise([0, 3, 1, 2])
    [0, 2, 3]
    """
    ends: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for place, number in enumerate(numbers):
        at = bisect_left(ends, number)
        ends[at : at + 1] = [number]
        places[at : at + 1] = [place]
        before.append(places[at - 1] if at else -1)
    found: list[int] = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


_WORD: Final = re.compile(r" ?\S+")
_MAX_WORDS: Final = 200_000
"""The most distinct words that are encoded one by one; the most frequent ones."""
_N_LISTED: Final = 20
_AT_ONCE: Final = 512


@dataclass(frozen=True, slots=True)
class ChangedWord:
    """A word that takes another number of tokens."""

    word: str
    """With the space before it, if it has one."""
    count: int
    n_a: int
    n_b: int

    @property
    def added(self) -> int:
        """How many more tokens all its occurrences take with the second tokenizer."""
        return self.count * (self.n_b - self.n_a)


@dataclass(frozen=True, slots=True)
class TextCosts:
    """What a text costs with each of two tokenizers."""

    n_documents: int
    n_bytes: int
    n_a: int
    """Tokens with the first tokenizer."""
    n_b: int
    n_changed: int
    """Documents that get other ids."""
    words: tuple[ChangedWord, ...]
    """The words whose occurrences change the total most, each encoded alone."""

    @property
    def change(self) -> float:
        """The share by which the tokens grow from the first to the second; 0.02 is 2 % more."""
        return (self.n_b - self.n_a) / self.n_a if self.n_a else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "n_documents": self.n_documents,
            "n_bytes": self.n_bytes,
            "tokens_a": self.n_a,
            "tokens_b": self.n_b,
            "change": self.change,
            "n_documents_changed": self.n_changed,
            "words": [
                {"word": each.word, "count": each.count, "a": each.n_a, "b": each.n_b}
                for each in self.words
            ],
        }


def count_costs(one: Encoder, other: Encoder, text: Corpus | str) -> TextCosts:
    """Count the tokens of a corpus, or of one text, with two tokenizers.

    A corpus of words with counts is a document for each word.

    >>> from bpe_core.tokenizer import gpt2
    >>> costs = count_costs(gpt2(), gpt2().truncated(300), "the cat, the hat")
    >>> costs.n_a, costs.n_b, costs.words[0].word, round(costs.change, 2)
    (5, 8, ' cat,', 0.6)
    """
    from bpe_core.corpus import Corpus

    corpus = text if isinstance(text, Corpus) else Corpus.from_text(text)
    counted = corpus.word_counts
    weights = [1] * len(corpus.documents) if counted is None else [*counted.values()]
    documents = iter(corpus.documents if counted is None else counted)
    words = Counter[str]()
    totals = [0, 0]
    n_changed = n_done = n_bytes = 0
    while batch := list(islice(documents, _AT_ONCE)):
        results = zip(batch, one.encode_batch(batch), other.encode_batch(batch), strict=True)
        for document, mine, theirs in results:
            weight = weights[n_done]
            n_done += 1
            n_bytes += weight * len(document.encode())
            totals[0] += weight * len(mine)
            totals[1] += weight * len(theirs)
            n_changed += weight * (list(mine) != list(theirs))
            for word in _WORD.findall(document):
                words[word] += weight
    listed = [word for word, _ in words.most_common(_MAX_WORDS)]
    changed = [
        ChangedWord(word, words[word], len(mine), len(theirs))
        for word, mine, theirs in zip(
            listed, one.encode_batch(listed), other.encode_batch(listed), strict=True
        )
        if len(mine) != len(theirs)
    ]
    changed.sort(key=lambda each: (-abs(each.added), each.word))
    return TextCosts(
        sum(weights), n_bytes, totals[0], totals[1], n_changed, tuple(changed[:_N_LISTED])
    )
