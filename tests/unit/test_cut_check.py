"""Which pre-tokenizer suits a text: exact figures of trainings with each."""

from __future__ import annotations

from concurrent.futures import CancelledError
from dataclasses import replace

import pytest

import bpe_core as bpe
from bpe_core.corpus.samples import load_sample
from bpe_core.runs.sample_check import tokens_by_cut
from ui.train.best_cut import find_better
from ui.train.presets import CUTS

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
