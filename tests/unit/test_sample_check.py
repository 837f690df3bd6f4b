"""The check of a sample compares trainings on parts of it, up to the training on all of it."""

from __future__ import annotations

import random

import pytest

import bpe_core as bpe


def make_text(n_lines: int, n_words: int) -> bpe.Corpus:
    drawn = random.Random(7)
    words = ["".join(drawn.choices("abcdefgh", k=6)) for _ in range(n_words)]
    lines = (" ".join(drawn.choices(words, k=8)) for _ in range(n_lines))
    return bpe.Corpus.from_text("\n".join(lines))


def test_the_whole_sample_equals_itself_and_its_training() -> None:
    corpus, config = make_text(2_000, 40), bpe.TrainingConfig(330)
    found = bpe.sample_check(corpus, config, n_halvings=3)
    assert [each.share for each in found] == [1 / 8, 1 / 4, 1 / 2, 1]
    assert found[-1].share_of_equal_tokens == 1
    assert found[-1].weighted_jaccard == pytest.approx(1)
    training, held_out = corpus.split(0.08)
    run = bpe.train(training, config)
    expected = held_out.n_bytes / run.tokens_after_on(held_out)[-1]
    assert found[-1].bytes_per_token == pytest.approx(expected)
    assert found[-1].n_bytes == training.n_bytes


def test_few_words_settle_on_a_smaller_part_than_many() -> None:
    config = bpe.TrainingConfig(420)
    few, many = (bpe.sample_check(make_text(2_000, n), config, n_halvings=5) for n in (20, 4_000))
    assert few[0].share_of_equal_tokens > many[0].share_of_equal_tokens
    assert few[0].weighted_jaccard > 0.9 > many[0].weighted_jaccard


def test_text_that_cannot_be_divided_is_refused() -> None:
    with pytest.raises(bpe.ConfigError, match="3 bytes is too small to be divided into 64 parts"):
        bpe.sample_check(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(300))
    with pytest.raises(bpe.ConfigError, match="has words with counts"):
        bpe.sample_check(bpe.Corpus.from_word_counts({"hug": 3}), bpe.TrainingConfig(300))
