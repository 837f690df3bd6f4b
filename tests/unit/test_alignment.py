"""Alignment finds where two tokenizations cut a text differently."""

from __future__ import annotations

import pytest

from bpe_core.comparison.alignment import disagreements
from bpe_core.errors import TokenizationError
from tests.segments import covered_text
from tests.segments import piece_segments as cut


def test_tokenizations_with_the_same_cuts_agree_even_if_their_ids_differ() -> None:
    assert disagreements(cut(b"ab", b"c"), cut(b"ab", b"c", first_id=7), "abc") == []
    assert disagreements([], [], "") == []


def test_a_disagreement_ends_at_the_next_shared_cut() -> None:
    a = cut(b"_", b"stmt", b" ::=", b" x")
    b = cut(b"_", b"st", b"mt", b" ::", b"=", b" x")
    first, second = disagreements(a, b, covered_text(a))
    assert (first.byte_start, first.byte_end, first.a, first.b) == (1, 5, slice(1, 2), slice(1, 3))
    assert (second.byte_start, second.byte_end) == (5, 9)
    assert (second.a, second.b) == (slice(2, 3), slice(3, 5))
    assert (first.has_word, second.has_word) == (True, False)


def test_overlapping_tokens_form_one_disagreement() -> None:
    a, b = cut(b"ab", b"cd", b"ef"), cut(b"a", b"bc", b"de", b"f")
    (only,) = disagreements(a, b, covered_text(a))
    assert (only.byte_start, only.byte_end, only.a, only.b) == (0, 6, slice(0, 3), slice(0, 4))


def test_a_disagreement_covers_whole_characters() -> None:
    emoji = "😀".encode()
    a, b = cut(b"x", emoji, b"y"), cut(b"x", emoji[:2], emoji[2:], b"y")
    (only,) = disagreements(a, b, covered_text(a))
    assert (only.byte_start, only.byte_end, only.start, only.end) == (1, 5, 1, 2)
    assert not only.has_word
    han = "漢".encode()
    (only,) = disagreements(cut(han), cut(han[:1], han[1:]), "漢")
    assert only.has_word


def test_a_separate_marker_belongs_to_the_stretch_before_it() -> None:
    a = cut(b"ab", (b"</w>", 0), b" ", b"c", (b"</w>", 0))
    b = cut(b"a", b"b", b" ", b"c")
    (only,) = disagreements(a, b, covered_text(a))
    assert (only.byte_start, only.byte_end, only.a, only.b) == (0, 2, slice(0, 2), slice(0, 2))


def test_the_letters_of_a_marker_are_not_counted_as_a_word() -> None:
    a, b = cut(b".", (b".</w>", 1)), cut(b"..")
    (only,) = disagreements(a, b, covered_text(a))
    assert not only.has_word


def test_tokenizations_of_different_texts_are_refused() -> None:
    with pytest.raises(TokenizationError, match="tokenizations of this text"):
        disagreements(cut(b"ab"), cut(b"abc"), "ab")
