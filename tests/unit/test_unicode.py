"""Kinds of characters, scripts of tokens, the alphabet of bytes, and UTF-8 cut anywhere."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex
from tokenizers.normalizers import Replace
from tokenizers.pre_tokenizers import ByteLevel

import bpe_core as bpe
from bpe_core.comparison import ScriptMerges
from bpe_core.tokenizer import gpt2
from bpe_core.unicode import (
    BETWEEN_CHARACTERS,
    BYTE_ORDER,
    BYTE_TO_CHARACTER,
    CUT_CHARACTERS,
    NO_LETTERS,
    CodePoints,
    are_whole_characters,
    find_group,
    find_script,
    from_printable,
    list_entries,
    to_printable,
    token_script,
)
from bpe_core.unicode.byte_tables import N_STATES, NO_STATE, state_after
from bpe_core.vocabulary import Vocabulary

EVERY_CHARACTER = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
LETTER_SINCE_UNICODE_16 = "\u1c89"
NO_LETTER_IN_UNICODE_16 = "\u0558"


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (CodePoints.WORD, r"[\p{L}\p{M}\p{N}]+"),
        (CodePoints.SPACE, r"\s+"),
        (CodePoints.OTHER, r"[^\s\p{L}\p{M}\p{N}]+"),
    ],
)
def test_every_character_has_the_same_kind_as_in_hugging_face(kind: int, pattern: str) -> None:
    every_one = CodePoints(EVERY_CHARACTER)
    others = every_one.points[every_one.kinds != kind]
    without = Replace(Regex(pattern), "").normalize_str(EVERY_CHARACTER)
    assert np.array_equal(CodePoints(without).points, others)


def test_words_end_where_pre_tokens_do() -> None:
    (row,) = bpe.compare(f"ab{NO_LETTER_IN_UNICODE_16}cd", [bpe.gpt2()]).rows
    assert row.words.n_words == 2
    (row,) = bpe.compare(f"ab{LETTER_SINCE_UNICODE_16}cd", [bpe.gpt2()]).rows
    assert row.words.n_words == 1


def test_only_letters_in_unicode_16_have_a_script() -> None:
    assert find_script(LETTER_SINCE_UNICODE_16) == "Cyrillic"
    assert find_script(NO_LETTER_IN_UNICODE_16) is None
    assert [find_group(c) for c in "\u0085\u3000\x1c"] == [
        "white space",
        "white space",
        "digits and other",
    ]


# Scripts of tokens


@pytest.mark.parametrize(
    ("token", "script"),
    [
        (b" the", "Latin"),
        ("コーヒー".encode(), "Katakana"),
        ("ター".encode(), "Katakana"),
        ("ーらー".encode(), "Hiragana"),
        ("ー".encode(), "other"),
        ("ｺｰﾋｰ".encode(), "Katakana"),
        ("ﾊﾞ".encode(), "Katakana"),
        ("cafe\u0301".encode(), "Latin"),
        ("日本のカー".encode(), "Han"),
        ("のカ".encode(), "Hiragana"),
        ("カの".encode(), "Katakana"),
        ("Tシャツ".encode(), "Katakana"),
        ("カ".encode() + "漢".encode()[:2], "Katakana"),
        ("漢".encode()[:2], CUT_CHARACTERS),
        (b"7" + "漢".encode()[2:], CUT_CHARACTERS),
        ("\ufffd".encode(), NO_LETTERS),
        (b"", NO_LETTERS),
        ("7 !🧩".encode(), NO_LETTERS),
    ],
)
def test_a_token_has_the_script_of_most_of_its_letters(token: bytes, script: str) -> None:
    assert token_script(token) == script


def test_the_scripts_of_a_vocabulary_are_those_of_its_merges_and_its_base_symbols() -> None:
    merges = ScriptMerges.of(gpt2())
    made = {merge.id for merge in gpt2().merges}
    others = Counter(token_script(t) for id, t in gpt2().vocab.items() if id not in made)
    together = Counter(dict(zip(merges.names, merges.after[:, -1].tolist(), strict=True))) + others
    assert dict(together) == Vocabulary(gpt2()).scripts


# GPT-2's table of bytes and printable characters


def test_every_byte_survives_the_round_trip() -> None:
    every_byte = bytes(range(256))
    assert from_printable(to_printable(every_byte)) == every_byte


def test_the_characters_are_the_same_as_in_hugging_face() -> None:
    assert set(BYTE_TO_CHARACTER) == set(ByteLevel.alphabet())


def test_base_ids_follow_the_order_of_the_characters() -> None:
    assert [BYTE_TO_CHARACTER[byte] for byte in BYTE_ORDER] == sorted(BYTE_TO_CHARACTER)
    assert BYTE_ORDER[220] == ord(" ")


# States of the UTF-8 decoder, compared with Python's own decoder


# Arbitrary bytes, and encoded characters truncated at both ends.
DATA = st.binary(max_size=6) | st.builds(
    lambda text, start, end: text.encode()[start : len(text.encode()) - end],
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
    st.integers(0, 4),
    st.integers(0, 4),
)


@given(DATA)
def test_whole_characters_end_between_characters(data: bytes) -> None:
    assert are_whole_characters(data) == (state_after(data) == BETWEEN_CHARACTERS)


@given(DATA)
def test_entries_are_the_states_in_which_bytes_are_valid(data: bytes) -> None:
    after = {state: state_after(data, state) for state in range(N_STATES)}
    assert list_entries(data) == {s: end for s, end in after.items() if end != NO_STATE}
