"""Print the game's levels, and what bpe_core learns on the first, for its tests in Node."""

from __future__ import annotations

import json
import sys

import bpe_core as bpe
from ui.components import game_data

if __name__ == "__main__":
    page, _ = game_data()["levels"]
    config = bpe.TrainingConfig(
        256 + page["most"], pretokenizer="gpt2", special_tokens=(), tie_break="smallest-pair"
    )
    run = bpe.train(bpe.Corpus.from_text(page["text"]), config)
    vocab = run.tokenizer.vocab
    bpes = [[vocab[merge.left].decode(), vocab[merge.right].decode()] for merge in run.merges]
    found = {"data": game_data(), "bpe": bpes, "after": int(run.tokens_after[-1])}
    json.dump(found, sys.stdout)
