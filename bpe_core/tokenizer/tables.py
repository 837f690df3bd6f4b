"""The vocabulary, alphabet and merges of a tokenizer, checked once when it is built, or kept.

A training that took tokens out again (PickyBPE) has merges and removals in an order, its events.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, groupby, pairwise
from operator import add, eq, itemgetter, lt
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, cast

from bpe_core.checks import check_choice, describe, is_a, is_whole, several
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.kernels import without_garbage_collection
from bpe_core.types import Base, Merge, Pair
from bpe_core.unicode import BYTE_ORDER

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spell_with(id: int, parts: Mapping[int, Pair], removed: Collection[int]) -> list[int]:
    """Return the tokens that spell a token without those that were removed.

    >>> spell_with(9, {9: (8, 2), 8: (0, 1)}, {9}), spell_with(9, {9: (8, 2), 8: (0, 1)}, {8, 9})
    ([8, 2], [0, 1, 2])
    """
    if id not in removed:
        return [id]
    left, right = parts[id]
    return spell_with(left, parts, removed) + spell_with(right, parts, removed)


Event = tuple[tuple[int, ...], tuple[int, ...]]
"""What training replaced everywhere, and by what: a pair by its token, or a token by its parts."""


def replace_all(symbols: Sequence[int], event: Event) -> list[int]:
    """Apply an event to a word, from left to right without overlap.

    >>> replace_all([7, 7, 7], ((7, 7), (9,))), replace_all([9, 7], ((9,), (7, 7)))
    ([9, 7], [7, 7, 7])
    """
    old, new = event
    ids: list[int] = []
    at = 0
    while at < len(symbols):
        found = tuple(symbols[at : at + len(old)]) == old
        ids += new if found else symbols[at : at + 1]
        at += len(old) if found else 1
    return ids


def event_steps(
    symbols: Sequence[int], events: Sequence[Event], places: Mapping[tuple[int, ...], Sequence[int]]
) -> Iterator[tuple[int, list[int]]]:
    """Yield the events that encoding a pre-token applies, in their order, and the ids after each.

    `places` are where each pair or token is replaced in `events`, ascending. An event that comes
    before one already applied is over, as it was in training. Source: PickyBPE (arXiv 2409.04599).

    >>> events = [((0, 1), (3,)), ((3, 2), (4,)), ((3,), (0, 1))]
    >>> places = {old: [at] for at, (old, _) in enumerate(events)}
    >>> list(event_steps([0, 1, 2], events, places)), list(event_steps([0, 1], events, places))
    ([(0, [3, 2]), (1, [4])], [(0, [3]), (2, [0, 1])])
    """
    ids, now = list(symbols), -1
    while True:
        olds = places.keys() & {*pairwise(ids), *((id,) for id in ids)}
        due = [
            places[old][at]
            for old in olds
            if (at := bisect_right(places[old], now)) < len(places[old])
        ]
        if not due:
            return
        now = min(due)
        ids = replace_all(ids, events[now])
        yield now, ids


MAX_ID: Final = (1 << 31) - 1
"""The largest id: ids are written to arrays of int32."""
MAX_FREE_IDS: Final = 1 << 20
"""The ids that a vocabulary may skip where arrays have a place for each id; published ones skip
hundreds at most."""


def check_mapping(name: str, given: object, wanted: str) -> None:
    """Raise ArgumentTypeError unless an argument is a mapping.

    >>> check_mapping("the vocabulary", {0: b"a"}, "from ids to bytes")
    """
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"Expected {name} as a dict {wanted}, got {describe(given)}.")


def check_vocabulary(vocab: Mapping[int, bytes]) -> None:
    """Raise ArgumentTypeError unless ids are ints and tokens bytes.

    >>> check_vocabulary({0: b"a"})
    """
    # Collect the types first, because checking 50,000 tokens one by one is slow.
    if not set(map(type, vocab.values())) <= {bytes}:
        id, token = next(each for each in vocab.items() if type(each[1]) is not bytes)
        raise ArgumentTypeError(
            f"Expected bytes as the token of id {id}, such as 'ä'.encode(), got {describe(token)}."
        )
    if not set(map(type, vocab)) <= {int}:
        for id in vocab:
            if not is_whole(id):
                raise ArgumentTypeError(
                    f"Expected an int as an id of the vocabulary, got {describe(id)}."
                )
    if (largest := max(vocab, default=0)) > MAX_ID:
        raise ConfigError(f"The largest id is {largest:,}. Use ids up to {MAX_ID:,} (int32).")


def check_triples(triples: Sequence[tuple[int, int, int]]) -> None:
    """Raise ConfigError unless each merge is three ids.

    >>> check_triples([(0, 1, 2)])
    """
    try:
        plain = set(map(type, chain.from_iterable(triples))) <= {int}
        plain = plain and set(map(len, triples)) <= {3}
    except TypeError:
        plain = False
    for rank, merge in enumerate(() if plain else triples):
        if not _is_triple(merge):
            raise ConfigError(
                f"Merge {rank} is {merge!r:.60}. Expected three ids: (left, right, new id)."
            )


def find_marker(
    vocab: Mapping[int, bytes], end_of_word: str | None, given: int | None
) -> int | None:
    """Return the id of the end-of-word marker, or None if there is no marker.

    >>> find_marker({0: b"a", 1: b"</w>"}, "</w>", given=None)
    1
    """
    if end_of_word is None:
        if given is not None:
            raise ConfigError(
                f"end_of_word_id is {given}, but no end_of_word is given. Give both or neither."
            )
        return None
    marker = _utf8(end_of_word)
    if given is None:
        given = next((id for id, token in vocab.items() if token == marker), None)
    if not marker or given is None or vocab.get(given) != marker:
        raise ConfigError(
            f"The vocabulary has no token {end_of_word!r:.60} with the id {given} for the "
            f"end-of-word marker. Add the marker to the vocabulary, or use end_of_word=None."
        )
    return given


def check_special_tokens(special_tokens: Mapping[str, int], vocab: Mapping[int, bytes]) -> None:
    """Raise ConfigError unless each special token is the UTF-8 of an id of its own.

    >>> check_special_tokens({"[CLS]": 0}, {0: b"[CLS]"})
    """
    for token, id in special_tokens.items():
        if not is_a(token, str) or not token or vocab.get(id) != _utf8(token):
            raise ConfigError(
                f"The special token {token!r:.60} has the id {id}, whose bytes in the "
                f"vocabulary are {vocab.get(id)!r:.60}. A special token needs at least "
                f"one character, and its UTF-8 as the bytes of its id."
            )
    if len(set(special_tokens.values())) < len(special_tokens):
        raise ConfigError("Two special tokens have the same id. Give each its own.")


def find_bytes(vocab: Mapping[int, bytes], listed: Collection[int]) -> Mapping[bytes, int]:
    """Return the id of each byte that spells characters outside the alphabet, in byte order.

    >>> dict(find_bytes({0: b"ab", 1: b"b", 2: b"a"}, [1, 2]))
    {b'a': 2, b'b': 1}
    """
    found = {vocab.get(id, b""): id for id in listed}
    if len(found) < len(listed) or not all(len(byte) == 1 for byte in found):
        raise ConfigError(
            "byte_fallback has ids that are not single bytes, or two of the same byte. Give one id "
            "per byte."
        )
    return MappingProxyType(dict(sorted(found.items())))


def find_alphabet(
    vocab: Mapping[int, bytes], base: Base, others: Collection[int | None]
) -> dict[bytes, int]:
    """Return the id of each symbol of the alphabet: a byte or a character whose id is no other's.

    >>> find_alphabet({0: b"b", 1: b"a", 2: b"ab", 3: b"c"}, "characters", others={3})
    {b'a': 1, b'b': 0}
    """
    found: dict[bytes, int] = {}
    longest = 1 if base == "bytes" else 4
    for id, token in vocab.items():
        if len(token) > longest or id in others or not _is_symbol(token, base):
            continue
        if token in found:
            raise ConfigError(
                f"The ids {found[token]} and {id} both represent the symbol {token!r:.60}. "
                f"Keep one id per symbol of the alphabet."
            )
        found[token] = id
    if base == "bytes":
        return {bytes([b]): found[bytes([b])] for b in BYTE_ORDER if bytes([b]) in found}
    return dict(sorted(found.items()))


def _is_triple(merge: object) -> bool:
    values = list(cast("Iterable[object]", merge)) if isinstance(merge, Iterable) else []
    return len(values) == 3 and all(map(is_whole, values))


def _utf8(text: str) -> bytes | None:
    if not is_a(text, str):
        raise ArgumentTypeError(
            f"Expected special tokens and the end-of-word marker as str, got {describe(text)}."
        )
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


def _is_symbol(token: bytes, base: Base) -> bool:
    if base == "bytes":
        return len(token) == 1
    try:
        return len(token.decode()) == 1
    except UnicodeDecodeError:
        return False


_UNKNOWN = -1


class TokenTable:
    """The vocabulary, alphabet and merges of a tokenizer, and lookup tables derived from them.

    Immutable once built. Raises `ConfigError` if the vocabulary and the merges are inconsistent.

    >>> table = TokenTable(
    ...     vocab={0: b"g", 1: b"u", 2: b"</w>", 3: b"g</w>"},
    ...     merges=[(0, 2, 3)],
    ...     end_of_word="</w>",
    ... )
    >>> table.pieces("ug")
    [([1, 0, 2], b'ug')]
    >>> table.content[3], sorted(table.ending_word)
    (b'g', [2, 3])
    """

    vocab: MappingProxyType[int, bytes]
    """The bytes of each id; read-only."""
    triples: tuple[tuple[int, int, int], ...]
    """(left, right, new id) of each merge, in rank order."""
    base: Base
    special_tokens: Mapping[str, int]
    base_ids: Mapping[bytes, int]
    """The id of each symbol of the alphabet; read-only."""
    byte_ids: Mapping[bytes, int]
    """The ids of the bytes that spell characters outside the alphabet; empty if none do."""
    end_of_word: str | None = None
    end_of_word_id: int | None = None
    counts: tuple[int, ...] | None = None
    removals: tuple[tuple[int, int], ...] = ()
    """(number of merges done, id) of each token that training removed again, in order."""
    whole_words_first: bool = False
    """True if a pre-token that is a token is not merged, but looked up."""
    kernel_tables: Mapping[str, NDArray[Any]] = MappingProxyType({})
    """The tables of kernels, if they were kept; see `kernels.encoder_tables`."""
    kept_as: str = ""
    """The name under which processes keep its tables of kernels, or empty."""

    def __init__(
        self,
        *,
        vocab: Mapping[int, bytes],
        merges: Iterable[tuple[int, int, int]],
        base: Base = "bytes",
        special_tokens: Mapping[str, int] = MappingProxyType({}),
        end_of_word: str | None = None,
        end_of_word_id: int | None = None,
        counts: Sequence[int] | None = None,
        whole_words_first: bool = False,
        byte_fallback: Iterable[int] = (),
        removals: Iterable[tuple[int, int]] = (),
    ) -> None:
        check_mapping("the vocabulary", vocab, "from ids to bytes, such as {0: b'a'}")
        check_mapping("special_tokens", special_tokens, "from texts to ids, such as {'[CLS]': 0}")
        check_choice("base", base, Base, ConfigError)
        self.vocab = MappingProxyType(dict(vocab))
        check_vocabulary(self.vocab)
        remedy = "give a list of (left, right, new id)"
        self.triples = tuple(several(merges, "merges", remedy))
        check_triples(self.triples)
        self.base = base
        self.special_tokens = MappingProxyType(dict(special_tokens))
        self.end_of_word = end_of_word
        self.end_of_word_id = find_marker(self.vocab, end_of_word, end_of_word_id)
        if counts is not None:
            self.counts = tuple(several(counts, "counts", "give one int per merge"))
        if self.counts is not None and len(self.counts) != len(self.triples):
            raise ConfigError(
                f"There are {len(self.counts):,} counts for {len(self.triples):,} merges. "
                f"Give one per merge, or counts=None."
            )
        check_special_tokens(self.special_tokens, self.vocab)
        if not is_a(whole_words_first, bool) or (whole_words_first and end_of_word is not None):
            raise ConfigError(
                f"Expected whole_words_first as True or False, and False with an end-of-word "
                f"marker, got {describe(whole_words_first)}."
            )
        self.whole_words_first = whole_words_first
        self.byte_ids = find_bytes(
            self.vocab, several(byte_fallback, "byte_fallback", "give the ids of single bytes")
        )
        if self.byte_ids and (base == "bytes" or whole_words_first or end_of_word):
            raise ConfigError(
                "byte_fallback is for tokenizers of characters without an end-of-word marker that "
                "do not look up whole words. Leave it out."
            )
        self.removals = tuple(several(removals, "removals", "give (merges done, id) of each"))
        made_or_special = {*self.made, *self.special_tokens.values(), *self.byte_ids.values()}
        self.base_ids = MappingProxyType(
            find_alphabet(self.vocab, base, {*made_or_special, self.end_of_word_id})
        )
        is_other = self.end_of_word_id is not None or bool(self.removals)
        if is_other or not self._are_plain_merges():
            self._check_merges()
        if self.removals:
            self._check_removals()

    @classmethod
    def trusted(
        cls,
        tokens: Iterable[bytes],
        triples: Iterable[tuple[int, int, int]],
        special_tokens: Mapping[str, int],
        *,
        alphabet_at: int = 0,
        counts: Iterable[int] | None = None,
    ) -> TokenTable:
        """Return the table of a byte tokenizer that is known to be consistent, without checks.

        tokens: the bytes of each id; from the id `alphabet_at` on those of the alphabet, in
        `BYTE_ORDER`, then those that the merges make, in rank order, each once. triples: left,
        right and new id of each merge. It takes a quarter of the time of a new table.
        """
        table = cls.__new__(cls)
        table.vocab = MappingProxyType(dict(enumerate(tokens)))
        table.triples = tuple(triples)
        table.base = "bytes"
        alphabet = range(alphabet_at, alphabet_at + len(BYTE_ORDER))
        table.base_ids = MappingProxyType({table.vocab[id]: id for id in alphabet})
        table.byte_ids = MappingProxyType({})
        table.special_tokens = MappingProxyType(dict(special_tokens))
        table.counts = None if counts is None else tuple(counts)
        return table

    @cached_property
    def made(self) -> tuple[int, ...]:
        """made[rank]: the id that the merge makes."""
        return tuple(map(itemgetter(2), self.triples))

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """The merges as objects, in rank order; for 50,000 merges, they take 60 ms."""
        counts = (None,) * len(self.triples) if self.counts is None else self.counts
        pairs = enumerate(zip(self.triples, counts, strict=True))
        return tuple(Merge(rank, *triple, count) for rank, (triple, count) in pairs)

    @cached_property
    def ranks(self) -> dict[Pair, int]:
        """The rank of the merge of each pair, in rank order."""
        with without_garbage_collection():
            return {(left, right): rank for rank, (left, right, _) in enumerate(self.triples)}

    @cached_property
    def parts(self) -> dict[int, Pair]:
        """The pair that each token is merged from; the first, if several merges make it."""
        if self.removals:  # a pair can be merged again
            return {made: (left, right) for left, right, made in reversed(self.triples)}
        return dict(zip(reversed(self.made), reversed(self.ranks), strict=True))

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The merges and removals, in the order of the training that removed tokens again."""
        waiting = {n: [id for _, id in group] for n, group in groupby(self.removals, itemgetter(0))}
        events: list[Event] = []
        removed = set[int]()
        for done, (left, right, made) in enumerate(self.triples, start=1):
            events.append(((left, right), (made,)))
            removed.discard(made)
            for id in waiting.get(done, ()):
                removed.add(id)
                events.append(((id,), tuple(spell_with(id, self.parts, removed))))
        return tuple(events)

    @cached_property
    def event_places(self) -> dict[tuple[int, ...], list[int]]:
        """The places in `events` of each pair that is merged, and of each token that is removed."""
        places: dict[tuple[int, ...], list[int]] = {}
        for place, (old, _) in enumerate(self.events):
            places.setdefault(old, []).append(place)
        return places

    @cached_property
    def removed(self) -> frozenset[int]:
        """The ids that no text becomes, because training removed their tokens again."""
        removed = set[int]()
        for old, new in self.events if self.removals else ():
            removed.difference_update(new)
            removed.update(old if len(old) == 1 else ())
        return frozenset(removed)

    @cached_property
    def complete(self) -> bool:
        """True if the alphabet and the bytes cover every text."""
        return all(
            bytes([byte]) in self.byte_ids or bytes([byte]) in self.base_ids for byte in range(256)
        )

    def missing_ids(self, ids: Sequence[int]) -> list[int]:
        """Return those of `ids` that no token has.

        >>> TokenTable(vocab={0: b"a"}, merges=[]).missing_ids([0, 3])
        [3]
        """
        return [id for id in ids if id not in self.vocab]

    def missing_bytes(self) -> bytes:
        """Return the bytes that are not tokens, of a table whose base is bytes.

        >>> len(TokenTable(vocab={0: b"a"}, merges=[]).missing_bytes())
        255
        """
        if self.complete:
            return b""
        return bytes(byte for byte in range(256) if bytes([byte]) not in self.base_ids)

    def with_all_bytes(self) -> TokenTable:
        """Return the table with ids above all others for the bytes that are not tokens.

        >>> TokenTable(vocab={0: b"a"}, merges=[]).with_all_bytes().complete
        True
        """
        first = max(self.vocab, default=-1) + 1
        new = {first + at: bytes([byte]) for at, byte in enumerate(self.missing_bytes())}
        arguments = self.arguments()
        arguments["vocab"] = {**self.vocab, **new}
        return TokenTable(**arguments)

    @cached_property
    def ending_word(self) -> frozenset[int]:
        """The ids of the tokens that end a word: the marker, and tokens merged from it."""
        if self.end_of_word_id is None:
            return frozenset()
        ending = {self.end_of_word_id}
        for _, right, made in self.triples:
            if right in ending:
                ending.add(made)
        return frozenset(ending)

    @cached_property
    def content(self) -> Mapping[int, bytes]:
        """The bytes of each id, without those of the marker."""
        if self.end_of_word is None:
            return self.vocab
        length = len(self.end_of_word.encode())
        return {
            id: token[:-length] if id in self.ending_word else token
            for id, token in self.vocab.items()
        }

    @cached_property
    def word_ids(self) -> Mapping[bytes, int]:
        """The id of each token that a pre-token may be; empty if whole words are not looked up."""
        return self._ordinary_ids() if self.whole_words_first else {}

    def whole_words(self, made: Iterable[int]) -> list[int]:
        """Return the ids of the tokens that only a whole word may be; merges make the others.

        >>> TokenTable(vocab={0: b"a", 1: b"ab"}, merges=[], whole_words_first=True).whole_words([])
        [1, 0]
        """
        known: Collection[int] = self.vocab
        if self.whole_words_first:
            known = {*made, *self.special_tokens.values()}
        return [id for id in self.word_ids.values() if id not in known]

    @cached_property
    def ids(self) -> dict[bytes, int]:
        """The id of each token; of equal tokens, an ordinary one, and of several the lowest."""
        return {self.vocab[id]: id for id in self.special_tokens.values()} | self._ordinary_ids()

    def _ordinary_ids(self) -> dict[bytes, int]:
        special = set(self.special_tokens.values())
        in_order = sorted(self.vocab.items(), reverse=True)
        return {token: id for id, token in in_order if id not in special}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments that make an equal table."""
        return {
            "vocab": self.vocab.copy(),
            "merges": self.triples,
            "base": self.base,
            "special_tokens": dict(self.special_tokens),
            "end_of_word": self.end_of_word,
            "end_of_word_id": self.end_of_word_id,
            "counts": self.counts,
            "whole_words_first": self.whole_words_first,
            "byte_fallback": tuple(self.byte_ids.values()),
            "removals": self.removals,
        }

    def extended(
        self, merges: Iterable[tuple[int, int, int]], counts: Sequence[int] | None
    ) -> TokenTable:
        """Return a table with more merges, each of which makes a new id.

        Only the new merges are checked.
        """
        new = tuple(merges)
        vocab, ranks, ending = self.vocab.copy(), dict(self.ranks), set(self.ending_word)
        symbols = {*self.base_ids.values(), self.end_of_word_id}
        for rank, (left, right, made) in enumerate(new, start=len(self.triples)):
            is_known = all(id in self.parts or id in symbols for id in (left, right))
            is_known = is_known and left not in ending
            if made in vocab or not is_known or ranks.setdefault((left, right), rank) != rank:
                raise ConfigError(
                    f"Merge {rank} joins the ids {left} and {right} to {made}. Join two ids of the "
                    f"alphabet or of earlier merges, which no other merge joins, to an id that is "
                    f"not in use."
                )
            vocab[made] = vocab[left] + vocab[right]
            symbols.add(made)
            if right in ending:
                ending.add(made)
        longer = TokenTable.__new__(TokenTable)
        for name in TokenTable.__annotations__:
            setattr(longer, name, getattr(self, name))
        longer.vocab = MappingProxyType(vocab)
        longer.triples = self.triples + new
        longer.counts = None
        if self.counts is not None and counts is not None:
            longer.counts = (*self.counts, *counts)
        longer.kernel_tables, longer.kept_as = {}, ""
        longer.ranks, longer.made = ranks, self.made + tuple(made for _, _, made in new)
        return longer

    def join(self, ids: Iterable[int]) -> bytes:
        """Return the bytes of ids; raises KeyError for an unknown id.

        The end of a word becomes one space before another word, and nothing before a special token
        or at the end.
        """
        if self.end_of_word is None:
            return b"".join(map(self.vocab.__getitem__, ids))
        special = set(self.special_tokens.values())
        written: list[bytes] = []
        word_ended = False
        for id in ids:
            if word_ended and id not in special:
                written.append(b" ")
            written.append(self.content[id])
            word_ended = id in self.ending_word
        return b"".join(written)

    def encodes_as(self, other: TokenTable) -> bool:
        """Return True if everything that determines encoding and decoding is equal.

        >>> TokenTable(vocab={0: b"a"}, merges=[]).encodes_as(TokenTable(vocab={}, merges=[]))
        False
        """
        return self is other or (
            self.base == other.base
            and self.end_of_word == other.end_of_word
            and self.end_of_word_id == other.end_of_word_id
            and self.whole_words_first == other.whole_words_first
            and self.special_tokens == other.special_tokens
            and self.byte_ids == other.byte_ids
            and self.triples == other.triples
            and self.removals == other.removals
            and self.vocab == other.vocab
        )

    def description(self) -> list[object]:
        """Return everything that determines encoding and decoding, as JSON values."""
        described: list[object] = [
            self.base,
            self.end_of_word,
            self.end_of_word_id,
            sorted(self.special_tokens.items(), key=itemgetter(1)),
            [[id, token.hex()] for id, token in sorted(self.vocab.items())],
            self.triples,
        ]
        # Left out if unset, so that the fingerprints of other tokenizers stay as they were.
        if self.whole_words_first:
            described.append("whole_words_first")
        if self.byte_ids:
            described.append(["byte_fallback", *self.byte_ids.values()])
        if self.removals:
            described.append(["removals", *self.removals])
        return described

    def to_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Return JSON values and arrays that `of_arrays` makes an equal table of.

        None for a table with an end-of-word marker or with counts.

        >>> table = TokenTable(vocab={0: b"a", 1: b"aa"}, merges=[(0, 0, 1)])
        >>> TokenTable.of_arrays(*table.to_arrays()).vocab == table.vocab
        True
        """
        if self.end_of_word is not None or self.counts is not None:
            return None
        import numpy as np

        tokens = self.vocab.values()
        facts = {
            "base": self.base,
            "complete": self.complete,
            "special_tokens": dict(self.special_tokens),
            "whole_words_first": self.whole_words_first,
        }
        return facts, {
            "ids": np.fromiter(self.vocab, np.int64, len(tokens)),
            "ends": np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens))),
            "letters": np.frombuffer(b"".join(tokens), np.uint8),
            "merges": np.array(self.triples, np.int64).reshape(-1, 3),
            "base_ids": np.fromiter(self.base_ids.values(), np.int64),
            "byte_ids": np.fromiter(self.byte_ids.values(), np.int64),
        }

    @staticmethod
    def of_arrays(
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        kernel_tables: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    ) -> TokenTable:
        """Return a table that makes its parts when they are asked for; kernels need none."""
        return StoredTable(facts, arrays, kernel_tables)

    def pieces(self, word: str) -> list[tuple[list[int] | None, bytes]]:
        """Cut a word around symbols missing from the alphabet; return initial ids and bytes.

        A piece of missing symbols has None for its ids. The end-of-word marker follows the last
        symbol; if that symbol is missing, the marker is a separate piece without bytes.
        """
        data = word.encode()
        if self.base == "bytes":
            ids = [self._id_of_byte[byte] for byte in data]
            widths = [1] * len(ids) if _UNKNOWN in ids else []
        else:
            ids = [self._id_of_character.get(character, _UNKNOWN) for character in word]
            widths = [len(character.encode()) for character in word] if _UNKNOWN in ids else []
            if widths and self.byte_ids:
                ids, widths = self._spelled(word)
        if self.end_of_word_id is not None:
            ids.append(self.end_of_word_id)
            widths.append(0)
        if _UNKNOWN not in ids:
            return [(ids, data)]
        cut: list[tuple[list[int] | None, bytes]] = []
        at = 0
        for unknown, group in groupby(
            zip(ids, widths, strict=True), key=lambda symbol: symbol[0] == _UNKNOWN
        ):
            symbols = list(group)
            stop = at + sum(width for _, width in symbols)
            cut.append((None if unknown else [id for id, _ in symbols], data[at:stop]))
            at = stop
        return cut

    def _spelled(self, word: str) -> tuple[list[int], list[int]]:
        """Return initial ids, with characters outside the alphabet in bytes, and their widths."""
        ids: list[int] = []
        widths: list[int] = []
        for character in word:
            data = character.encode()
            id = self._id_of_character.get(character)
            spelled = [self._id_of_byte[byte] for byte in data] if id is None else [id]
            whole = id is not None or _UNKNOWN in spelled
            ids += [_UNKNOWN] if _UNKNOWN in spelled else spelled
            widths += [len(data)] if whole else [1] * len(data)
        return ids, widths if _UNKNOWN in ids else []

    @cached_property
    def _id_of_byte(self) -> list[int]:
        ids = self.base_ids if self.base == "bytes" else self.byte_ids
        return [ids.get(bytes([byte]), _UNKNOWN) for byte in range(256)]

    @cached_property
    def _id_of_character(self) -> dict[str, int]:
        return {symbol.decode(): id for symbol, id in self.base_ids.items()}

    def _check_merges(self) -> None:
        # Lookups in a plain dict take half as long as through its read-only view.
        vocab, ranks = self.vocab.copy(), dict[Pair, int]()
        known = {*self.base_ids.values(), self.end_of_word_id}
        if self.byte_ids:
            # In SentencePiece's family, a merge may come before those that make its parts.
            known.update(self.made)
        ending = {self.end_of_word_id} - {None}
        for rank, (left, right, made) in enumerate(self.triples):
            if left not in known or right not in known:
                missing = right if left in known else left
                raise ConfigError(
                    f"Merge {rank} joins the ids {left} and {right}, but {missing} is neither in "
                    f"the alphabet nor made by an earlier merge. Give the merges in rank order."
                )
            if vocab.get(made) != vocab[left] + vocab[right] or left in ending:
                raise ConfigError(
                    f"Merge {rank} joins {vocab[left]!r:.60} and {vocab[right]!r:.60} to the id "
                    f"{made}, whose bytes in the vocabulary are {vocab.get(made)!r:.60}. A merge "
                    f"makes the bytes of its parts, and nothing may follow the end-of-word marker."
                )
            pair = left, right
            if ranks.setdefault(pair, rank) != rank and not self.removals:
                raise ConfigError(
                    f"Merges {ranks[pair]} and {rank} join the same pair, {left} and "
                    f"{right}. Keep the first."
                )
            known.add(made)
            if right in ending:
                ending.add(made)

    def _check_removals(self) -> None:
        """Raise ConfigError unless each removed token was made by then, in the order of merges."""
        first = {id: rank for rank, id in reversed([*enumerate(self.made)])}
        last = 0
        for done, id in self.removals:
            known = is_whole(done) and is_whole(id) and first.get(id, len(self.made)) < done
            if not known or not last <= done <= len(self.triples):
                raise ConfigError(
                    f"The token {id!r} is removed after {done!r} merges, which have not made it. "
                    "Give the number of merges done and an id that one of them made, in order."
                )
            last = done

    def _are_plain_merges(self) -> bool:
        """Return True if the merges are right and each makes its own token.

        Python's built-in functions do the work, in half the time of the loop.
        """
        n = len(self.triples)
        rank_of = dict(zip(self.made, range(n), strict=True))
        if len(rank_of) < n or not n:
            return False
        vocab = self.vocab.copy()
        lefts, rights, made = zip(*self.triples, strict=True)
        try:
            if self.byte_ids:
                # In SentencePiece's family, a merge may come before those that make its parts.
                known = {*made, *self.base_ids.values()}
                has_parts = known.issuperset(lefts) and known.issuperset(rights)
            else:
                earlier = rank_of | dict.fromkeys(self.base_ids.values(), -1)
                has_parts = all(
                    all(map(lt, map(earlier.__getitem__, side), range(n)))
                    for side in (lefts, rights)
                )
            is_right = has_parts and all(
                map(
                    eq,
                    map(vocab.get, made),
                    map(add, map(vocab.__getitem__, lefts), map(vocab.__getitem__, rights)),
                )
            )
        except KeyError:
            return False
        return is_right and len(self.ranks) == n


