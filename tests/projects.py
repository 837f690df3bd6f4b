"""A corpus of folders that are unlike each other, to hold text out of."""

from __future__ import annotations

import random


def projects() -> dict[str, str]:
    """Make documents of forty folders; each folder has words that no other has."""
    draw = random.Random(0)
    documents: dict[str, str] = {}
    for folder in range(40):
        own = ["".join(draw.choices("abcdefghijklmnop", k=9)) for _ in range(20)]
        for file in range(10):
            words = draw.choices([*own, "the", "of", "and", "in", "is"], k=100)
            documents[f"{folder}/{file}.txt"] = " ".join(words)
    return documents
