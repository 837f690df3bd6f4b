"""The check of a sample compares trainings on parts of it, and proposes a better cut."""

from __future__ import annotations

import random
from concurrent.futures import CancelledError
from dataclasses import replace

import pytest

import bpe_core as bpe
from bpe_core.corpus import load_sample
from bpe_core.trainers import tokens_by_cut
from ui.train.cuts import find_better
from ui.train.presets import CUTS


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


# Which pre-tokenizer suits a text: exact figures of trainings with each


TRAINING, HELD_OUT = load_sample("alice").split(0.08)
CONFIG = bpe.TrainingConfig(600, pretokenizer="none")


def test_the_figures_are_those_of_a_training_with_each_cut() -> None:
    found = tokens_by_cut(TRAINING, HELD_OUT, CONFIG, CUTS)
    assert list(found) == list(CUTS)
    for cut, n_tokens in found.items():
        tokenizer = bpe.train(TRAINING, replace(CONFIG, pretokenizer=cut)).tokenizer
        assert n_tokens == sum(len(tokenizer.encode(text)) for text in HELD_OUT.documents)
    assert len(set(found.values())) > 1


def test_a_stopped_check_has_no_figures() -> None:
    with pytest.raises(CancelledError):
        tokens_by_cut(TRAINING, HELD_OUT, CONFIG, CUTS, should_stop=lambda: True)


@pytest.mark.parametrize(
    ("tokens", "found"),
    [
        ({"gpt2": 1_000, "cl100k": 900, "llama3": 830}, ("llama3", 0.17)),
        ({"gpt2": 1_000, "cl100k": 991}, None),
        ({"gpt2": 1_000, "cl100k": 1_500}, None),
    ],
)
def test_only_a_cut_that_saves_enough_is_named(
    tokens: dict[str, int], found: tuple[str, float] | None
) -> None:
    assert find_better(tokens, "gpt2") == found
