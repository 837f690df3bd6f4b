"""The first cut of a text: special tokens apart from the ordinary text between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Literal

from bpe_core.checks import is_a, said
from bpe_core.errors import InvalidTextError, TokenizationError

AllowedSpecial = Collection[str] | Literal["all"]
"""Which special tokens count as such in a text; one that the tokenizer lacks is ordinary text."""


def check_text(text: str) -> None:
    """Raise `InvalidTextError` for a text with a lone surrogate, and for what is no text.

    >>> check_text("an emoji, whole: 🙂")
    >>> check_text(b"bytes")
    Traceback (most recent call last):
    bpe_core.errors.InvalidTextError: The text is b'bytes' (bytes): give a str, and decode bytes \
first.
    """
    if not is_a(text, str):
        raise InvalidTextError(f"The text is {said(text)}: give a str, and decode bytes first.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidTextError(
            f"The text has a lone surrogate, U+{ord(text[error.start]):04X}, at character "
            f"{error.start:,}: no UTF-8 exists for it. Remove it, or read the text again with the "
            f"encoding it was written in."
        ) from None


def allowed_tokens(
    special_tokens: Mapping[str, int], allowed_special: AllowedSpecial
) -> frozenset[str]:
    """Return the special tokens that count as such in a text.

    Raises `TokenizationError` where `allowed_special` is neither a collection of str nor "all".

    >>> sorted(allowed_tokens({"<s>": 7, "</s>": 8}, ["<s>", "<pad>"]))
    ['<s>']
    >>> allowed_tokens({"<s>": 7}, None)
    Traceback (most recent call last):
    bpe_core.errors.TokenizationError: allowed_special is None. Give a collection of special \
tokens, or 'all'.
    """
    if isinstance(allowed_special, str):
        if allowed_special == "all":
            return frozenset(special_tokens)
        raise TokenizationError(
            f"allowed_special is the text {allowed_special!r}. Give a collection of special "
            f"tokens, as in [{allowed_special!r}], or 'all'."
        )
    if not is_a(allowed_special, Iterable) or is_a(allowed_special, bytes, bytearray):
        raise TokenizationError(
            f"allowed_special is {said(allowed_special)}. Give a collection of special tokens, "
            "or 'all'."
        )
    given = list(allowed_special)
    for number, token in enumerate(given, 1):
        if not is_a(token, str):
            raise TokenizationError(
                f"Number {number} of allowed_special is {said(token)}. Give special tokens as str."
            )
    return frozenset(special_tokens.keys() & given)


def sections(
    text: str, special_tokens: Mapping[str, int], allowed: frozenset[str]
) -> Iterator[tuple[int, int, int | None]]:
    """Yield start and end of each section, and the id of the special token it is, or None.

    `allowed` is what `allowed_tokens` returns. Every second section is a special token: the first
    and the last are ordinary text, which may be empty. Where several special tokens begin at one
    place, the longest is meant.

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
