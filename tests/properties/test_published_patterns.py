"""Named pre-tokenizers cut like the published patterns, which `regex` runs one after another."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.pretokenizers import get_pretokenizer
from bpe_core.unicode import class_runs, unicode_class
from tests.scanned import scan

_UPPER: Final = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER: Final = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
STEPS: Final[dict[str, tuple[str, ...]]] = {
    "gpt2": (_GPT2,),
    "llama3": (_LLAMA3,),
    "qwen2": (_LLAMA3.replace("{1,3}", ""),),
    "o200k": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "tekken": (
        rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "deepseek-v3": (
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
        r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    "starcoder": (r"\p{N}", _GPT2),
    "falcon": (r"[\p{P}$+<=>^`|~]+", _GPT2, "[0-9]+", "[0-9]{3}"),
}


def in_steps(patterns: tuple[str, ...], text: str) -> list[str]:
    """Cut the text by the first pattern, then every piece by the next."""
    pieces = [text]
    for pattern in patterns:
        pieces = [cut for piece in pieces for cut in _isolated(pattern, piece)]
    return pieces


def _isolated(pattern: str, text: str) -> list[str]:
    cuts = {0, len(text), *(place for m in regex.finditer(pattern, text) for place in m.span())}
    borders = sorted(cuts)
    return [text[start:end] for start, end in pairwise(borders)]


_CLASSES: Final = {
    "space": r"\s", "upper": r"[\p{Lu}\p{Lt}]", "lower": r"\p{Ll}", "modifier": r"\p{Lm}",
    "letter": r"\p{Lo}", "number": r"\p{N}", "mark": r"\p{M}", "punctuation": r"\p{P}",
    "symbol": r"\p{S}", "other": r"[^\s\p{L}\p{N}\p{M}\p{P}\p{S}]",
}  # fmt: skip
# The `regex` package knows a later Unicode version than 16, so characters it adds are left out.
EDGES: Final = "".join(
    chr(code)
    for start in class_runs()[0]
    for code in {start, max(start - 1, 0)}
    if not 0xD800 <= code < 0xE000 and regex.match(_CLASSES[unicode_class(code)], chr(code))
)
COMMON: Final = (
    "abzABZ'sStTlLdDvVrReEmM  \t\n\r012,./^_!$"
    "\u0301é漢字アー・ſÉªʰ²½\x80\u0085\u3000\ufeff\u200d\u3040゛\u3099😀\x00\x1c"
)
texts = st.text(st.sampled_from(COMMON), max_size=40) | st.text(
    st.sampled_from(COMMON) | st.sampled_from(EDGES), max_size=20
)


@pytest.mark.parametrize("name", STEPS)
@given(texts)
def test_a_name_cuts_as_the_published_patterns(name: str, text: str) -> None:
    assert get_pretokenizer(name).split(text) == in_steps(STEPS[name], text)


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
def test_every_edge_of_a_class_in_every_context(name: str) -> None:
    contexts = "a{0}b A{0}B {0}1{0} {0}\n {0}{0}'s'{0}LL  {0}/\r\n,{0}  漢{0}ア{0}・{0}{0}"
    text = "".join(contexts.format(character) for character in EDGES)
    expected = in_steps(STEPS[name], text)
    assert get_pretokenizer(name).split(text) == expected
    assert scan(text, get_pretokenizer(name), 8192) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("unit", ["a", "^", " ", "\n", "1", " \n", "漢", "A", "aB", "'s", "\u0301"])
def test_a_long_run_of_anything(name: str, unit: str) -> None:
    text = unit * 100_000 + "x"
    assert scan(text, get_pretokenizer(name), 64) == in_steps(STEPS[name], text)
