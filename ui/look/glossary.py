"""Define the terms of byte-pair encoding for a lay reader: tooltips of the pages.

docs/glossary.md holds the same definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOKEN: Final = (
    "A token is a piece of text with its own number, its id: a single byte, part of a word, or a "
    "whole word. A language model reads tokens, not letters."
)
PRE_TOKEN: Final = (
    "A pre-token is a piece of text, mostly a word with the space before it, that is cut off "
    "before training. No merge joins parts of two pre-tokens."
)
HELD_OUT_TEXT: Final = (
    "Held-out text is part of the corpus that training never sees. It shows how well the tokenizer "
    "works on new text."
)
SPECIAL_TOKEN: Final = (
    "A special token is a marker such as <|endoftext|> that a model gives a meaning of its own. It "
    "is never split, and never part of a merge."
)
MERGE: Final = (
    "A merge joins two neighbouring tokens into one new token, wherever they stand side by side. "
    "Training learns one merge at a time, always of the most frequent pair."
)
TIE: Final = (
    "A tie is a step at which several pairs are equally frequent. A fixed rule then decides which "
    "of them is merged."
)

GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Token": TOKEN,
        "Pre-token": PRE_TOKEN,
        "Held-out text": HELD_OUT_TEXT,
        "Special token": SPECIAL_TOKEN,
        "Merge": MERGE,
        "Tie": TIE,
    }
)
"""Each term with its definition, in the order in which a reader meets them."""
