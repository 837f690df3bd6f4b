"""Split a text into special tokens and the ordinary text between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, InvalidTextError, TokenizationError
from bpe_core.pretokenizers.normalizers import Change

_MAX_LISTED = 8

AllowedSpecial = Collection[str] | Literal["all"]
"""The special tokens to recognise in a text, or "all"."""


def check_text(text: str) -> None:
    """Raise `InvalidTextError` for a lone surrogate, `ArgumentTypeError` for anything but a str.

    >>> check_text("an emoji, whole: 🙂")
    >>> check_text(b"bytes")
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a str as text, got b'bytes' (bytes). Decode bytes \
first.
    """
    if not is_a(text, str):
        remedy = (
            "Call encode_batch for several." if is_a(text, list, tuple) else "Decode bytes first."
        )
        raise ArgumentTypeError(f"Expected a str as text, got {describe(text)}. {remedy}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidTextError(
            f"The text has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start:,}, which UTF-8 cannot encode. Remove it, or read the text again with "
            f"its own encoding."
        ) from None


def allowed_tokens(
    special_tokens: Mapping[str, int], allowed_special: AllowedSpecial
) -> frozenset[str]:
    """Return the special tokens to recognise in a text.

    Raises `TokenizationError` for a name that is not one of them, and `ArgumentTypeError` if
    `allowed_special` is neither a collection of str nor "all".

    >>> sorted(allowed_tokens({"<s>": 7, "</s>": 8}, ["<s>"]))
    ['<s>']
    >>> allowed_tokens({"<s>": 7, "</s>": 8}, ["<pad>"])
    Traceback (most recent call last):
    bpe_core.errors.TokenizationError: '<pad>' is not a special token of this tokenizer, which has \
'<s>', '</s>'.
    >>> allowed_tokens({"<s>": 7}, None)
    Traceback (most recent call last):
    bpe_core.errors.ArgumentTypeError: Expected a collection of special tokens or 'all' as \
allowed_special, got None.
    """
    if isinstance(allowed_special, str):
        if allowed_special == "all":
            return frozenset(special_tokens)
        raise TokenizationError(
            f"Expected a collection of special tokens or 'all' as allowed_special, got the text "
            f"{allowed_special!r}. For one token, give [{allowed_special!r}]."
        )
    if not is_a(allowed_special, Iterable) or is_a(allowed_special, bytes, bytearray):
        raise ArgumentTypeError(
            "Expected a collection of special tokens or 'all' as allowed_special, got "
            f"{describe(allowed_special)}."
        )
    given = list(allowed_special)
    for number, token in enumerate(given, 1):
        if not is_a(token, str):
            raise ArgumentTypeError(
                f"Expected a str as number {number} of allowed_special, got {describe(token)}."
            )
    for token in given:
        if token not in special_tokens:
            raise TokenizationError(
                f"{token!r:.60} is not a special token of this tokenizer, which has "
                f"{_listed(special_tokens)}."
            )
    return frozenset(given)


def _listed(special_tokens: Mapping[str, int]) -> str:
    if not special_tokens:
        return "none"
    shown = ", ".join(f"{token!r:.60}" for token in islice(special_tokens, _MAX_LISTED))
    more = len(special_tokens) - _MAX_LISTED
    return f"{shown} and {more:,} more" if more > 0 else shown


class OrdinaryText(NamedTuple):
    """A part of a text without special tokens, at least one character long."""

    start: int
    """In characters, as `end`."""
    end: int


class SpecialToken(NamedTuple):
    """A special token and its place in a text."""

    start: int
    """In characters, as `end`."""
    end: int
    id: int


Piece = OrdinaryText | SpecialToken


def find_special_tokens(
    text: str, special_tokens: Mapping[str, int], allowed: frozenset[str]
) -> list[SpecialToken]:
    """Return the special tokens in a text, from left to right.

    `allowed` comes from `allowed_tokens`. If several special tokens match at one place, the longest
    is taken.

    >>> find_special_tokens("a<s>b<s>", {"<s>": 7}, frozenset(["<s>"]))
    [SpecialToken(start=1, end=4, id=7), SpecialToken(start=5, end=8, id=7)]
    >>> find_special_tokens("a<s>b<s>", {"<s>": 7}, frozenset())
    []
    """
    if not allowed:
        return []
    matches = _match_any(allowed).finditer(text)
    return [SpecialToken(*match.span(), special_tokens[match.group()]) for match in matches]


def list_pieces(text: str, found: Iterable[SpecialToken]) -> list[Piece]:
    """Return the special tokens that were found in a text and the ordinary text around them.

    The pieces cover all of the text from left to right.

    >>> list_pieces("a<s>b<s>", [SpecialToken(1, 4, id=7), SpecialToken(5, 8, id=7)])
    [OrdinaryText(start=0, end=1), SpecialToken(start=1, end=4, id=7), \
OrdinaryText(start=4, end=5), SpecialToken(start=5, end=8, id=7)]
    """
    pieces: list[Piece] = []
    covered = 0
    for token in found:
        if covered < token.start:
            pieces.append(OrdinaryText(covered, token.start))
        pieces.append(token)
        covered = token.end
    if covered < len(text):
        pieces.append(OrdinaryText(covered, len(text)))
    return pieces


class NormalText(NamedTuple):
    """A text whose ordinary parts are normalized."""

    text: str
    pieces: list[Piece]
    """Where its special tokens and ordinary parts are now."""
    changes: list[Change]
    """What was changed, and where in the given text."""


@lru_cache(maxsize=64)
def _match_any(special_tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True))))
