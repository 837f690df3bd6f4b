"""What a tokenizer's vocabulary, merges and special tokens must be, and what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Final, cast

from bpe_core.checks import describe, is_a, is_whole
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.types import Base
from bpe_core.unicode import BYTE_ORDER

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
