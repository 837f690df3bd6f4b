"""An adapted tokenizer is judged by held-out text, or else by the training text."""

from __future__ import annotations

import numpy as np

from bpe_core.corpus.corpus import Corpus
from ui.adapt.judged import HELD_OUT, TRAINING, judged


def test_a_held_out_part_judges_unless_it_is_empty() -> None:
    whole = Corpus.from_text("hug")
    same, empty = whole.split(0.0, seed=0)
    assert empty.n_bytes == 0
    assert judged(whole, same) == (HELD_OUT, whole)
    assert judged(empty, same) == (TRAINING, same)


def test_a_held_out_part_without_tokens_does_not_judge() -> None:
    tokens = np.array([9, 7])
    assert judged(np.zeros(2, np.int64), tokens) == (TRAINING, tokens)
    assert judged(tokens, np.zeros(2, np.int64)) == (HELD_OUT, tokens)
