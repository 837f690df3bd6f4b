"""Figures and intervals equal ones worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

import bpe_core as bpe
from bpe_core.comparison import Blocks, gini, relative_costs
from bpe_core.comparison.comparison import vocabulary_overlap
from bpe_core.comparison.intervals import intervals, percent_fewer
from bpe_core.comparison.measurement import renyi_efficiency
from bpe_core.comparison.text_map import TextMap, ratio
from bpe_core.corpus import HeldOut
from bpe_core.errors import ConfigError


def spans(*pieces: str) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([len(piece.encode()) for piece in pieces])
    return ends - [len(piece.encode()) for piece in pieces], ends


def test_ratios_are_plain_quotients_and_nan_without_tokens() -> None:
    assert ratio(9, 4) == 2.25
    assert math.isnan(ratio(9, 0))


def test_a_text_without_words_has_no_fertility() -> None:
    for text in ("", "!?", " "):
        counts = TextMap(text).word_counts(spans(text)[1])
        assert math.isnan(counts.tokens_per_word)
        assert math.isnan(counts.share_of_words_whole)


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
    # -log(2**-2.5 + 2 * 4**-2.5) / 1.5, of log 4: 2**-2.5 + 2**-4 is 0.23928.
    assert renyi_efficiency(counts, vocab_size=4) == pytest.approx(
        math.log(2**-2.5 + 2**-4) / -1.5 / math.log(4)
    )
    assert renyi_efficiency(counts, vocab_size=4) == pytest.approx(0.68775, abs=1e-5)
    assert str(renyi_efficiency(np.array([7]), vocab_size=4)) == "0.0"
    assert math.isnan(renyi_efficiency(np.array([0, 0]), vocab_size=4))


def test_an_undefined_renyi_efficiency_is_refused() -> None:
    for vocab_size in (1, 2):
        with pytest.raises(ConfigError):
            renyi_efficiency(np.array([1, 1, 1]), vocab_size=vocab_size)


def test_parity_is_relative_to_the_reference() -> None:
    assert relative_costs({"en": 4, "th": 10, "xx": 0}, "en") == {"en": 1.0, "th": 2.5, "xx": 0.0}
    for reference in ("fr", "xx"):
        with pytest.raises(ConfigError, match=r"Choose one of 'en'\."):
            relative_costs({"en": 4, "xx": 0}, reference)
    with pytest.raises(ConfigError, match="Neither 'en' nor any other"):
        relative_costs({"en": 0, "xx": 0}, "en")


def test_gini_by_hand() -> None:
    assert gini([3, 3]) == 0
    # Mean absolute difference of (1, 3) over all four pairs is 1; over twice the mean, 1/4.
    assert gini([1, 3]) == pytest.approx(0.25)
    assert gini([3, 1]) == gini([1, 3]) == pytest.approx(gini([10, 30]))
    for costs in ([], [0, 0], [-1, 2], [math.nan]):
        with pytest.raises(ConfigError):
            gini(costs)


# Bootstrap intervals equal those of a naive twin and a known case, and cover the true figure


def naive_interval(own: list[int], theirs: list[int], n_resamples: int) -> tuple[float, float]:
    generator = np.random.default_rng(Blocks.SEED)
    figures = []
    for _ in range(n_resamples):
        a = b = 0
        for unit in generator.integers(len(own), size=len(own) - 1):
            a += own[unit]
            b += theirs[unit]
        figures.append(100 * (1 - a / b))
    figures.sort()
    return percentile(figures, 0.025), percentile(figures, 0.975)


def percentile(ordered: list[float], share: float) -> float:
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


@pytest.mark.parametrize("n_units", [HeldOut.MIN_UNITS, 37, 150])
def test_the_intervals_are_those_of_a_naive_twin(n_units: int) -> None:
    generator = np.random.default_rng(n_units)
    own = generator.integers(5, 60, size=(n_units, 3))
    theirs = generator.integers(5, 60, size=(n_units, 3))
    found = intervals(own, theirs, n_resamples=200)
    for column in range(3):
        twin = naive_interval(own[:, column].tolist(), theirs[:, column].tolist(), 200)
        assert found[column] == pytest.approx(twin)


def test_units_that_are_all_alike_leave_no_doubt() -> None:
    (found,) = intervals(np.full((20, 1), 3), np.full((20, 1), 4))
    assert found.tolist() == pytest.approx([25.0, 25.0], rel=1e-12)


@pytest.mark.parametrize("n_units", [20, 60, 200])
def test_about_95_of_100_intervals_have_the_true_figure_in_them(n_units: int) -> None:
    # Units of unequal size, and of two sorts of text on which the gains differ.
    generator = np.random.default_rng(7)
    n_texts = 400
    covered = 0
    for _ in range(n_texts):
        theirs = generator.gamma(4, 50, size=n_units)
        is_code = generator.random(n_units) < 0.3
        own = theirs * np.where(is_code, 0.4, 0.9) * generator.normal(1, 0.1, size=n_units)
        truth = 100 * (1 - (0.3 * 0.4 + 0.7 * 0.9))
        ((low, high),) = intervals(column(own), column(theirs), n_resamples=400)
        covered += bool(low <= truth <= high)
    # Percentile intervals of few units are known to be a little too narrow.
    assert (0.90 if n_units < 30 else 0.925) <= covered / n_texts <= 0.98


def column(counts: NDArray[np.float64]) -> NDArray[np.int64]:
    return counts.round().astype(np.int64)[:, None]


def test_too_few_units_and_empty_counts_have_no_interval() -> None:
    few = np.full((HeldOut.MIN_UNITS - 1, 1), 5)
    assert np.isnan(intervals(few, few)).all()
    units = np.zeros((100, 2), np.int64)
    units[:, 0] = 5
    units[: HeldOut.MIN_UNITS - 1, 1] = 5
    found = intervals(units, units)
    assert found[0].tolist() == [0, 0]
    assert np.isnan(found[1]).all()


def test_a_count_of_theirs_that_is_often_zero_has_no_interval() -> None:
    own, theirs = np.full((40, 1), 5), np.zeros((40, 1), np.int64)
    theirs[0] = 9
    assert np.isnan(intervals(own, theirs)).all()
    assert math.isnan(percent_fewer(own.sum(axis=0), np.array([0]))[0])


@pytest.mark.slow
def test_strata_are_resampled_apart() -> None:
    # Two kinds of text on which the gains differ: their shares are fixed, so only what varies
    # within each adds doubt.
    generator = np.random.default_rng(2)
    n_units = 400
    strata = np.arange(n_units) % 2
    own = (np.where(strata == 0, 400, 900) + generator.normal(0, 30, n_units)).round()
    theirs = np.full((n_units, 1), 1_000)
    (apart,) = intervals(own.astype(np.int64)[:, None], theirs, strata, n_resamples=20_000)
    error = 1.96 * 100 * 30 / 1_000 / math.sqrt(n_units)
    figure = percent_fewer(own.sum(keepdims=True), theirs.sum(keepdims=True)[0])[0]
    assert apart == pytest.approx([figure - error, figure + error], abs=0.03)
    (together,) = intervals(own.astype(np.int64)[:, None], theirs)
    assert together[1] - together[0] > 5 * (apart[1] - apart[0])


def test_renyi_by_hand_and_as_tokenization_scorer_computes_it():
    # tokenization_scorer.score([text.split()], metric="renyi", power=...) of tokenization-scorer
    # 1.1.8. Its documented example, 0.8031528501359657, is with its default of power 3.
    text = "pick @@ed pick @@l @@ed pick @@les"
    golden = {2: 0.8539096242533448, 2.5: 0.8265064834225245, 3: 0.8031528501359657}
    for alpha, expected in golden.items():
        assert bpe.renyi(text, alpha) == bpe.renyi(text.split(), alpha) == pytest.approx(expected)
    assert bpe.renyi(text) == bpe.renyi(text, alpha=2.5)
    assert bpe.renyi([1, 1, 2], 1) == pytest.approx(0.9182958340544896)  # Shannon's, by hand
    assert bpe.renyi([1, 1, 2], math.inf) == pytest.approx(-math.log2(2 / 3))
    for large in (2e3, 1e29):  # powers of 2/3 underflow
        limit = large / (large - 1) * -math.log2(2 / 3)
        assert bpe.renyi([1, 1, 2], large) == pytest.approx(limit)
    assert bpe.renyi([1, 2], 0) == bpe.renyi([1, 2, 3]) == 1
    assert bpe.renyi([5, 5]) == 0
    assert math.isnan(bpe.renyi([]))
    for tokens, alpha, size in (([1, 2], -1, None), ([1, 2, 3], 2.5, 2), ([1], 2.5, 1)):
        with pytest.raises(bpe.ConfigError):
            bpe.renyi(tokens, alpha, size)


def test_renyi_of_a_tokenizer_equals_that_of_its_comparison():
    text = "the bare bytes of the bare text"
    (row,) = bpe.compare(text, ["gpt2"]).rows
    assert bpe.renyi(bpe.gpt2().encode(text), vocab_size=50_257) == row.renyi_efficiency


def test_dead_tokens_are_those_that_encoding_never_uses():
    run = bpe.train(["hug hugs hugging"], vocab_size=262, special_tokens=("<s>",))
    used = {id for text in ("hug", "hugs") for id in run.tokenizer.encode(text)}
    dead = bpe.dead_tokens(run, ["hug", "hugs"])
    assert {*dead} == {*run.tokenizer.vocab} - used - {*run.tokenizer.special_tokens.values()}
    assert list(dead) == sorted(dead)
