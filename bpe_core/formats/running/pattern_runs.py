r"""Find patterns in a tokenizer's file that are very slow on some texts, before anyone types one.

Hugging Face's library gives up a pattern that takes ten million steps at one character, but not one
that takes a million at each: `(?:z|z){20}[^z]` needs 15 seconds for a thousand z, and nothing can
end that. Such patterns are slow on runs of what they mention.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final, cast

from bpe_core.errors import BpeError, FormatError

_CHARACTERS: Final = 1_000
_MAX_RUNS: Final = 200
_MAX_SECONDS: Final = 0.25
"""The most processor time for a run. Published tokenizers take a few milliseconds."""
_COMMON: Final = "aA1 \n!_\u00e9\u4e2d"
_ESCAPED: Final = re.compile(r"\\[xu]\{?([0-9A-Fa-f]{2,6})")


def check_patterns(described: Mapping[str, Any], encode: Callable[[str], object]) -> None:
    """Raise FormatError if a pattern of a tokenizer.json takes long on a run of characters.

    >>> check_patterns({"pre_tokenizer": {"pattern": {"Regex": "a+"}}}, list)
    """
    for pattern in _patterns([described.get("normalizer"), described.get("pre_tokenizer")]):
        for text in islice(_runs(pattern), _MAX_RUNS):
            started = time.process_time()
            # A pattern that the library refuses here is refused in use too.
            with suppress(BpeError):
                encode(text)
            if time.process_time() - started > _MAX_SECONDS:
                raise FormatError(
                    f"The pattern {pattern!r:.60} takes too long: a text of {_CHARACTERS:,} equal "
                    f"characters took more than {_MAX_SECONDS:g} seconds. Write it without "
                    "alternatives that match the same text."
                )


def _patterns(parts: object) -> Iterator[str]:
    """Yield the regular expressions in parts of a tokenizer.json, at any depth."""
    left = [parts]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            fields = cast("dict[str, object]", part)
            if isinstance(pattern := fields.get("Regex"), str):
                yield pattern
            left.extend(fields.values())
        elif isinstance(part, list):
            left.extend(cast("Sequence[object]", part))


def _runs(pattern: str) -> Iterator[str]:
    """Yield runs of what a pattern mentions, characters and then pairs, each followed by U+0001."""
    points = [int(digits, 16) for digits in _ESCAPED.findall(pattern)]
    escaped = [chr(point) for point in points if point < 0xD800 or 0xE000 <= point < 0x110000]
    units = dict.fromkeys([*_COMMON, *escaped, *pattern])
    units |= dict.fromkeys(pattern[at : at + 2] for at in range(len(pattern) - 1))
    for unit in units:
        yield unit * (_CHARACTERS // len(unit)) + "\x01"
