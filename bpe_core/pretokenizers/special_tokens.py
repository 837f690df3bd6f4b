"""Split a text into special tokens and the ordinary text between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal

from bpe_core.checks import is_a, said
from bpe_core.errors import InvalidTextError, TokenizationError

AllowedSpecial = Collection[str] | Literal["all"]
"""The special tokens to recognise in a text; those that the tokenizer lacks are ordinary text."""


def check_text(text: str) -> None:
    """Raise `InvalidTextError` for a text with a lone surrogate, or anything but a str.

    >>> check_text("an emoji, whole: 🙂")
    >>> check_text(b"bytes")
    Traceback (most recent call last):
    bpe_core.errors.InvalidTextError: Expected a str as text, got b'bytes' (bytes). Decode bytes \
first.
    """
    if not is_a(text, str):
        raise InvalidTextError(f"Expected a str as text, got {said(text)}. Decode bytes first.")
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

    Raises `TokenizationError` if `allowed_special` is neither a collection of str nor "all".

    >>> sorted(allowed_tokens({"<s>": 7, "</s>": 8}, ["<s>", "<pad>"]))
    ['<s>']
    >>> allowed_tokens({"<s>": 7}, None)
    Traceback (most recent call last):
    bpe_core.errors.TokenizationError: Expected a collection of special tokens or 'all' as \
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
        raise TokenizationError(
            "Expected a collection of special tokens or 'all' as allowed_special, got "
            f"{said(allowed_special)}."
        )
    given = list(allowed_special)
    for number, token in enumerate(given, 1):
        if not is_a(token, str):
            raise TokenizationError(
                f"Expected a str as number {number} of allowed_special, got {said(token)}."
            )
    return frozenset(special_tokens.keys() & given)


def sections(
    text: str, special_tokens: Mapping[str, int], allowed: frozenset[str]
) -> Iterator[tuple[int, int, int | None]]:
    """Yield start and end of each section, and its id if it is a special token, or else None.

    `allowed` comes from `allowed_tokens`. Every second section is a special token; the first and
    the last are ordinary text, which may be empty. If several special tokens match at one place,
    the longest is taken.

    >>> list(sections("a<s>b<s>", {"<s>": 7}, frozenset(["<s>"])))
    [(0, 1, None), (1, 4, 7), (4, 5, None), (5, 8, 7), (8, 8, None)]
    >>> list(sections("a<s>b", {"<s>": 7}, frozenset()))
    [(0, 5, None)]
    """
    covered = 0
    if allowed:
        for match in _any_of(allowed).finditer(text):
            yield covered, match.start(), None
            yield match.start(), match.end(), special_tokens[match.group()]
            covered = match.end()
    yield covered, len(text), None


@lru_cache(maxsize=64)
def _any_of(special_tokens: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(special_tokens, key=len, reverse=True))))
