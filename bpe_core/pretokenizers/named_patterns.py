r"""The patterns of the named pre-tokenizers, and the shadows of texts that they match.

OpenAI's are those of tiktoken_ext/openai_public.py, without possessive quantifiers if that makes no
difference, because every tool that reads an exported tokenizer supports that form. cl100k keeps
`\s++$`: white space at the end of a text is one pre-token, line ends included, and only after a
possessive run does `$` mean the end of the text, not of a line, in every engine.

StarCoder, Falcon and DeepSeek cut in several steps, where a piece of one step is a text of its own
in the next. Each is one pattern here, in which `(?!\S)` leaves out whatever an earlier step cuts
off: white space before it is at the end of a piece.

A shadow is a text with each character beyond ASCII replaced by a representative of its class. A
named pattern tells apart only the 128 characters of ASCII and a few classes, so it matches a shadow
exactly where it matches the text. That has two uses: Python's own `re` can match a pattern that
names Unicode classes, and `scanners` can compile one over an alphabet of 145 characters.

The classes are those of `unicode_class`, once outside and once inside the ranges of Chinese
characters and kana that DeepSeek's pattern cuts out. The long s is a class of its own because it
matches an s if case is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final, NamedTuple

from bpe_core.unicode import class_runs, unicode_class

HAN_AND_KANA: Final = "\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff"
"""The ranges as DeepSeek's pattern writes them between brackets."""
OF_HAN_AND_KANA: Final = " of han and kana"
"""The end of the name of a class in these ranges."""
_RANGES: Final = ((0x3040, 0x3100), (0x4E00, 0x9FA6))
_LONG_S: Final = 0x17F

REPRESENTATIVES: Final = {
    "other": "\x80",
    "punctuation": "§",
    "symbol": "°",
    "mark": "\u0301",
    "space": "\xa0",
    "number": "²",
    "upper": "É",
    "lower": "é",
    "modifier": "ʰ",
    "letter": "ª",
    "long s": "ſ",
    "other of han and kana": "\u3040",
    "punctuation of han and kana": "・",
    "symbol of han and kana": "゛",
    "mark of han and kana": "\u3099",
    "modifier of han and kana": "ー",
    "letter of han and kana": "一",
}
"""The representative of each class. The order is the number of the class in the scanners' tables;
the first three end a word wherever they follow a letter, under every named pattern."""

ALPHABET: Final = "".join(map(chr, range(128))) + "".join(REPRESENTATIVES.values())
"""All characters of shadows."""

_SPACES: Final = r"\t-\r \xa0"  # without U+001C to U+001F, which `re` counts as white space
_PUNCTUATION: Final = r"!-#%-*,-/:;?@\[-\]_{}§・"
_SYMBOLS: Final = r"$+<->\^`|~°゛"
_MEMBERS: Final = {
    HAN_AND_KANA: "\u3040・゛\u3099ー一",
    r"\p{L}": "A-Za-zÉéſʰªー一",
    r"\p{Lu}": "A-ZÉ",
    r"\p{Lt}": "",  # its members count as \p{Lu}, as every pattern here has both
    r"\p{Ll}": "a-zéſ",
    r"\p{Lm}": "ʰー",
    r"\p{Lo}": "ª一",
    r"\p{M}": "\u0301\u3099",
    r"\p{N}": "0-9²",
    r"\p{P}": _PUNCTUATION,
    r"\p{S}": _SYMBOLS,
    r"\s": _SPACES,
}
_PARTS: Final = re.compile(rf"{HAN_AND_KANA}|\\p\{{\w+\}}|\\.|.", re.DOTALL)


class _Shadows(dict[int, str]):
    """A table for str.translate that fills in each character's representative on first use."""

    def __missing__(self, code_point: int) -> str:
        shadow = REPRESENTATIVES[_classify(code_point)]
        self[code_point] = shadow
        return shadow


_SHADOWS: Final = _Shadows({code_point: chr(code_point) for code_point in range(128)})


def cast_shadow(text: str) -> str:
    """Return the shadow of a text, which has the same length.

    >>> cast_shadow("Ça va, 漢?")
    'Éa va, 一?'
    """
    return text if text.isascii() else text.translate(_SHADOWS)


def shadow_runs() -> Iterator[tuple[int, int, str]]:
    """Yield each run of code points of one class: first, end, and the name of the class.

    >>> next(iter(shadow_runs()))
    (0, 9, 'other')
    """
    borders = {_LONG_S, _LONG_S + 1, *(border for both in _RANGES for border in both), 0x110000}
    starts = sorted({*class_runs()[0], *borders})
    for i in range(len(starts) - 1):
        yield starts[i], starts[i + 1], _classify(starts[i])


def over_shadows(pattern: str) -> str:
    r"""Replace the classes of a pattern by the characters that represent them in a shadow.

    >>> over_shadows(r"\p{N}[^\s]")
    '[0-9²][^\\t-\\r \\xa0]'
    """
    written: list[str] = []
    inside_brackets = False
    for part in _PARTS.findall(pattern):
        if part in _MEMBERS:
            written.append(_MEMBERS[part] if inside_brackets else f"[{_MEMBERS[part]}]")
        elif part == r"\S":
            written.append(f"[^{_SPACES}]")
        else:
            inside_brackets = part == "[" or (inside_brackets and part != "]")
            written.append(part)
    return "".join(written)


