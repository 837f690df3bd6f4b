"""The sentence for each reason why training stops, by itself and on the result card."""

from __future__ import annotations

import pytest

import bpe_core as bpe
from ui.train.result_card import result_sentence

CASES = [
    (
        bpe.TrainingConfig(258),
        "It stopped because the vocabulary reached 258.",
        "1 merge. {} The last pair still occurred 10 times.",
    ),
    (
        bpe.TrainingConfig(300),
        "It stopped because no pair was left to merge.",
        "4 merges. {} The vocabulary has 261 tokens.",
    ),
    (
        bpe.TrainingConfig(300, max_token_bytes=2),
        "It stopped because no pair was left to merge into a token of at most 2 bytes.",
        "2 merges. {} The vocabulary has 259 tokens.",
    ),
    (
        bpe.TrainingConfig(300, min_frequency=6),
        "It stopped because no pair occurs 6 times any longer.",
        "2 merges. {} The vocabulary has 259 tokens.",
    ),
    (
        bpe.TrainingConfig(259),
        "It stopped because the vocabulary reached 259.",
        "2 merges. {} The last pair still occurred 9 times.",
    ),
    (
        bpe.TrainingConfig(257),
        "It stopped because the vocabulary reached 257.",
        "0 merges. {}",
    ),
]
CORPUS = bpe.Corpus.from_word_counts({"hug": 9, "hu": 1, "abc": 3})


@pytest.mark.parametrize(("config", "reason", "result"), CASES)
def test_each_stop_reason_has_a_sentence(
    config: bpe.TrainingConfig, reason: str, result: str
) -> None:
    run = bpe.train(CORPUS, config)
    assert run.stop_sentence == reason
    assert result_sentence(run) == result.format(reason)


ONCE = "8 of 9 merges join a pair that occurred only once"
FITS = "a token spells 60% more of the training text than of held-out text"
REMEDY = "Train on more text, or to fewer tokens."


@pytest.mark.parametrize(
    ("text", "gap", "sentence"),
    [
        ("hugging pugs", None, f"Learned by heart: {ONCE}. {REMEDY}"),
        ("hugging pugs", 0.6, f"Learned by heart: {FITS}, and {ONCE}. {REMEDY}"),
        ("hugging pugs", 0.2, ""),
        ("hug " * 9, None, ""),
        (
            "hug " * 9,
            0.6,
            f"A{FITS[1:]}: that was learned by heart in part, or the held-out text is of another "
            f"kind. {REMEDY}",
        ),
        ("h", None, ""),
    ],
)
def test_a_run_that_knows_its_text_by_heart_says_so(
    text: str, gap: float | None, sentence: str
) -> None:
    run = bpe.train([text], vocab_size=300)
    assert run.by_heart_sentence(gap) == sentence


def test_a_cancelled_run_has_a_sentence() -> None:
    run = bpe.train(bpe.Corpus.from_text("hug"), bpe.TrainingConfig(257), should_stop=lambda: True)
    assert run.stop_sentence == "It was cancelled."
    assert result_sentence(run) == ("0 merges. It was cancelled. The vocabulary has 257 tokens.")
