"""Runs that the player's tests share: ordinary and odd ones."""

from __future__ import annotations

from functools import cache

import bpe_core as bpe
from ui.storage import SAMPLE_RUN_ID, load_run

CLASSROOM = bpe.TrainingConfig(
    18,
    pretokenizer="none",
    base="characters",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)
_TRAINED_ON = {
    "hug": (
        bpe.Corpus.from_word_counts({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}),
        CLASSROOM,
    ),
    "none": (bpe.Corpus.from_text("hello there"), bpe.TrainingConfig(257)),
    "hebrew": (
        bpe.Corpus.from_text("שלום לכולם ילד ילדים הילד הילדים ספר ספרים " * 3),
        bpe.TrainingConfig(
            60, pretokenizer="whitespace", base="characters", alphabet="seen", end_of_word="</w>"
        ),
    ),
    "scripts": (
        bpe.Corpus.from_text("שלום לכולם שלום سلام می‌روم नमस्ते क्षेत्र 日本語 日本 " * 3),
        bpe.TrainingConfig(275),
    ),
}


@cache
def run_to_play(name: str) -> bpe.TrainingRun:
    """Return a run by its name; "sample" is the app's own, with 3,839 merges."""
    if name == "sample":
        return load_run(SAMPLE_RUN_ID).run
    corpus, config = _TRAINED_ON[name]
    return bpe.train(corpus, config)