def _classify(code_point: int) -> str:
    if code_point == _LONG_S:
        return "long s"
    name = unicode_class(code_point)
    if any(first <= code_point < end for first, end in _RANGES):
        return name + OF_HAN_AND_KANA
    return name


class NamedPattern(NamedTuple):
    """The definition of a named pre-tokenizer."""

    pattern: str | None
    drops_text: bool = False
    ends_before_space: bool = True
    adds_space: bool = False
    by_byte: bytes | None = None
    """What matches the parts that each pre-token is cut into between bytes; None if it is not."""


_LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{numbers}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# Numbers in threes from the right, as they are written with commas. Only the first part of a number
# looks ahead to where it ends: if each did, a long number would take quadratic time.
_FROM_RIGHT: Final = r"(?<=\p{N})\p{N}{3}|\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"

# Of DeepSeek V3: numbers; then runs of Chinese characters and kana, in which only letters,
# punctuation and the three unassigned places are told apart; then the rest.
_HAN: Final = rf"(?![^{HAN_AND_KANA}])"
_NO_HAN: Final = f"(?![{HAN_AND_KANA}])"
_WORD: Final = r"[\p{L}\p{M}]"
_SIGN: Final = r"[\p{P}\p{S}]"
_REST: Final = r"[^\s\p{L}\p{M}\p{N}\p{P}\p{S}]"
_DEEPSEEK_V3: Final = (
    rf"\p{{N}}{{1,3}}"
    rf"|(?:{_HAN}{_REST})?(?:{_HAN}{_WORD})+|(?:{_HAN}{_SIGN})+"
    rf"|(?:{_HAN}{_REST}(?!{_HAN}{_WORD}))+"
    r"|[!-/:-@\[-`{-~][A-Za-z]+"
    rf"|(?:{_NO_HAN}[^\r\n\p{{L}}\p{{N}}\p{{P}}\p{{S}}])?(?:{_NO_HAN}{_WORD})+"
    rf"| ?(?:{_NO_HAN}{_SIGN})+[\r\n]*|\s*[\r\n]+"
    rf"|\s+(?![^\s\p{{N}}{HAN_AND_KANA}])|\s+"
    rf"|(?:{_NO_HAN}{_REST}(?!{_NO_HAN}{_WORD}))+"
)

# SuperBPE's second stage (arXiv 2503.13423) cuts only by numbers, two signs or more, and all but
# the last of several spaces. Here the text between is a match too: letters and other white space,
# and a single sign or a space where none of those three begins.
_SIGN_OF_TEXT: Final = r"[^\s\p{L}\p{N}]"
_SUPERWORDS: Final = (
    rf"\p{{N}}{{1,3}}| ?{_SIGN_OF_TEXT}{_SIGN_OF_TEXT}+[\r\n/]*| +(?!\S)"
    rf"|(?:\p{{L}}|(?! )\s| ?{_SIGN_OF_TEXT}(?!{_SIGN_OF_TEXT})| (?=[\p{{L}}\p{{N}}]))+"
)

NAMED: Final = MappingProxyType(
    {
        "gpt2": NamedPattern(
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
        ),
        "cl100k": NamedPattern(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
            r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s++$|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        "o200k": NamedPattern(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
            r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        "llama3": NamedPattern(_LLAMA3.format(numbers=r"\p{N}{1,3}")),
        "digits-from-right": NamedPattern(_LLAMA3.format(numbers=_FROM_RIGHT)),
        "qwen2": NamedPattern(_LLAMA3.format(numbers=r"\p{N}")),
        "tekken": NamedPattern(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
            r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
            r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        "deepseek-v3": NamedPattern(_DEEPSEEK_V3),
        # Single numbers, then GPT-2's pattern.
        "starcoder": NamedPattern(
            r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?![^\s\p{N}])|\s+"
        ),
        # Punctuation, then GPT-2's pattern, then runs of ASCII digits, and in these three.
        "falcon": NamedPattern(
            r"[\p{P}$+<=>^`|~]+| ?\p{L}+|[0-9]{1,3}| ?(?:(?![0-9])\p{N})+"
            r"| ?[^\s\p{L}\p{N}\p{P}$+<=>^`|~]+|\s+(?![^\s\p{P}$+<=>^`|~])|\s+",
            # Bytes written as ² ³ ¹ ¼ ½ ¾ are numbers too. Only where others are left out do
            # merges depend on it.
            by_byte=b"[0-9\xb2\xb3\xb9\xbc-\xbe]+|[^0-9\xb2\xb3\xb9\xbc-\xbe]+",
        ),
        "whitespace": NamedPattern(r"\S+", drops_text=True),
        "words-punctuation": NamedPattern(
            r"[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]", drops_text=True
        ),
        # Where no merge of Llama 2's family, of Gemma 3's, can join what is on both sides; the one
        # merge of Gemma's that crosses a space joins ">" and " </".
        "sentencepiece": NamedPattern(r" *[^ ]+| +", ends_before_space=False),
        "gemma3": NamedPattern(r" *(?:[^ >]|> *)+| +", ends_before_space=False),
        "llama2": NamedPattern(r" *[^ ]+| +", ends_before_space=False, adds_space=True),
        # Hugging Face's Metaspace, with a space for each ▁.
        "metaspace": NamedPattern(r" [^ ]*|[^ ]+", ends_before_space=False, adds_space=True),
        "superwords": NamedPattern(_SUPERWORDS, ends_before_space=False),
        "none": NamedPattern(None, ends_before_space=False),
    }
)
"""The definition of each name."""
