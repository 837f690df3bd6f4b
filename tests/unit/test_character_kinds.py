"""Words, white space and the rest are what the pre-tokenizers take for them."""

from __future__ import annotations

import numpy as np
import pytest
from tokenizers import Regex
from tokenizers.normalizers import Replace

from bpe_core.comparison.comparison import compare
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.unicode.kinds import (
    PUNCTUATION,
    WHITE_SPACE,
    WORD,
    code_points,
    group_of,
    kinds_of,
    script_of,
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
def test_every_character_is_of_the_kind_that_hugging_face_takes_it_for(
    kind: int, pattern: str
) -> None:
    every_one = code_points(EVERY_CHARACTER)
    others = every_one[kinds_of(every_one) != kind]
    without = Replace(Regex(pattern), "").normalize_str(EVERY_CHARACTER)
    assert np.array_equal(code_points(without), others)


def test_a_word_ends_where_the_pre_tokenizers_end_it() -> None:
    (row,) = compare(f"ab{NO_LETTER_IN_UNICODE_16}cd", [gpt2()]).rows
    assert row.words.n_words == 2
    (row,) = compare(f"ab{LETTER_SINCE_UNICODE_16}cd", [gpt2()]).rows
    assert row.words.n_words == 1


def test_scripts_are_named_for_the_letters_of_unicode_16_alone() -> None:
    assert script_of(LETTER_SINCE_UNICODE_16) == "Cyrillic"
    assert script_of(NO_LETTER_IN_UNICODE_16) is None
    assert [group_of(c) for c in "\u0085\u3000\x1c"] == [
        "white space",
        "white space",
        "digits and other",
    ]
