"""Normal forms of a text, computed in parts, compared with the library's of the whole."""

from __future__ import annotations

import random

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.formats.running.run_here import NORMALIZERS, normalize_by_library

each_form = pytest.mark.parametrize("form", NORMALIZERS)
ASSIGNED = [code for code in range(0x30000) if not 0xD800 <= code < 0xE000]
# Letters with marks, marks that change places, jamo, compatibility characters, signs that compose.
DELICATE = "aé\u0301\u0323\u0327ſﬁ①㍿각\u1100\u1161\u11a8한\u0bc6\u0bbe\u0344Åः्क\u093c\u2126\u212b"
texts = st.text(st.sampled_from(DELICATE) | st.characters(codec="utf-8"), max_size=40)


def library(form: str, text: str) -> str:
    return getattr(tokenizers.normalizers, form)().normalize_str(text)


@each_form
@given(text=texts)
def test_the_form_of_any_text_is_the_librarys(form: str, text: str) -> None:
    assert normalize_by_library({"type": form})(text) == library(form, text)


@pytest.mark.slow
@each_form
def test_every_character_is_normalized_among_others_as_by_the_library(form: str) -> None:
    normalized = normalize_by_library({"type": form})
    shuffled = random.Random(1).sample(ASSIGNED, len(ASSIGNED))
    for codes in (ASSIGNED, shuffled):
        plain = "".join(map(chr, codes))
        marked = "e\u0301".join(map(chr, codes))
        for text in (plain, marked):
            assert normalized(text) == library(form, text)


def test_other_normalizers_are_refused_by_name() -> None:
    with pytest.raises(FormatError, match="Lowercase"):
        normalize_by_library({"type": "Lowercase"})
