"""Runs that the player's tests share: ordinary and odd ones."""

from __future__ import annotations

from functools import cache

from bpe_core.corpus.corpus import Corpus
from bpe_core.runs.run import TrainingRun
from bpe_core.runs.train import train
from bpe_core.types import TrainingConfig
from ui.storage.run_store import SAMPLE_RUN_ID, load_run

CLASSROOM = TrainingConfig(
    18,
    pretokenizer="none",
    base="characters",
    end_of_word="</w>",
    special_tokens=(),
    tie_break="first-seen",
)
_TRAINED_ON = {
    "hug": (
        Corpus.from_word_counts({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}),
        CLASSROOM,
    ),
    "none": (Corpus.from_text("hello there"), TrainingConfig(257)),
    "hebrew": (
        Corpus.from_text("שלום לכולם ילד ילדים הילד הילדים ספר ספרים " * 3),
        TrainingConfig(
            60, pretokenizer="whitespace", base="characters", alphabet="seen", end_of_word="</w>"
        ),
    ),
    "scripts": (
        Corpus.from_text("שלום לכולם שלום سلام می‌روم नमस्ते क्षेत्र 日本語 日本 " * 3),
        TrainingConfig(275),
    ),
}


@cache
def run_to_play(name: str) -> TrainingRun:
    """Return a run by its name; "sample" is the app's own, with 3,839 merges."""
    if name == "sample":
        return load_run(SAMPLE_RUN_ID).run
    corpus, config = _TRAINED_ON[name]
    return train(corpus, config)
