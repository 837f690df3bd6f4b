"""Words, white space and punctuation are classified as the pre-tokenizers do."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Regex
from tokenizers.normalizers import Replace

import bpe_core as bpe
from bpe_core.unicode.kinds import (
    PUNCTUATION,
    WHITE_SPACE,
    WORD,
    classify,
    code_points,
    find_group,
    find_script,
)

EVERY_CHARACTER = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
LETTER_SINCE_UNICODE_16 = "\u1c89"
NO_LETTER_IN_UNICODE_16 = "\u0558"


@pytest.mark.parametrize(
    ("kind", "pattern"),
    [
        (WORD, r"[\p{L}\p{M}\p{N}]+"),
        (WHITE_SPACE, r"\s+"),
        (PUNCTUATION, r"[^\s\p{L}\p{M}\p{N}]+"),
    ],
)
def test_every_character_has_the_same_kind_as_in_hugging_face(kind: int, pattern: str) -> None:
    every_one = code_points(EVERY_CHARACTER)
    others = every_one[classify(every_one) != kind]
    without = Replace(Regex(pattern), "").normalize_str(EVERY_CHARACTER)
    assert np.array_equal(code_points(without), others)


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