class StoredTable(TokenTable):
    """A table that was checked when it was first made, and makes its parts when they are asked for.

    Kernels need none of them.
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        kernel_tables: Mapping[str, NDArray[Any]],
    ) -> None:
        self._arrays = arrays
        self.kernel_tables = kernel_tables
        self.base = facts["base"]
        self.complete = facts["complete"]
        self.special_tokens = MappingProxyType(facts["special_tokens"])
        self.whole_words_first = facts["whole_words_first"]

    def missing_ids(self, ids: Sequence[int]) -> list[int]:
        """Return those of `ids` that no token has, without making the vocabulary."""
        import numpy as np

        wanted = np.array(ids, np.int64)
        return wanted[~np.isin(wanted, self._arrays["ids"])].tolist()

    def __getattr__(self, name: str) -> Any:
        """Make a part that has not been asked for before."""
        with without_garbage_collection():
            value = self._make(name)
        setattr(self, name, value)
        return value

    def _make(self, name: str) -> Any:
        match name:
            case "vocab":
                letters, ends = self._arrays["letters"].tobytes(), self._arrays["ends"].tolist()
                tokens = map(letters.__getitem__, map(slice, [0, *ends], ends))
                ids = self._arrays["ids"].tolist()
                return MappingProxyType(dict(zip(ids, tokens, strict=True)))
            case "triples":
                return tuple(zip(*self._arrays["merges"].T.tolist(), strict=True))
            case "base_ids" | "byte_ids":
                ids = self._arrays[name].tolist()
                tokens = map(self.vocab.__getitem__, ids)
                return MappingProxyType(dict(zip(tokens, ids, strict=True)))
            case _:
                raise AttributeError(name)
