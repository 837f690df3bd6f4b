"""Measure the superwords learned from one text, for docs/trainers.md.

Run: python -m scripts.measure_superwords
"""

from __future__ import annotations

from typing import Final

from tokenizers import Tokenizer

from benchmarks import corpora
from benchmarks.report import table
from bpe_core.formats import dumps
from bpe_core.trainers import is_superword, train
from scripts.measure_trainers import HELD_OUT, MEGABYTES, VOCAB_SIZE

_MAX_CHARACTERS: Final = 200_000
"""Longer documents are not compared with `tokenizers`, which takes long for them."""


def figures(documents: list[str]) -> str:
    """Train with words that join at several sizes, and return a table of what was learned."""
    kept = [text for at, text in enumerate(documents) if at % HELD_OUT]
    held_out = [text for text in documents[::HELD_OUT] if len(text) < _MAX_CHARACTERS]
    rows: list[list[str]] = []
    for superwords_from in (8_000, 16_000, 24_000):
        tokenizer = train(kept, vocab_size=VOCAB_SIZE, superwords_from=superwords_from).tokenizer
        made = [tokenizer.vocab[merge.id] for merge in tokenizer.merges]
        superwords = [token for token in made if is_superword(token)]
        written = dumps(tokenizer, "huggingface")["tokenizer.json"].decode()
        theirs = Tokenizer.from_str(written)
        alike = [
            theirs.encode(text, add_special_tokens=False).ids == tokenizer.encode(text)
            for text in held_out
        ]
        rows.append(
            [
                f"{superwords_from:,}",
                f"{len(superwords) / VOCAB_SIZE:.1%}",
                str(max(len(token.split()) for token in superwords)),
                str(sum(b": " in token for token in superwords)),
                f"{sum(alike)} of {len(alike)}",
            ]
        )
    heads = ["words join after", "superwords", "most words", "colon before a space", "equal ids"]
    return table(heads, rows)


if __name__ == "__main__":
    print(figures(corpora.mixed(MEGABYTES * 1_000_000).documents))
