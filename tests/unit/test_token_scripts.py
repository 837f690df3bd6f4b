"""The script of a token, as used to count vocabularies and merges."""

from __future__ import annotations

from collections import Counter

import pytest

from bpe_core.comparison.languages import merges_per_script
from bpe_core.tokenizer.gpt2 import gpt2
from bpe_core.unicode.kinds import CUT_CHARACTERS, NO_LETTERS, token_script
from bpe_core.vocabulary.table import Vocabulary


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
    merges = merges_per_script(gpt2())
    made = {merge.id for merge in gpt2().merges}
    others = Counter(token_script(t) for id, t in gpt2().vocab.items() if id not in made)
    together = Counter(dict(zip(merges.names, merges.after[:, -1].tolist(), strict=True))) + others
    assert dict(together) == Vocabulary(gpt2()).scripts
