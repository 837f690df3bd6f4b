r"""Refuse files of tokenizers that make a text many times longer, or take very long for some.

A normalizer that puts a million characters in front of each word takes gigabytes for a page of
text, and nothing can end another library once it runs. Published tokenizers write one character
for another, put ▁ in front, or apply a table of Unicode's compatibility forms.

Hugging Face's library gives up a pattern that takes ten million steps at one character, but not one
that takes a million at each: `(?:z|z){20}[^z]` needs 15 seconds for a thousand z. Such patterns are
slow on runs of what they mention.
"""

from __future__ import annotations

import re
import struct
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Any, Final, cast

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.json_files import check_tokens

_MAX_TIMES: Final = 100
_MAX_ADDED: Final = 1_000
_AFFIXES: Final = ("continuing_subword_prefix", "end_of_word_suffix")
_MAX_AFFIX_LENGTH: Final = 1_000
"""In characters; those of published tokenizers have 4 at most, as in "</w>"."""
_MAX_FORM_LENGTH: Final = 200
"""In bytes. The longest form that Unicode has for one character takes 33 bytes in UTF-8."""
_MAX_ID: Final = 1 << 24
"""The library lists all unused ids below the largest: 2^31 of them took 4 GB."""
_MAX_WORD_LENGTH: Final = 200
"""WordPiece's time grows with the cube of it; published files have 100 or 200."""
_CHARACTERS: Final = 1_000
_MAX_RUNS: Final = 200
_MAX_SECONDS: Final = 0.25
"""The most processor time for a run. Published tokenizers take a few milliseconds."""
_COMMON: Final = "aA1 \n!_\u00e9\u4e2d"
_ESCAPED: Final = re.compile(r"\\[xu]\{?([0-9A-Fa-f]{2,6})")


def check_growth(described: Mapping[str, Any]) -> None:
    """Raise FormatError if a tokenizer.json makes texts much longer, or takes long words whole.

    >>> check_growth({"normalizer": {"type": "Prepend", "prepend": "▁"}})
    >>> check_growth({"normalizer": {"type": "Prepend", "prepend": "hug" * 1_000}})
    Traceback (most recent call last):
    bpe_core.errors.FormatError: Its normalizer adds 3,000 characters to each text, more than the \
1,000 allowed. Use the file as it was saved.
    """
    times, added = 1, 0
    for part in _iterate_parts([described.get("normalizer"), described.get("pre_tokenizer")]):
        content, prepended = part.get("content"), part.get("prepend")
        if isinstance(content, str):
            times = min(times * _times(part.get("pattern"), content), 1 << 62)
        if isinstance(prepended, str):
            added += len(prepended)
        if isinstance(charsmap := part.get("precompiled_charsmap"), str):
            try:
                decoded = b64decode(charsmap)
            except ValueError:
                continue  # the library names the damage
            check_charsmap(decoded)
    if times > _MAX_TIMES:
        raise _refusal(f"makes a text more than {_MAX_TIMES} times longer")
    if added > _MAX_ADDED:
        raise _refusal(
            f"adds {added:,} characters to each text, more than the {_MAX_ADDED:,} allowed"
        )
    if isinstance(model := described.get("model"), dict):
        _check_model(cast("dict[str, Any]", model))


def check_charsmap(charsmap: bytes) -> None:
    """Raise FormatError if SentencePiece's table writes a very long text for a few characters.

    The table is the size of a trie, the trie, and the texts that it leads to, each with a NUL at
    its end.
    """
    if len(charsmap) < 4:
        return
    (size,) = struct.unpack("<I", charsmap[:4])
    longest = max(map(len, charsmap[4 + size :].split(b"\0")), default=0)
    if longest > _MAX_FORM_LENGTH:
        raise _refusal(f"writes {longest:,} bytes for one character, more than {_MAX_FORM_LENGTH}")


def _times(pattern: object, content: str) -> int:
    """Return the factor by which replacing a pattern can lengthen a text."""
    replaced: Mapping[str, object] = cast("Any", pattern) if isinstance(pattern, dict) else {}
    if isinstance(found := replaced.get("String"), str) and found:
        return max(1, -(-len(content) // len(found)))
    # An expression may match nothing, between two characters.
    return len(content) + 1


def _check_model(model: Mapping[str, Any]) -> None:
    vocab: object = model.get("vocab")
    if isinstance(vocab, (dict, list)):
        check_tokens(len(cast("list[object]", vocab)), "the vocabulary")
    ids = cast("dict[str, object]", vocab).values() if isinstance(vocab, dict) else ()
    all_ids = set(map(type, ids)) <= {int}
    numbers = ids if all_ids else (id for id in ids if isinstance(id, int))
    largest = max(cast("Iterable[int]", numbers), default=0)
    sizes = [("largest id", largest, _MAX_ID)]
    affixes = {name: model.get(name) for name in _AFFIXES}
    sizes += [
        (f"{name}'s length", len(affix), _MAX_AFFIX_LENGTH)
        for name, affix in affixes.items()
        if isinstance(affix, str)
    ]
    if isinstance(longest := model.get("max_input_chars_per_word"), int):
        sizes.append(("max_input_chars_per_word", longest, _MAX_WORD_LENGTH))
    for what, size, most in sizes:
        if size > most:
            raise FormatError(
                f"Its {what} is {size:,}, more than the {most:,} allowed. Use the file as it was "
                "saved."
            )


def _iterate_parts(described: object) -> Iterator[dict[str, Any]]:
    """Yield the objects in parts of a tokenizer.json, at any depth."""
    left = [described]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            fields = cast("dict[str, object]", part)
            yield fields
            left.extend(fields.values())
        elif isinstance(part, list):
            left.extend(cast("list[object]", part))


def _refusal(what: str) -> FormatError:
    return FormatError(f"Its normalizer {what}. Use the file as it was saved.")


def check_patterns(described: Mapping[str, Any], encode: Callable[[str], object]) -> None:
    """Raise FormatError if a pattern of a tokenizer.json takes long on a run of characters.

    >>> check_patterns({"pre_tokenizer": {"pattern": {"Regex": "a+"}}}, list)
    """
    for part in _iterate_parts([described.get("normalizer"), described.get("pre_tokenizer")]):
        pattern = part.get("Regex")
        for text in islice(_runs(pattern) if isinstance(pattern, str) else (), _MAX_RUNS):
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


def _runs(pattern: str) -> Iterator[str]:
    """Yield runs of what a pattern mentions, characters and then pairs, each followed by U+0001."""
    points = [int(digits, 16) for digits in _ESCAPED.findall(pattern)]
    escaped = [chr(point) for point in points if point < 0xD800 or 0xE000 <= point < 0x110000]
    units = dict.fromkeys([*_COMMON, *escaped, *pattern])
    units |= dict.fromkeys(pattern[at : at + 2] for at in range(len(pattern) - 1))
    for unit in units:
        yield unit * (_CHARACTERS // len(unit)) + "\x01"
