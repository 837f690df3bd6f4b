"""Figures on numbers, code and characters, on tokenizers whose cuts are known."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from bpe_core.comparison.structures import CODE
from bpe_core.tokenizer import Tokenizer, gpt2
from tests.new_process import ROOT

BYTES = {byte: bytes([byte]) for byte in range(256)}


def of_pairs(*words: str, cut: str = "none") -> Tokenizer:
    """Return a tokenizer that looks up some words, and joins their parts from the left."""
    vocab, merges = dict(BYTES), []
    for word in words:
        left = word[:1].encode()
        for character in word[1:]:
            ids = {token: id for id, token in vocab.items()}
            made = left + character.encode()
            if made not in ids:
                vocab[len(vocab)] = made
                merges.append((ids[left], ids[character.encode()], len(vocab) - 1))
            left = made
    return Tokenizer(vocab=vocab, merges=merges, pretokenizer=cut, whole_words_first=True)


def test_single_digits_are_cut_in_one_way_for_each_length() -> None:
    found = bpe.structure(of_pairs())
    assert (found.number_cuts, found.groups_of_three) == (4, 0)
    # Every comma's place is a border, and 3 to 8 borders are in a number.
    n_places = sum((length - 1) // 3 for length in range(4, 10))
    n_borders = sum(length - 1 for length in range(4, 10))
    assert found.group_f1 == pytest.approx(2 * n_places / (n_places + n_borders))
    assert found.identifiers_whole == 0


def test_groups_from_the_right_agree_with_commas() -> None:
    groups = [f"{n:03}" for n in range(1_000)] + [f"{n}" for n in range(10, 100)]
    left = bpe.structure(of_pairs(*groups, cut="regex:[0-9]{1,3}|[^0-9]+"))
    right = bpe.structure(of_pairs(*groups, cut="regex:[0-9]{1,3}(?=(?:[0-9]{3})*(?:[^0-9]|$))|."))
    assert (right.groups_of_three, right.group_f1, right.number_cuts) == (1, 1, 4)
    # Numbers of 6 and 9 digits have no rest, so they are cut alike from both sides.
    assert left.groups_of_three == pytest.approx(2 / 6)
    assert left.number_cuts == 4


def test_names_indentation_and_characters() -> None:
    code = "def hug(bun):\n    return hug\n"
    words = ("def", " hug", "bun", "return", "    ")
    found = bpe.structure(of_pairs(*words, cut=r"regex: ?[a-z]+| +(?=[a-z])|."), "café 漢", code)
    # "hug" twice with its space; bun, def and return without one.
    assert (found.identifiers_whole, found.indentation_whole) == (1, 1)
    assert found.characters_cut == 1
    assert bpe.structure(of_pairs(*words[:1]), "plain", code).characters_cut is None
    none = bpe.structure(of_pairs(), "", "")
    assert (none.identifiers_whole, none.indentation_whole) == (None, None)
    half = bpe.structure(of_pairs("bun"), "", "bun hug")
    assert half.identifiers_whole == 0.5
    assert ("hug", ("h", "u", "g")) in half.examples


def test_code_repeated_often_has_the_same_shares() -> None:
    once, often = (bpe.structure(gpt2(), "", CODE * n) for n in (1, 40))
    assert often.identifiers_whole == pytest.approx(once.identifiers_whole)
    assert often.indentation_whole == pytest.approx(once.indentation_whole)


def test_the_figures_are_json_and_the_page_explains_each() -> None:
    found = bpe.structure(gpt2()).to_dict()
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    assert [name for name in found if f"`{name}`" not in page] == []
    assert found["number_cuts"] > 4
    with pytest.raises(bpe.InvalidTextError):
        bpe.structure(gpt2(), "\ud800")
