"""The sentence for each reason why training stops, by itself and on the result card."""

from __future__ import annotations

import pytest

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.stop_reasons import stop_sentence
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from ui.train.result_card import result_sentence

CASES = [
    (
        TrainingConfig(258),
        "It stopped because the vocabulary reached 258.",
        "1 merge. {} The last pair still occurred 10 times.",
    ),
    (
        TrainingConfig(300),
        "It stopped because no pair was left to merge.",
        "4 merges. {} The vocabulary has 261 tokens.",
    ),
    (
        TrainingConfig(300, max_token_bytes=2),
        "It stopped because no pair was left to merge into a token of at most 2 bytes.",
        "2 merges. {} The vocabulary has 259 tokens.",
    ),
    (
        TrainingConfig(300, min_frequency=6),
        "It stopped because no pair occurs 6 times any longer.",
        "2 merges. {} The vocabulary has 259 tokens.",
    ),
    (
        TrainingConfig(259),
        "It stopped because the vocabulary reached 259.",
        "2 merges. {} The last pair still occurred 9 times.",
    ),
    (
        TrainingConfig(257),
        "It stopped because the vocabulary reached 257.",
        "0 merges. {}",
    ),
]
CORPUS = Corpus.from_word_counts({"hug": 9, "hu": 1, "abc": 3})


@pytest.mark.parametrize(("config", "reason", "result"), CASES)
def test_each_stop_reason_has_a_sentence(config: TrainingConfig, reason: str, result: str) -> None:
    run = train(CORPUS, config)
    assert stop_sentence(run) == reason
    assert result_sentence(run) == result.format(reason)


def test_a_cancelled_run_has_a_sentence() -> None:
    run = train(Corpus.from_text("hug"), TrainingConfig(257), should_stop=lambda: True)
    assert stop_sentence(run) == "It was cancelled."
    assert result_sentence(run) == ("0 merges. It was cancelled. The vocabulary has 257 tokens.")
