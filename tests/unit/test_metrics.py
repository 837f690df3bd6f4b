"""Each figure equals one worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bpe_core.comparison.metrics import (
    bytes_per_token,
    characters_per_token,
    gini,
    parity,
    renyi_efficiency,
    vocabulary_overlap,
)
from bpe_core.comparison.text_map import KindCounts, TextMap, WordTotals, count_kinds
from bpe_core.errors import ConfigError


def spans(*pieces: str) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([len(piece.encode()) for piece in pieces])
    return ends - [len(piece.encode()) for piece in pieces], ends


def test_ratios_are_plain_quotients_and_nan_without_tokens() -> None:
    assert bytes_per_token(9, 4) == 2.25
    assert characters_per_token(6, 4) == 1.5
    assert math.isnan(bytes_per_token(9, 0))
    assert math.isnan(characters_per_token(9, 0))


def test_words_are_runs_of_letters_marks_and_numbers() -> None:
    pieces = ["don", "'", "t", " stop", " la", "bel", "_", "2", "!", "नमस्ते"]
    counts = TextMap("".join(pieces)).word_counts(spans(*pieces)[1])
    # don, t, stop, label, 2, नमस्ते; only "label" is cut.
    assert counts == WordTotals(n_words=6, n_word_tokens=7, n_whole_words=5)
    assert counts.tokens_per_word == 7 / 6
    assert counts.share_of_words_whole == 5 / 6


def test_a_token_that_covers_two_words_cuts_neither() -> None:
    assert TextMap("of the").word_counts(spans("of the")[1]) == WordTotals(2, 2, 2)


def test_a_cut_within_a_character_cuts_its_word() -> None:
    assert TextMap("é").word_counts(np.array([1, 2])) == WordTotals(1, 2, 0)


def test_a_text_without_words_has_no_fertility() -> None:
    for text in ("", "!?", " "):
        counts = TextMap(text).word_counts(spans(text)[1])
        assert math.isnan(counts.tokens_per_word)
        assert math.isnan(counts.share_of_words_whole)


def test_word_counts_can_be_added_and_weighted() -> None:
    assert WordTotals(1, 2, 0) + WordTotals(3, 3, 3) * 2 == WordTotals(7, 8, 6)


def test_a_token_has_the_kind_of_its_most_wordlike_character() -> None:
    pieces = [" the", "!", " ", "\n\n", " +", "😀", "42", "\u0301", "漢"]
    kinds = TextMap("".join(pieces)).token_kinds(*spans(*pieces))
    assert count_kinds(kinds) == KindCounts(4, 3, 2)


def test_a_part_of_a_character_has_the_kind_of_the_character() -> None:
    starts = np.array([0, 1, 3, 4])
    kinds = TextMap("é😀").token_kinds(starts, np.array([1, 3, 4, 6]))
    assert count_kinds(kinds) == KindCounts(2, 2, 0)


def test_overlap_compares_bytes_and_exclusive_tokens_are_in_no_other_vocabulary() -> None:
    overlap = vocabulary_overlap(
        [frozenset({b"a", b"b", b"c"}), frozenset({b"a", b"c"}), frozenset({b"a", b"d"})]
    )
    assert overlap.shared == {b"a"}
    assert overlap.exclusive == ({b"b"}, frozenset(), {b"d"})
    with pytest.raises(ConfigError):
        vocabulary_overlap([])


def test_renyi_efficiency_by_hand() -> None:
    counts = np.array([2, 1, 1, 0])
    # Order 2: -log(1/4 + 1/16 + 1/16) / log 4 = log(8/3) / log 4
    assert renyi_efficiency(counts, vocab_size=4, alpha=2) == pytest.approx(
        math.log(8 / 3) / math.log(4)
    )
    # Order 1 is Shannon's: 1.5 bits of 2.
    assert renyi_efficiency(counts, vocab_size=4, alpha=1) == pytest.approx(0.75)
    # Order infinity depends only on the most frequent token: 1 bit of 2.
    assert renyi_efficiency(counts, vocab_size=4, alpha=math.inf) == pytest.approx(0.5)
    # Order 0 counts types: log 3 / log 4.
    assert renyi_efficiency(counts, vocab_size=4, alpha=0) == pytest.approx(
        math.log(3) / math.log(4)
    )
    assert str(renyi_efficiency(np.array([7]), vocab_size=4)) == "0.0"
    assert math.isnan(renyi_efficiency(np.array([0, 0]), vocab_size=4))


def test_an_undefined_renyi_efficiency_is_refused() -> None:
    for vocab_size, alpha in [(1, 2.5), (4, -1.0), (2, 2.5)]:
        with pytest.raises(ConfigError):
            renyi_efficiency(np.array([1, 1, 1]), vocab_size=vocab_size, alpha=alpha)


def test_parity_is_relative_to_the_reference() -> None:
    assert parity({"en": 4, "th": 10, "xx": 0}, "en") == {"en": 1.0, "th": 2.5, "xx": 0.0}
    for reference in ("fr", "xx"):
        with pytest.raises(ConfigError, match=r"Choose one of 'en'\."):
            parity({"en": 4, "xx": 0}, reference)
    with pytest.raises(ConfigError, match="Neither 'en' nor any other"):
        parity({"en": 0, "xx": 0}, "en")


def test_gini_by_hand() -> None:
    assert gini([3, 3]) == 0
    # Mean absolute difference of (1, 3) over all four pairs is 1; over twice the mean, 1/4.
    assert gini([1, 3]) == pytest.approx(0.25)
    assert gini([3, 1]) == gini([1, 3]) == pytest.approx(gini([10, 30]))
    for costs in ([], [0, 0], [-1, 2], [math.nan]):
        with pytest.raises(ConfigError):
            gini(costs)
