r"""The patterns of the named pre-tokenizers.

OpenAI's are those of tiktoken_ext/openai_public.py, without possessive quantifiers if that makes no
difference, because every tool that reads an exported tokenizer supports that form. cl100k keeps
`\s++$`: white space at the end of a text is one pre-token, line ends included, and only after a
possessive run does `$` mean the end of the text, not of a line, in every engine.

StarCoder, Falcon and DeepSeek cut in several steps, where a piece of one step is a text of its own
in the next. Each is one pattern here, in which `(?!\S)` leaves out whatever an earlier step cuts
off: white space before it is at the end of a piece.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, NamedTuple

from bpe_core.pretokenizers.shadows import HAN_AND_KANA


class NamedPattern(NamedTuple):
    """The definition of a named pre-tokenizer."""

    pattern: str | None
    drops_text: bool = False
    ends_before_space: bool = True
    adds_space: bool = False


_LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|{numbers}"
    r"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

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
            r"| ?[^\s\p{L}\p{N}\p{P}$+<=>^`|~]+|\s+(?![^\s\p{P}$+<=>^`|~])|\s+"
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
        "none": NamedPattern(None, ends_before_space=False),
    }
)
"""The definition of each name."""
