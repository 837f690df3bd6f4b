"""Cutting a long text into parts for another library does not change its ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, models, normalizers, pre_tokenizers

from bpe_core.formats import ForeignTokenizer
from bpe_core.pretokenizers import get_pretokenizer
from tests import foreign_models
from tests.foreign_models import library_encoder

MASK = AddedToken("<mask>", lstrip=True, special=True)


def changed(
    peer: tokenizers.Tokenizer,
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    added: AddedToken | None = None,
) -> ForeignTokenizer:
    copy = tokenizers.Tokenizer.from_str(peer.to_str())
    if normalizer is not None:
        copy.normalizer = normalizer
    if pre_tokenizer is not None:
        copy.pre_tokenizer = pre_tokenizer
    if added is not None:
        copy.add_tokens([added])
    return library_encoder(foreign_models.described(copy))


def split(name: str) -> Any:
    return pre_tokenizers.Split(Regex(get_pretokenizer(name).pattern or ""), "isolated")


BYTES = foreign_models.byte_level()
UNIGRAM = foreign_models.unigram()
NAMED = {
    name: pre_tokenizers.Sequence([split(name), pre_tokenizers.ByteLevel(use_regex=False)])
    for name in ("gpt2", "cl100k", "o200k")
}
CUT: dict[str, Callable[[], ForeignTokenizer]] = {
    "word pieces": lambda: changed(foreign_models.word_piece(), added=MASK),
    "unigram": lambda: changed(UNIGRAM, added=MASK),
    "unigram, first": lambda: changed(
        UNIGRAM, pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme="first")
    ),
    "unigram, strict": lambda: changed(
        UNIGRAM,
        normalizers.Sequence(
            [
                normalizers.NFKC(),
                normalizers.Strip(left=False, right=True),
                normalizers.Replace(Regex(" {2,}"), " "),
                normalizers.Lowercase(),
                normalizers.StripAccents(),
            ]
        ),
    ),
    "unigram, words": lambda: changed(
        UNIGRAM,
        pre_tokenizer=pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
        ),
    ),
    "bytes": lambda: changed(BYTES),
    "bytes, prefix": lambda: changed(
        BYTES, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True), added=MASK
    ),
    "bytes, digits": lambda: changed(
        BYTES,
        pre_tokenizer=pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.Punctuation(),
                pre_tokenizers.ByteLevel(add_prefix_space=True),
            ]
        ),
    ),
    **{
        f"bytes, {name}": lambda own=own: changed(BYTES, pre_tokenizer=own)
        for name, own in NAMED.items()
    },
}
WHOLE: dict[str, Callable[[], ForeignTokenizer]] = {
    "one pre-token": lambda: changed(foreign_models.byte_fallback()),
    "no pre-tokenizer": lambda: library_encoder(
        foreign_models.described(tokenizers.Tokenizer(models.Unigram([("<unk>", 0.0)], 0)))
    ),
    "spaces alone": lambda: changed(BYTES, pre_tokenizer=pre_tokenizers.Punctuation()),
    "a pattern": lambda: changed(
        BYTES, pre_tokenizer=pre_tokenizers.Split(Regex("a b|."), "isolated")
    ),
    "not split": lambda: changed(UNIGRAM, pre_tokenizer=pre_tokenizers.Metaspace(split=False)),
    "a prefix": lambda: changed(UNIGRAM, normalizers.Prepend("x")),
    "stripped": lambda: changed(UNIGRAM, normalizers.Strip()),
    "a replaced letter": lambda: changed(UNIGRAM, normalizers.Replace("a", " ")),
    "a replaced pattern": lambda: changed(UNIGRAM, normalizers.Replace(Regex("a b"), "c")),
    "an added token of two words": lambda: changed(UNIGRAM, added=AddedToken("New York")),
    "an added token of a wide space": lambda: changed(UNIGRAM, added=AddedToken("New\u3000York")),
    "an added word that strips": lambda: changed(UNIGRAM, added=AddedToken("the", rstrip=True)),
}
WORDS = st.lists(
    st.sampled_from(
        [
            "the",
            "a",
            "b",
            "hugs",
            "don't",
            "I'LL",
            "x1",
            "12345",
            "naïve",
            "İ",
            "ﬁ",
            "漢字",
            " ",
            "  ",
            "\n",
            " \n ",
            "\t",
            ".",
            "...",
            "<mask>",
            "<s>",
            "▁",
            "é",
            "e\u0301",
            "the the",
            "a b c",
            " and I",
            "New York",
            "\u200d",
            "\u0301",
            "🧩",
        ]
    ),
    max_size=40,
)
BUILT = {name: make() for name, make in CUT.items()}


@pytest.mark.parametrize("name", CUT)
def test_a_text_is_cut(name: str) -> None:
    assert list(BUILT[name].parts("one two three", 4)) == ["one two", " three"]


@pytest.mark.parametrize("name", WHOLE)
def test_a_text_is_not_cut_if_its_ids_might_change(name: str) -> None:
    assert list(WHOLE[name]().parts("one two three", 4)) == ["one two three"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
@given(WORDS, st.sampled_from(["", " "]), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_the_tokens_of_a_text_are_those_of_its_parts(
    name: str, words: list[str], between: str, size: int
) -> None:
    foreign, text = BUILT[name], between.join(words)
    parts = list(foreign.parts(text, size))
    assert "".join(parts) == text
    whole = foreign.segments(text)
    found = [
        (each.id, each.token, each.byte_start + start, each.byte_end + start)
        for part, start in zip(parts, part_starts(parts), strict=True)
        for each in foreign.segments(part)
    ]
    assert found == [(each.id, each.token, each.byte_start, each.byte_end) for each in whole]


def part_starts(parts: list[str]) -> list[int]:
    lengths = [len(part.encode()) for part in parts]
    return [sum(lengths[:place]) for place in range(len(parts))]
