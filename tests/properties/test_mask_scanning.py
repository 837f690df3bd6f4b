"""Scanning by masks cuts as the patterns do, on any processor, and each mask matters."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from bpe_core.kernels import intrinsics, mask_scanning, scanning
from bpe_core.kernels.compiling.load import X86_64_V3
from bpe_core.kernels.mask_scanning import BEFORE_SPACES
from bpe_core.pretokenizers import SCANNERS, get_pretokenizer
from bpe_core.pretokenizers.scanners import get_scanner
from tests import scanned
from tests.new_process import run_python

BY_CLASSES = [
    name
    for name in SCANNERS
    if not get_scanner(name).rules & (BEFORE_SPACES | mask_scanning.BY_AUTOMATON)
]

WORDS = ("a", "b", "S", "sT", "it", "Bar", "fooBar", "HTTPServer", "the ", "word, ", "x" * 30)
CONTRACTIONS = ("'s", "'S", "'ll", "'LL", "'re", "'", "''", "'st", "n't", "\"'d")
SPACES = (" ", "   ", " " * 20, "\t", "\n", "\r\n", "\n\n", "\n    ", "  \n", " \n \n ", "\x0b")
NO_WORDS = (
    "1",
    "12",
    "1234567",
    "3.14",
    "_",
    "-",
    "!",
    "..",
    "/",
    "//",
    "\n/",
    ";\n//\n(",
    "=" * 25,
)
ASCII = (*WORDS, *CONTRACTIONS, *SPACES, *NO_WORDS)
WIDE = ("é", "été", "É", "Ночь", "ДОм", "א", "ªº", "ǅ", "ʰ", "ſ", "×", "²", "٣", "\xa0", "\u0301")
RARE = ("日本", "\u3000", "\x00", "\x7f", "\x1c")
OTHERS = (*WIDE, *RARE)


def drawn_texts(n: int, seed: int) -> Iterator[str]:
    """Draw texts of a few windows each, half of them of few kinds of pieces."""
    drawn = random.Random(seed)
    for i in range(n):
        pieces = ASCII + OTHERS if i % 3 == 0 else ASCII
        if i % 2:
            pieces = drawn.sample(pieces, drawn.randint(2, 10))
        yield "".join(drawn.choices(pieces, k=drawn.randint(10, 120)))


def check(n: int, seed: int) -> None:
    """Compare each named scanner with its pattern, in windows that end at any byte."""
    for i, text in enumerate(drawn_texts(n, seed)):
        for name in SCANNERS:
            pretokenizer = get_pretokenizer(name)
            expected = pretokenizer.split(text)
            for room in (64 + i % 150, 8192):
                found = scanned.scan(text, pretokenizer, room)
                assert found == expected, (name, room, text)


@pytest.mark.slow
def test_scanners_cut_thousands_of_texts_as_the_patterns_do() -> None:
    check(2_000, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("processor", [X86_64_V3, "x86-64"])
def test_masks_are_the_same_with_shorter_vectors(processor: str) -> None:
    code = "from tests.properties.test_mask_scanning import check; check(300, seed=2)"
    environment = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": ""}
    run_python(code, environment)


def by_masks(name: str, data: NDArray[np.uint8], ends: NDArray[np.int64]) -> tuple[int, int]:
    scanner = get_scanner(name)
    with np.errstate(over="ignore"):
        return mask_scanning.scan_by_masks(data, 0, len(data), scanner.rules, scanner.classes, ends)


def ends_by_masks(name: str, text: str) -> list[int]:
    """Return the ends that the masks find by themselves, in plain Python."""
    data = np.frombuffer(text.encode(), np.uint8)
    ends = np.empty(len(data), np.int64)
    n, _ = by_masks(name, data, ends)
    return ends[:n].tolist()


LINES = (
    "def f(x):\n    return 'It\\'s' + \"we'LL\"\n  \n\t# HTTPServer's fooBar_9;\n//\n(1234567)"
    " +  12 -- don't\r\n\n\n{[(a)]};\r  'twas   \n" + "The end of the text, 3.14 and so on. " * 3
)


@pytest.mark.parametrize("name", BY_CLASSES)
def test_masks_alone_cut_ascii_nearly_to_its_end(name: str) -> None:
    ends = ends_by_masks(name, LINES)
    pieces = [abs(end) for end in ends]
    dropped = {abs(end) for end in ends if end < 0}
    assert len(LINES) - pieces[-1] < intrinsics.BYTES
    found = [LINES[a:b] for a, b in zip([0, *pieces], pieces, strict=False) if b not in dropped]
    # Masks count threes from the left; `scanning` moves the ends.
    cut = get_pretokenizer("llama3" if name == "digits-from-right" else name)
    assert found == cut.split(LINES)[: len(found)]


def test_letters_of_two_bytes_are_cut_by_masks_and_other_wide_ones_are_not() -> None:
    words = "L'été à Москве: ΑΒγ dÉjà_vu "
    for name in BY_CLASSES:
        found = ends_by_masks(name, words * 4)
        assert bool(found) is (name != "deepseek-v3")
        expected = [piece.encode() for piece in get_pretokenizer(name).split(words * 4)]
        data, begin = (words * 4).encode(), 0
        for stop in found:
            assert stop < 0 or data[begin:stop] == expected.pop(0)
            begin = abs(stop)


@pytest.mark.parametrize(
    "kind", ["AZ", "az", "09", "  ", "\t\r", "!~", "\n\n", "\r\r", "//", "''", "__"]
)
def test_each_mask_matters(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def found() -> list[list[int]]:
        return [ends_by_masks(name, LINES) for name in BY_CLASSES]

    def without_kind(text: object, at: int, low: int, high: int) -> np.uint64:
        mask = intrinsics.bytes_between(text, at, low, high)  # pyright: ignore[reportArgumentType]
        return np.uint64(0) if (chr(low), chr(high)) == tuple(kind) else mask

    expected = found()
    monkeypatch.setattr(mask_scanning, "bytes_between", without_kind)
    assert found() != expected


def test_what_masks_do_not_suit_is_left_to_the_automaton() -> None:
    for text in ("a" * 100, " " * 100, "é" * 50, "日 " * 25, "a\x00" * 50, "a b " * 15):
        data = np.frombuffer(text.encode(), np.uint8)
        assert by_masks("gpt2", data, np.empty(100, np.int64)) == (0, 0)
    assert scanning.BYTES == intrinsics.BYTES
