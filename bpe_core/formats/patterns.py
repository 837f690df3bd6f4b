r"""Which named pre-tokenizer a pattern in another tool's file is.

The same pre-tokenizer is written in several ways: with possessive quantifiers or without, with
`(?i:...)` around each contraction or around all. Each spelling below was seen in a released
tokenizer or in `tiktoken_ext/openai_public.py`, and matches what the named one matches.
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
    # Not here: the older spelling without `\s++$`, which cuts a text that ends in "\n  " in two.
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
    r"""Name the pre-tokenizer that cuts at the matches of a pattern and between them.

    >>> gpt2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    >>> pretokenizer_of(gpt2)
    'gpt2'
    >>> pretokenizer_of(r"\d")
    'regex:\\d'
    """
    return _NAMES.get(pattern, f"regex:{pattern}")
