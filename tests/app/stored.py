"""Store small runs, for pages to open."""

from __future__ import annotations

from typing import Any

import bpe_core as bpe
from ui.storage import Trained, store_run

_, NOTHING_HELD_OUT = bpe.Corpus.from_text("x").split(0.0)


def store(run: bpe.TrainingRun, title: str = "Hugs", **details: Any) -> str:
    """Store a run without held-out text, and return its id."""
    return store_run(Trained(title, run, NOTHING_HELD_OUT, **details))


def store_hugs(title: str = "Hugs", vocab_size: int = 260, **settings: Any) -> str:
    """Store a run on two words, and return its id."""
    return store(bpe.train(["hug hugs"], vocab_size=vocab_size, **settings), title)
