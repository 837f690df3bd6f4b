"""A normalizer's changes are found and add up to both texts; its forms are the library's."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.formats import loads
from bpe_core.formats.running.run_by_library import SentencePieceTokenizer
from bpe_core.formats.sentencepiece_model import BYTE, NORMAL, UNKNOWN, Piece, write_model
from bpe_core.pretokenizers import NORMALIZERS, align, apply_changes, get_normalizer
from tests.foreign_models import library_encoder
from tests.strategies import hostile_texts
from ui.tokenizers.normalized import normalized_pieces


def changed(text: str, normalized: str) -> list[tuple[str, str]]:
    pieces = normalized_pieces(text, normalized)
    return [(each.text, each.normalized) for each in pieces if each.is_changed]


@given(text=hostile_texts, normalized=hostile_texts)
def test_the_pieces_are_both_texts_whole(text: str, normalized: str) -> None:
    pieces = normalized_pieces(text, normalized)
    assert "".join(each.text for each in pieces) == text
    assert "".join(each.normalized for each in pieces) == normalized
    # Changed and unchanged pieces alternate, and none is empty on both sides.
    turns = [each.is_changed for each in pieces]
    assert all(a != b for a, b in pairwise(turns))
    assert all(each.text or each.normalized for each in pieces)


@pytest.mark.parametrize(
    ("text", "normalized", "expected"),
    [
        ("", "", []),
        ("the ﬁrst ½", "the first 1⁄2", [("ﬁ", "fi"), ("½", "1⁄2")]),
        ("cafe\u0301 bar", "café bar", [("e\u0301", "é")]),
        ("  two", "▁two", [("  ", "▁")]),
        ("An ABC of aBa", "an abc of aba", [("A", "a"), ("ABC", "abc"), ("B", "b")]),
        ("abc", "", [("abc", "")]),
    ],
)
def test_what_was_changed_is_found(
    text: str, normalized: str, expected: list[tuple[str, str]]
) -> None:
    assert changed(text, normalized) == expected


def test_sentencepiece_writes_its_marks_and_puts_a_space_in_front() -> None:
    pieces = [Piece("<unk>", 0, UNKNOWN), Piece("▁a", -1, NORMAL)]
    pieces += [Piece(f"<0x{byte:02X}>", 0, BYTE) for byte in range(256)]
    encoder = SentencePieceTokenizer(write_model(pieces, "BPE"))
    assert [encoder.written(id) for id in (0, 1, 2 + 0xC3)] == ["<unk>", "▁a", "<0xC3>"]
    assert changed("a a", encoder.normalized("a a")) == [("", "▁"), (" ", "▁")]


def test_a_tokenizer_json_writes_its_marks_and_normalizes() -> None:
    model = tokenizers.models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]")
    peer = tokenizers.Tokenizer(model)
    peer.normalizer = tokenizers.normalizers.Lowercase()
    encoder = library_encoder(json.loads(peer.to_str()))
    assert [encoder.written(id) for id in range(3)] == ["[UNK]", "a", "##b"]
    assert encoder.normalized("aB") == "ab"
    peer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    assert library_encoder(json.loads(peer.to_str())).written(1) is None


# Normal forms of a text, computed in parts, compared with the library's of the whole


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
    assert get_normalizer(form)(text) == library(form, text)


@pytest.mark.slow
@each_form
def test_every_character_is_normalized_among_others_as_by_the_library(form: str) -> None:
    normalized = get_normalizer(form)
    shuffled = random.Random(1).sample(ASSIGNED, len(ASSIGNED))
    for codes in (ASSIGNED, shuffled):
        plain = "".join(map(chr, codes))
        marked = "e\u0301".join(map(chr, codes))
        for text in (plain, marked):
            assert normalized(text) == library(form, text)


@each_form
@given(text=texts, sizes=st.lists(st.integers(1, 5), max_size=20))
def test_a_text_in_pieces_has_the_form_of_the_whole(form: str, text: str, sizes: list[int]) -> None:
    cuts = sorted({0, len(text), *(min(sum(sizes[:n]), len(text)) for n in range(len(sizes)))})
    pieces = [text[start:end] for start, end in pairwise(cuts)]
    assert "".join(get_normalizer(form).each_piece(pieces)) == library(form, text)


@each_form
@given(text=texts)
def test_changes_make_the_form_and_places_lead_back(form: str, text: str) -> None:
    changes = get_normalizer(form).changes(text)
    normal = apply_changes(text, changes)
    assert normal == library(form, text)
    for start, end, new in changes:
        # Each part is normalized on its own, and as short as that allows.
        assert new == library(form, text[start:end]) != text[start:end]
    in_characters, in_bytes = align(text, changes)
    places = in_characters(range(len(normal) + 1)).tolist()
    assert places == sorted(places)
    assert (places[0], places[-1]) == (0, len(text))
    assert in_bytes(len(normal.encode())) == len(text.encode())
    inside = {place for start, end, _ in changes for place in range(start, end)}
    unchanged = [at for at, place in enumerate(places[:-1]) if place not in inside]
    assert [normal[at] for at in unchanged] == [text[places[at]] for at in unchanged]


def test_other_normalizers_are_refused_by_name() -> None:
    lowercase = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0}, []))
    lowercase.normalizer = tokenizers.normalizers.Lowercase()
    with pytest.raises(FormatError, match=r"normalizer \(Lowercase\)"):
        loads({"tokenizer.json": lowercase.to_str().encode()})
