"""The vocabulary, alphabet and merges of a tokenizer, checked once when it is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import cast

from bpe_core.checks import check_choice, describe, is_a, is_whole, several
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.types import Base, Merge, Pair
from bpe_core.unicode.byte_alphabet import BYTE_ORDER

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

    __slots__ = (
        "_id_of_byte",
        "_id_of_character",
        "base",
        "base_ids",
        "byte_ids",
        "complete",
        "content",
        "counts",
        "end_of_word",
        "end_of_word_id",
        "ending_word",
        "made",
        "parts",
        "ranks",
        "special_tokens",
        "triples",
        "vocab",
        "whole_words_first",
        "word_ids",
    )

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
    ) -> None:
        _check_mapping("the vocabulary", vocab, "from ids to bytes, such as {0: b'a'}")
        _check_mapping("special_tokens", special_tokens, "from texts to ids, such as {'[CLS]': 0}")
        check_choice("base", base, Base, ConfigError)
        self.vocab: Mapping[int, bytes] = MappingProxyType(dict(vocab))
        self._check_vocabulary()
        remedy = "give a list of (left, right, new id)"
        self.triples: tuple[tuple[int, int, int], ...] = tuple(several(merges, "merges", remedy))
        """(left, right, new id) of each merge, in rank order."""
        self._check_merges()
        self.base: Base = base
        self.special_tokens: Mapping[str, int] = MappingProxyType(dict(special_tokens))
        self.end_of_word = end_of_word
        self.end_of_word_id = self._marker_id(end_of_word_id)
        self.counts: tuple[int, ...] | None = None
        if counts is not None:
            self.counts = tuple(several(counts, "counts", "give one int per merge"))
        if self.counts is not None and len(self.counts) != len(self.triples):
            raise ConfigError(
                f"There are {len(self.counts):,} counts for {len(self.triples):,} merges. "
                f"Give one per merge, or counts=None."
            )
        self._check_special_tokens()
        if not is_a(whole_words_first, bool) or (whole_words_first and end_of_word is not None):
            raise ConfigError(
                f"Expected whole_words_first as True or False, and False with an end-of-word "
                f"marker, got {describe(whole_words_first)}."
            )
        self.whole_words_first = whole_words_first
        """True if a pre-token that is a token is not merged, but looked up."""
        self.word_ids: Mapping[bytes, int] = self._map_words() if whole_words_first else {}
        """The id of each token that a pre-token may be; empty if whole words are not looked up."""
        self.made: tuple[int, ...] = tuple(made for _, _, made in self.triples)
        """made[rank]: the id that the merge makes."""
        self.byte_ids: Mapping[bytes, int] = self._ids_of_bytes(byte_fallback)
        """The ids of the bytes that spell characters outside the alphabet; empty if none do."""
        self.base_ids: Mapping[bytes, int] = MappingProxyType(self._find_alphabet())
        self.complete = all(
            bytes([byte]) in self.byte_ids or bytes([byte]) in self.base_ids for byte in range(256)
        )
        """True if the alphabet and the bytes cover every text."""
        self.ranks: dict[Pair, int] = {}
        self.parts: dict[int, Pair] = {}
        self.ending_word: frozenset[int] = frozenset()
        """The ids of the tokens that end a word: the marker, and tokens merged from it."""
        self._index_merges()
        self.content: Mapping[int, bytes] = self._without_marker()
        """The bytes of each id, without those of the marker."""
        ids = self.base_ids if base == "bytes" else self.byte_ids
        self._id_of_byte = [ids.get(bytes([byte]), _UNKNOWN) for byte in range(256)]
        self._id_of_character = (
            {symbol.decode(): id for symbol, id in self.base_ids.items()}
            if base == "characters"
            else {}
        )

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
        vocab = dict(enumerate(tokens))
        first_made = alphabet_at + len(BYTE_ORDER)
        table.triples = tuple(triples)
        parts = {made: (left, right) for left, right, made in table.triples}
        table.parts, table.made = parts, tuple(parts)
        table.vocab = table.content = MappingProxyType(vocab)
        table.ranks = dict(zip(parts.values(), range(len(parts)), strict=True))
        table.base, table.complete = "bytes", True
        alphabet = range(alphabet_at, first_made)
        table.base_ids = MappingProxyType({vocab[id]: id for id in alphabet})
        table.special_tokens = MappingProxyType(dict(special_tokens))
        table.end_of_word = table.end_of_word_id = None
        table.counts = None if counts is None else tuple(counts)
        table.ending_word = frozenset()
        table.whole_words_first, table.word_ids = False, {}
        table.byte_ids = MappingProxyType({})
        table._id_of_byte = [table.base_ids[bytes([byte])] for byte in range(256)]
        table._id_of_character = {}
        return table

    def merges(self, first: int = 0) -> tuple[Merge, ...]:
        """Return the merges as objects, from rank `first` on."""
        triples = self.triples[first:]
        counts = self.counts[first:] if self.counts is not None else (None,) * len(triples)
        return tuple(
            Merge(rank, left, right, made, count)
            for rank, ((left, right, made), count) in enumerate(
                zip(triples, counts, strict=True), start=first
            )
        )

    def extended(
        self, merges: Iterable[tuple[int, int, int]], counts: Sequence[int] | None
    ) -> TokenTable:
        """Return a table with more merges, each of which makes a new id.

        Only the new merges are checked, so it takes a tenth of the time of a new table.
        """
        new = tuple(merges)
        vocab, ending = dict(self.vocab), set(self.ending_word)
        ranks, parts = dict(self.ranks), dict(self.parts)
        symbols = {*self.base_ids.values(), self.end_of_word_id}
        for rank, (left, right, made) in enumerate(new, start=len(self.triples)):
            pair = left, right
            known = all(id in parts or id in symbols for id in pair) and left not in ending
            if made in vocab or not known or ranks.setdefault(pair, rank) != rank:
                raise ConfigError(
                    f"Merge {rank} joins the ids {left} and {right} to {made}. Join two ids of the "
                    f"alphabet or of earlier merges, which no other merge joins, to an id that is "
                    f"not in use."
                )
            vocab[made] = vocab[left] + vocab[right]
            parts[made] = pair
            if right in ending:
                ending.add(made)
        longer = copy(self)
        longer.vocab = MappingProxyType(vocab)
        longer.triples = self.triples + new
        longer.made = self.made + tuple(made for _, _, made in new)
        longer.ranks, longer.parts, longer.ending_word = ranks, parts, frozenset(ending)
        longer.counts = None
        if self.counts is not None and counts is not None:
            longer.counts = self.counts + tuple(counts)
        if self.whole_words_first:
            words = {vocab[made]: made for _, _, made in reversed(new)}
            longer.word_ids = {**words, **self.word_ids}
        longer.content = longer._without_marker()
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

    def description(self) -> list[object]:
        """Return everything that determines encoding and decoding, as JSON values."""
        return [
            self.base,
            self.end_of_word,
            self.end_of_word_id,
            sorted(self.special_tokens.items(), key=itemgetter(1)),
            [[id, token.hex()] for id, token in sorted(self.vocab.items())],
            self.triples,
            # Left out if False, so that the fingerprints of other tokenizers stay as they were.
            *(["whole_words_first"] if self.whole_words_first else []),
            *([["byte_fallback", *self.byte_ids.values()]] if self.byte_ids else []),
        ]

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

    def _check_vocabulary(self) -> None:
        # Collect the types first, because checking 50,000 tokens one by one is slow.
        if not set(map(type, self.vocab.values())) <= {bytes}:
            id, token = next(each for each in self.vocab.items() if type(each[1]) is not bytes)
            raise ArgumentTypeError(
                f"Expected bytes as the token of id {id}, such as 'ä'.encode(), "
                f"got {describe(token)}."
            )
        if not set(map(type, self.vocab)) <= {int}:
            for id in self.vocab:
                if not is_whole(id):
                    raise ArgumentTypeError(
                        f"Expected an int as an id of the vocabulary, got {describe(id)}."
                    )

    def _check_merges(self) -> None:
        try:
            plain = set(map(type, chain.from_iterable(self.triples))) <= {int}
            plain = plain and set(map(len, self.triples)) <= {3}
        except TypeError:
            plain = False
        for rank, merge in enumerate(() if plain else self.triples):
            if not _is_triple(merge):
                raise ConfigError(
                    f"Merge {rank} is {merge!r:.60}. Expected three ids: (left, right, new id)."
                )

    def _map_words(self) -> dict[bytes, int]:
        special = set(self.special_tokens.values())
        # If several ids have the same bytes, the lowest is used.
        in_order = sorted(self.vocab.items(), reverse=True)
        return {token: id for id, token in in_order if id not in special}

    def _marker_id(self, given: int | None) -> int | None:
        if self.end_of_word is None:
            if given is not None:
                raise ConfigError(
                    f"end_of_word_id is {given}, but no end_of_word is given. Give both or neither."
                )
            return None
        marker = _utf8(self.end_of_word)
        if given is None:
            given = next((id for id, token in self.vocab.items() if token == marker), None)
        if not marker or given is None or self.vocab.get(given) != marker:
            raise ConfigError(
                f"The vocabulary has no token {self.end_of_word!r:.60} with the id {given} for the "
                f"end-of-word marker. Add the marker to the vocabulary, or use end_of_word=None."
            )
        return given

    def _check_special_tokens(self) -> None:
        for token, id in self.special_tokens.items():
            if not is_a(token, str) or not token or self.vocab.get(id) != _utf8(token):
                raise ConfigError(
                    f"The special token {token!r:.60} has the id {id}, whose bytes in the "
                    f"vocabulary are {self.vocab.get(id)!r:.60}. A special token needs at least "
                    f"one character, and its UTF-8 as the bytes of its id."
                )
        if len(set(self.special_tokens.values())) < len(self.special_tokens):
            raise ConfigError("Two special tokens have the same id. Give each its own.")

    def _ids_of_bytes(self, byte_fallback: Iterable[int]) -> Mapping[bytes, int]:
        listed = several(byte_fallback, "byte_fallback", "give the ids of single bytes")
        found = {self.vocab.get(id, b""): id for id in listed}
        if len(found) < len(listed) or not all(len(byte) == 1 for byte in found):
            raise ConfigError("Expected each id of byte_fallback to be another single byte.")
        if found and (self.base == "bytes" or self.whole_words_first or self.end_of_word):
            raise ConfigError(
                "byte_fallback is for tokenizers of characters without an end-of-word marker that "
                "do not look up whole words. Leave it out."
            )
        return MappingProxyType(dict(sorted(found.items())))

    def _find_alphabet(self) -> dict[bytes, int]:
        not_base = {*self.special_tokens.values(), *self.made, self.end_of_word_id}
        not_base.update(self.byte_ids.values())
        found: dict[bytes, int] = {}
        for id, token in self.vocab.items():
            if id in not_base or not _is_symbol(token, self.base):
                continue
            if token in found:
                raise ConfigError(
                    f"The ids {found[token]} and {id} both represent the symbol {token!r:.60}. "
                    f"Keep one id per symbol of the alphabet."
                )
            found[token] = id
        if self.base == "bytes":
            return {bytes([b]): found[bytes([b])] for b in BYTE_ORDER if bytes([b]) in found}
        return dict(sorted(found.items()))

    def _index_merges(self) -> None:
        # Lookups in a plain dict take half as long as through its read-only view.
        vocab, ranks, parts = dict(self.vocab), self.ranks, self.parts
        marker = self.end_of_word_id
        known = {*self.base_ids.values(), marker}
        if self.byte_ids:
            # In SentencePiece's family, a merge may come before those that make its parts.
            known.update(self.made)
        ending: set[int] = set() if marker is None else {marker}
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
            if ranks.setdefault(pair, rank) != rank:
                raise ConfigError(
                    f"Merges {ranks[pair]} and {rank} join the same pair, {left} and "
                    f"{right}. Keep the first."
                )
            parts.setdefault(made, pair)
            known.add(made)
            if right in ending:
                ending.add(made)
        self.ending_word = frozenset(ending)

    def _without_marker(self) -> Mapping[int, bytes]:
        if self.end_of_word is None:
            return self.vocab
        length = len(self.end_of_word.encode())
        return {
            id: token[:-length] if id in self.ending_word else token
            for id, token in self.vocab.items()
        }


def _check_mapping(name: str, given: object, wanted: str) -> None:
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"Expected {name} as a dict {wanted}, got {describe(given)}.")


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
