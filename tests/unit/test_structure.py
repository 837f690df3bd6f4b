"""Figures on numbers, code and characters, on tokenizers whose cuts are known."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.comparison import Structure
from bpe_core.tokenizer import Tokenizer, gpt2
from tests.commands import run
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


def numpy_figures(tokenizer: Tokenizer, text: str, code: str) -> list[float]:
    """Return the figures by their definitions, from the ends of tokens alone."""

    def ends(text: str) -> NDArray[np.int64]:
        tokens = [tokenizer.vocab[id] for id in tokenizer.encode(text)]
        return np.cumsum([len(token) for token in tokens])

    cuts = {tuple(np.diff(ends(str(number)), prepend=0)) for number in range(10_000)}
    right, found, wanted, common = 0, 0, 0, 0
    chosen = random.Random(0)
    for length in range(4, 10):
        for _ in range(100):
            number = str(chosen.randrange(10 ** (length - 1), 10**length))
            borders, commas = ends(number)[:-1], np.arange(length - 3, 0, -3)[::-1]
            right += np.array_equal(borders, commas)
            found, wanted = found + len(borders), wanted + len(commas)
            common += len(np.intersect1d(borders, commas))
    widths = np.array([len(character.encode()) for character in code])
    at = np.append(0, np.cumsum(widths))
    borders = np.append(0, ends(code))
    spans = [match.span() for match in re.finditer(r"(?<![\w'\"])[^\W\d]\w+(?![\w'\"])", code)]
    whole = [
        any(at[first] in borders for first in ((start, start - 1) if spaced else (start,)))
        and at[end] in borders
        and not np.any((borders > at[start]) & (borders < at[end]))
        for start, end in spans
        for spaced in [start > 0 and code[start - 1] == " "]
    ]
    indents = [match.span() for match in re.finditer(r"(?m)^[ \t]{2,}(?=\S)", code)]
    kept = [not np.any((borders > at[a]) & (borders < at[b] - 1)) for a, b in indents]
    widths = np.array([len(character.encode()) for character in text])
    firsts, inner = np.cumsum(widths) - widths, ends(text)
    beyond = widths > 1
    cut = [
        np.any((inner > first) & (inner < first + width))
        for first, width in zip(firsts[beyond], widths[beyond], strict=True)
    ]
    shares = [float(np.mean(each)) for each in (whole, kept, cut)]
    return [len(cuts), right / 600, 2 * common / (found + wanted), *shares]


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_the_figures_are_the_definitions_written_out(digits: int) -> None:
    text = "Grüße an 東京, αβγ 🙂 naïve café"
    words = [f"{n:0{digits}}" for n in range(0, 10**digits, 2)]
    names = ("def", " self", "value", " values", "    ", "é", "東")
    for tokenizer in (gpt2().truncated(300 * digits), of_pairs(*words, *names, cut="gpt2")):
        found = bpe.structure(tokenizer, text).to_dict()
        figures = [value for name, value in found.items() if name != "examples"]
        assert figures == pytest.approx(numpy_figures(tokenizer, text, Structure.CODE))


def test_the_command_prints_the_figures_of_each(tmp_path: Path) -> None:
    text, code = tmp_path / "text.txt", tmp_path / "code.py"
    text.write_text("Grüße", encoding="utf-8")
    code.write_text("hug = 1\n", encoding="utf-8")
    bpe.save(of_pairs(), tmp_path / "own.json")
    given = (tmp_path / "own.json", "--text", text, "--code", code)
    printed = json.loads(run("structure", "gpt2", *given, "--json").stdout)
    wanted = [bpe.structure(each, "Grüße", "hug = 1\n") for each in (gpt2(), of_pairs())]
    assert [
        {name: value for name, value in row.items() if name != "tokenizer"}
        for row in printed["tokenizers"]
    ] == [each.to_dict() for each in wanted]
    lines = run("structure", *given).stdout.splitlines()
    assert lines[1].split()[-1] == f"{wanted[1].number_cuts}"
    assert [line.split()[-1] for line in lines if line.startswith("indentations")] == ["-"]
    failed = run("structure", "gpt2", "--text", "-", "--code", "-")
    assert (failed.exit_code, "standard input" in failed.output) == (1, True)


def test_code_repeated_often_has_the_same_shares() -> None:
    once, often = (bpe.structure(gpt2(), "", Structure.CODE * n) for n in (1, 40))
    assert often.identifiers_whole == pytest.approx(once.identifiers_whole)
    assert often.indentation_whole == pytest.approx(once.indentation_whole)


def test_the_figures_are_json_and_the_page_explains_each() -> None:
    found = bpe.structure(gpt2()).to_dict()
    page = (ROOT / "docs" / "check.md").read_text("utf-8")
    assert [name for name in found if f"`{name}`" not in page] == []
    assert found["number_cuts"] > 4
    with pytest.raises(bpe.InvalidTextError):
        bpe.structure(gpt2(), "\ud800")
