"""GPT-2's ids equal those of tiktoken and Hugging Face's tokenizers with OpenAI's own files."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.tokenizer import END_OF_TEXT, gpt2
from tests.oracles import tiktoken_gpt2, tokenizers_gpt2
from tests.strategies import hostile_texts, texts

LIBRARY = Path(sysconfig.get_paths()["stdlib"])
SCRIPTS = {
    "Latin": "ÀàÉéÑñÜüÞßĄąŁłŐőƏəẠạ",
    "Greek": "ΑαΔδΣσςΩωΆά",
    "Cyrillic": "АаБбЖжЩщЪъЯяЇїЏџ",
    "Hebrew": "אבגדםןץ\u05b0\u05bc",
    "Arabic": "ابجدهوىيپچ\u064b\u0651٠١٢",
    "Devanagari": "अआकखगज्ञ\u093e\u0940\u094d०१२",
    "Tamil": "அஆகஙசஞ\u0bbe\u0bcd",
    "Thai": "กขคงจฉ\u0e31\u0e34\u0e48๐๑",
    "Han": "你好世界的一是不了人我在有他这",
    "Kana": "あいうえおアイウエオーっッ",
    "Hangul": "가나다라마각낱각",
    "Georgian": "აბგდევზᲐᲑ",
    "Ethiopic": "ሀሁሂሃሄአ፩፪",
    "Tibetan": "ཀཁགང\u0f71\u0f72་༠༡",
    "Cuneiform": "𒀀𒀁𒁀𒐀",
    "Emoji": "🙂👍🏽👩\u200d👧🇩🇪\ufe0f❤",
}
SEPARATORS = [" ", "  ", "\n", "\t", "\u3000", "\xa0", "'", "-", "1", "²", "\u200b", ""]


def assert_same_ids(text: str) -> None:
    ids = gpt2().encode(text)
    assert ids == tiktoken_gpt2().encode_ordinary(text)
    assert ids == tokenizers_gpt2().encode(text).ids


@settings(max_examples=1_500)
@given(st.one_of(hostile_texts, texts))
def test_ids_equal_those_of_both_oracles(text: str) -> None:
    assert_same_ids(text)


@settings(max_examples=60)
@pytest.mark.parametrize("script", SCRIPTS)
@given(data=st.data())
def test_scripts_of_the_world_equal_both_oracles(script: str, data: st.DataObject) -> None:
    words = st.lists(st.text(SCRIPTS[script], min_size=1, max_size=8), max_size=12)
    separator = data.draw(st.sampled_from(SEPARATORS))
    assert_same_ids(separator.join(data.draw(words)))


def test_real_files_equal_both_oracles() -> None:
    # Python's own sources: code, prose, and the encoding tests with their many scripts.
    for name in ("pydoc_data/topics.py", "html/entities.py", "encodings/cp1006.py", "locale.py"):
        assert_same_ids((LIBRARY / name).read_text(encoding="utf-8"))


@given(st.lists(st.one_of(st.just(END_OF_TEXT), hostile_texts), max_size=6).map("".join))
def test_allowed_special_tokens_equal_tiktoken(text: str) -> None:
    ids = gpt2().encode(text, allowed_special="all")
    assert ids == tiktoken_gpt2().encode(text, allowed_special="all")


@given(st.lists(st.integers(0, 50_256), max_size=40))
def test_decoding_any_ids_equals_tiktoken(ids: list[int]) -> None:
    assert gpt2().decode_bytes(ids) == tiktoken_gpt2().decode_bytes(ids)
    assert gpt2().decode(ids) == tiktoken_gpt2().decode(ids)


@given(hostile_texts)
def test_character_offsets_equal_those_of_tiktoken(text: str) -> None:
    _, starts = tiktoken_gpt2().decode_with_offsets(tiktoken_gpt2().encode_ordinary(text))
    segments = gpt2().segments(text)
    # Like bpe_core, tiktoken reports a token that starts within a character at that character.
    assert [segment.start for segment in segments] == starts
