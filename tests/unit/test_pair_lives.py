"""Lives of pairs in real runs, and edge cases."""

from __future__ import annotations

import numpy as np
import pytest

import bpe_core as bpe
from bpe_core.runs.pair_lives import PairLife, PairLives


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
