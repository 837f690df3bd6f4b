"""Decide whether a tokenizer that another library runs may get a long text in parts.

A part ends between a letter and a space that another letter follows. A tokenizer whose ids provably
don't change there looks at no more than neighbouring characters before it splits at that space, and
its model gets the pieces one by one. All parts of its description must be known to behave so.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Final

from bpe_core.formats.json_files import flat_steps
from bpe_core.formats.patterns import find_pretokenizer

# Every letter between spaces, to see what a normalizer makes of it.
_LETTERS: Final = " ".join(string.ascii_letters)
_LOCAL_NORMALIZERS: Final = frozenset(
    {
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Lowercase",
        "BertNormalizer",
        "StripAccents",
        "Precompiled",
        "ByteLevel",
        "Nmt",
    }
)
_LOCAL_PRETOKENIZERS: Final = frozenset({"Digits", "Punctuation"})
_SPLIT_AT_SPACES: Final = frozenset({"BertPreTokenizer", "Whitespace", "WhitespaceSplit"})
_NAMED: Final = ("gpt2", "cl100k", "o200k")
_RUNS_OF_SPACES: Final = " {2,}"


def is_cut_at_spaces(described: Mapping[str, Any], normalized: Callable[[str], str] | None) -> bool:
    """Return True if the ids of a text are those of its parts, one after another.

    `described` is a tokenizer.json without post-processor, truncation and padding; `normalized` is
    its normalizer, None if it has none.

    >>> is_cut_at_spaces({"pre_tokenizer": {"type": "BertPreTokenizer"}}, None)
    True
    >>> is_cut_at_spaces({"pre_tokenizer": None}, None)
    False
    """
    return (
        all(map(_is_local_token, described.get("added_tokens") or []))
        and all(map(_is_local_normalizer, flat_steps(described.get("normalizer"), "normalizers")))
        and (normalized is None or _keeps_letters(normalized(_LETTERS)))
        and _splits(list(flat_steps(described.get("pre_tokenizer"), "pretokenizers")))
    )


def _is_local_token(token: Mapping[str, Any]) -> bool:
    """Return True if an added token cannot reach across a cut, before or after normalization."""
    content = unicodedata.normalize("NFKC", token["content"])
    strips = token.get("lstrip") or token.get("rstrip")
    ends = content[:1] + content[-1:]
    return not any(map(str.isspace, content)) and not (
        strips and any(not end.isascii() or end.isalnum() for end in ends)
    )


def _is_local_normalizer(normalizer: Mapping[str, Any]) -> bool:
    kind = normalizer.get("type")
    if kind == "Strip":
        # The end of a part is a letter, but its beginning is a space.
        return not normalizer.get("strip_left", True)
    if kind != "Replace":
        return kind in _LOCAL_NORMALIZERS
    pattern: Mapping[str, str] = normalizer.get("pattern") or {}
    plain = pattern.get("String")
    if plain is None:
        return pattern.get("Regex") == _RUNS_OF_SPACES
    return not any(each.isspace() or each.isalpha() for each in plain)


def _keeps_letters(normalized: str) -> bool:
    """Return True if letters between spaces are still single letters between spaces."""
    return (
        len(normalized) == len(_LETTERS)
        and all(each.isascii() and each.isalpha() for each in normalized[::2])
        and set(normalized[1::2]) == {" "}
    )


def _splits(pretokenizers: list[Mapping[str, Any]]) -> bool:
    """Return True if the first step that is not local splits at a single space between letters.

    The steps after it get each piece by itself.
    """
    for each in pretokenizers:
        kind = each.get("type")
        if kind in _LOCAL_PRETOKENIZERS:
            continue
        if kind == "ByteLevel":
            return bool(each.get("use_regex", True))
        if kind == "Metaspace":
            return bool(each.get("split", True))
        if kind == "Split":
            pattern: Mapping[str, str] = each.get("pattern") or {}
            is_plain = each.get("behavior") == "Isolated" and not each.get("invert")
            return is_plain and find_pretokenizer(pattern.get("Regex", "")) in _NAMED
        return kind in _SPLIT_AT_SPACES
    return False
