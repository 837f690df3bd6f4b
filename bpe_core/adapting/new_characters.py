"""Add the characters of a corpus that a base of SentencePiece's family spells in bytes.

No merge joins bytes there, so a text in another script could not become shorter without them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from bpe_core.counting import list_characters
from bpe_core.runs import reviving_tokens
from bpe_core.tokenizer import Tokenizer, with_changes
from bpe_core.types import PretokenCounts
from bpe_core.unicode import META

DEFAULT_COVERAGE: Final = 0.9995
"""The share of a text whose characters are added, as when SentencePiece trains."""


def choose_new_characters(
    base: Tokenizer,
    pretokens: PretokenCounts,
    coverage: float,
    terms: Iterable[str | bytes] = (),
    left_out: Collection[bytes] = (),
) -> list[bytes]:
    """Return the characters to add: those of the terms, then those of the words, by frequency.

    `coverage` is the share of the words' characters that the alphabet is to cover. None is added if
    the base has no bytes for characters, none of one byte, which would save nothing, and none that
    the base cannot spell.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
    ...     byte_fallback=range(256),
    ... )
    >>> import numpy as np
    >>> words = PretokenCounts((" 漢漢".encode(), " 漢字x".encode()), np.array([2, 1]))
    >>> [each.decode() for each in choose_new_characters(base, words, 0.95, terms=["カ"])]
    ['カ', '漢', '字']
    """
    if not base.table.byte_ids:
        return []
    of_terms = (each for term in terms for each in _read_characters(term))
    of_words = list_characters(pretokens, coverage) if coverage else []
    in_order = dict.fromkeys([*of_terms, *of_words])
    known = {META.encode(), *base.vocab.values(), *left_out, *reviving_tokens(base)}
    found = (each.encode() for each in in_order)
    return [
        each
        for each in found
        if len(each) > 1
        and each not in known
        and all(bytes([byte]) in base.table.byte_ids for byte in each)
    ]


def count_for_terms(characters: Iterable[bytes], terms: Sequence[str | bytes]) -> list[int]:
    """Return how many of the new characters each term is the first to need.

    >>> count_for_terms(["漢".encode(), "字".encode()], ["漢", "a漢字", "字"])
    [1, 1, 0]
    """
    left = {each.decode() for each in characters}
    counts: list[int] = []
    for term in terms:
        mine = left.intersection(_read_characters(term))
        left -= mine
        counts.append(len(mine))
    return counts


def _read_characters(term: str | bytes) -> str:
    return term if isinstance(term, str) else term.decode(errors="ignore")


def add_characters(base: Tokenizer, characters: Iterable[bytes]) -> Tokenizer:
    """Return a base with more characters, whose ids follow the highest id in use.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
    ...     byte_fallback=range(256),
    ... )
    >>> add_characters(base, ["漢".encode()]).encode("漢"), base.encode("漢")
    ([256, 257], [256, 230, 188, 162])
    """
    new = dict(enumerate(characters, start=1 + max(base.vocab)))
    return with_changes(base, vocab={**base.vocab, **new}) if new else base
