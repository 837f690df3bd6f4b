r"""Recognise the pre-tokenizer that a pattern in another tool's file stands for.

The same pre-tokenizer is written in several ways: with or without possessive quantifiers, with
`(?i:...)` around each contraction or around all. Each spelling below occurs in a released tokenizer
or in `tiktoken_ext/openai_public.py`, and matches exactly what the named one matches.
"""

from __future__ import annotations

from typing import Final

from bpe_core.pretokenizers.pretokenizers import get_pretokenizer

_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPELLINGS: Final = {
    "gpt2": (
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ),
    # Left out: the older spelling without `\s++$`, which cuts trailing "\n  " in two.
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "o200k": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
}
_NAMES: Final = {
    pattern: name
    for name, spellings in _SPELLINGS.items()
    for pattern in (*spellings, get_pretokenizer(name).pattern)
}


def pretokenizer_of(pattern: str) -> str:
    r"""Return the name of the pre-tokenizer whose pieces are a pattern's matches and the gaps.

    >>> gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    >>> pretokenizer_of(gpt2)
    'gpt2'
    >>> pretokenizer_of(r"\d")
    'regex:\\d'
    """
    return _NAMES.get(pattern, f"regex:{pattern}")
