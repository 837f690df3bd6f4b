"""The first cut of a text: special tokens apart from the ordinary text between them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
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


def sections(
    text: str, special_tokens: Mapping[str, int], allowed_special: AllowedSpecial
) -> Iterator[tuple[int, int, int | None]]:
    """Yield start and end of each section, and the id of the special token it is, or None.

    Where several special tokens begin at one place, the longest is meant. Raises
    `TokenizationError` where `allowed_special` is neither a collection nor "all".

    >>> list(sections("a<s>b", {"<s>": 7}, ["<s>"]))
    [(0, 1, None), (1, 4, 7), (4, 5, None)]
    >>> list(sections("a<s>b", {"<s>": 7}, ()))
    [(0, 5, None)]
    """
    if allowed_special == "all":
        allowed = frozenset(special_tokens)
    elif isinstance(allowed_special, str):
        raise TokenizationError(
            f"allowed_special is the text {allowed_special!r}. Give a collection of special "
            f"tokens, as in [{allowed_special!r}], or 'all'."
        )
    else:
        try:
            allowed = frozenset(special_tokens.keys() & allowed_special)
        except TypeError:
            raise TokenizationError(
                f"allowed_special is {said(allowed_special)}. Give a collection of special tokens, "
                "or 'all'."
            ) from None
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
