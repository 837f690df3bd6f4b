"""The figures of the Pair frequencies page, compared with slow and simple recounts."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.trainers import PairLife, PairLives, TrainingRun, steps_to_draw
from bpe_core.trainers.statistics import bytes_per_token, elbow, pair_matrix, rank_frequency

pair_counts = st.dictionaries(
    st.tuples(st.integers(0, 20), st.integers(0, 20)), st.integers(1, 40), max_size=60
)

SEA = "she sells sea shells by the sea shore; the shells she sells are sea shells, surely. " * 3


@given(pair_counts, st.integers(1, 8))
def test_the_matrix_has_the_count_of_each_of_its_pairs(counts, size):
    matrix = pair_matrix(counts, size)
    for row, left in enumerate(matrix.left):
        for column, right in enumerate(matrix.right):
            assert matrix.counts[row, column] == counts.get((left, right), 0)
    assert matrix.counts.shape == (len(matrix.left), len(matrix.right))


@given(pair_counts, st.integers(1, 8))
def test_no_symbol_outside_the_matrix_is_more_frequent_than_one_inside(counts, size):
    matrix = pair_matrix(counts, size)
    within_rows = {pair: n for pair, n in counts.items() if pair[0] in matrix.left}
    for side, chosen, among in ((0, matrix.left, counts), (1, matrix.right, within_rows)):
        totals: Counter[int] = Counter()
        for pair, count in among.items():
            totals[pair[side]] += count
        assert [totals[s] for s in chosen] == sorted(totals.values(), reverse=True)[:size]


@given(pair_counts.filter(bool), st.integers(1, 8), st.data())
def test_the_requested_pair_is_always_in_the_matrix(counts, size, data):
    wanted = data.draw(st.sampled_from(sorted(counts)))
    matrix = pair_matrix(counts, size, including=wanted)
    assert wanted[0] in matrix.left
    assert wanted[1] in matrix.right
    assert len(matrix.left) == min(size, len({left for left, _ in counts}))


def test_the_matrix_of_a_run_without_pairs_is_empty():
    matrix = pair_matrix({})
    assert (matrix.left, matrix.right, matrix.counts.size) == ((), (), 0)


def test_a_matrix_of_size_zero_is_refused():
    with pytest.raises(bpe.ConfigError, match="size 1 or more, got 0"):
        pair_matrix({(1, 2): 3}, 0)


@given(pair_counts)
def test_every_count_can_be_recovered_from_the_corners_of_the_rank_curve(counts):
    curve = rank_frequency(counts)
    every_rank = np.arange(1, len(counts) + 1)
    drawn = np.interp(every_rank, curve.ranks, curve.counts) if counts else np.array([])
    assert drawn.tolist() == sorted(counts.values(), reverse=True)
    assert curve.n_pairs == len(counts)
    assert curve.n_once == sum(count == 1 for count in counts.values())


def test_bytes_per_token_without_tokens_is_nan():
    assert np.isnan(bytes_per_token(0, [0, 0])).all()


@pytest.mark.parametrize("n_merges", [0, 1, 5, 799, 800, 3_840, 50_000])
def test_drawn_steps_are_few_and_rise_from_the_first_to_the_last(n_merges):
    steps = steps_to_draw(n_merges)
    assert (steps[0], steps[-1]) == (0, n_merges)
    assert len(steps) <= 800
    assert (np.diff(steps) > 0).all()


def test_a_run_without_merges_has_no_winners_to_draw():
    assert steps_to_draw(-1).tolist() == []


def test_a_pair_merged_twice_is_found_from_a_given_step_on():
    merges = [bpe.Merge(0, 1, 2, 9), bpe.Merge(1, 3, 4, 10), bpe.Merge(2, 1, 2, 9)]
    run: Any = SimpleNamespace(merges=merges)
    found = [TrainingRun.next_merges(run, start).get((1, 2)) for start in range(4)]
    assert found == [0, 2, 2, None]


@pytest.mark.parametrize(
    "config",
    [
        bpe.TrainingConfig(vocab_size=300),
        bpe.TrainingConfig(vocab_size=40, base="characters", alphabet="seen", end_of_word="</w>",
                       pretokenizer="whitespace", special_tokens=()),
    ],
    ids=["bytes", "characters"],
)  # fmt: skip
def test_the_vocabulary_after_n_merges_is_that_of_the_truncated_tokenizer(config):
    run = bpe.train(bpe.Corpus.from_text(SEA), config)
    cut = [run.tokenizer.truncated(n).vocab_size for n in range(len(run.merges) + 1)]
    assert len(cut) > 10
    assert run.vocab_size_after.tolist() == cut


def test_a_merge_that_spells_an_older_token_adds_nothing_to_the_vocabulary():
    # (a, a), then both (aa, a) and (a, aa), which spell aaa.
    corpus = bpe.Corpus.from_word_counts({"aaab": 5, "baaa": 4, "aab": 3, "aaa": 9, "caaac": 2})
    config = bpe.TrainingConfig(
        vocab_size=30, base="characters", alphabet="seen", special_tokens=()
    )
    run = bpe.train(corpus, config)
    assert run.vocab_size_after[-1] == run.tokenizer.vocab_size
    cut = [run.tokenizer.truncated(n).vocab_size for n in range(len(run.merges) + 1)]
    assert run.vocab_size_after.tolist() == cut


def test_bytes_per_token_of_a_run_agrees_with_encoding_its_text():
    run = bpe.train(bpe.Corpus.from_text(SEA), bpe.TrainingConfig(vocab_size=280))
    curve = run.curves().training
    for n in (0, 1, len(run.merges)):
        n_tokens = len(run.tokenizer.truncated(n).encode(SEA))
        assert curve[n] == pytest.approx(len(SEA.encode()) / n_tokens)


@given(
    tokens=st.lists(st.integers(0, 10_000), min_size=3, max_size=40),
    scale=st.sampled_from([2, 4, 1_024]),
)
def test_the_elbow_is_the_point_furthest_from_the_chord_in_any_unit(
    tokens: list[int], scale: int
) -> None:
    found = elbow(tokens)
    if tokens[0] == tokens[-1]:
        assert found is None
        return
    assert found is not None
    first, last, n = tokens[0], tokens[-1], len(tokens) - 1
    # Twice the area of the triangle of each point and the chord, proportional to its distance.
    areas = [abs((value - first) * n - (last - first) * i) for i, value in enumerate(tokens)]
    assert areas[found] == pytest.approx(max(areas))
    assert elbow([scale * value for value in tokens]) == found


@pytest.mark.parametrize("values", [[], [5], [5, 3], [4, 4, 4]])
def test_a_curve_without_a_bend_has_no_elbow(values: list[int]) -> None:
    assert elbow(values) is None


# The lives of pairs


def test_a_pair_that_never_occurs_has_no_span() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(vocab_size=259))
    life = PairLives(run).find((0, 0))
    assert life.span is None
    assert not life.counts.any()
    assert not life.ranks.any()
    assert PairLives(run).count_steps((0, 0)) == 0
    assert life.rank_swing == 0


def test_a_pair_never_occurs_in_a_run_without_pairs() -> None:
    run = bpe.train(bpe.Corpus.from_text("h"), bpe.TrainingConfig(vocab_size=259))
    assert PairLives(run).find((1, 2)).counts.tolist() == [0]


@pytest.mark.parametrize("pair", [(-1, 2), (2, -1), (259, 0), (0, 10**30)])
def test_an_id_not_in_the_vocabulary_is_refused(pair: tuple[int, int]) -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(vocab_size=259))
    with pytest.raises(bpe.OutOfRangeError, match="from 0 to 258"):
        PairLives(run).find(pair)


def test_a_life_is_read_only() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(vocab_size=259))
    life = PairLives(run).find((1, 2))
    for values in (life.counts, life.ranks, life.n_tied):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 5


def test_a_pair_can_come_back() -> None:
    none = np.zeros(5, np.int64)
    assert PairLife(np.array([0, 3, 0, 2, 0]), none, none).span == (1, 3)
