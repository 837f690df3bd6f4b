"""Define the terms of byte-pair encoding for a lay reader: tooltips of the pages.

docs/glossary.md holds the same definitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GLOSSARY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Token": (
            "A token is a piece of text with a number, its id: a single byte, part of a word, or "
            "a whole word. A language model reads tokens, not letters."
        ),
        "Pre-token": (
            "A pre-token is a piece into which text is cut before training, usually a word with "
            "the space before it. No merge crosses the boundary between two pre-tokens."
        ),
        "Held-out text": (
            "Held-out text is text that training never sees: whole folders or documents of the "
            "corpus, because new text comes in new ones, or files of your own. It shows how well "
            "the tokenizer works on new text."
        ),
        "Special token": (
            "A special token is a marker for the model, such as <|endoftext|>, rather than "
            "ordinary text. It is never split and never merged."
        ),
        "Chat template": (
            "A chat template is a small program in a chat model’s files. It writes the text that "
            "the model reads: each message with its role, between special tokens that training "
            "used."
        ),
        "Merge": (
            "A merge joins two neighbouring tokens into one new token, wherever they stand side "
            "by side. Training learns one merge at a time, always of the most frequent pair."
        ),
        "Tie": (
            "A tie is a step at which several pairs are the most frequent. A fixed rule then "
            "decides which of them is merged."
        ),
        "Mark": (
            "A mark is how a tokenizer’s file writes what is not a letter of the text: ▁ for a "
            "space, ## where a word continues, <0xE2> for a single byte. Text that looks like ## "
            "or <0xE2> is ordinary text; some tokenizers read a ▁ in it as a space."
        ),
        "Byte fallback": (
            "Byte fallback is the spelling of rare characters with the tokens of their bytes, "
            "which no merge joins. The most frequent characters, up to a share of the text that "
            "is called the coverage, are base symbols."
        ),
    }
)
"""Each term with its definition, in the order in which a reader meets them."""


def definitions(*terms: str) -> list[tuple[str, str]]:
    """Return terms with their definitions, in the form that components take.

    >>> [term for term, _ in definitions("Merge", "Tie")]
    ['Merge', 'Tie']
    """
    return [(term, GLOSSARY[term]) for term in terms]


def tooltip(*terms: str) -> str:
    """Return the definitions of some terms as the Markdown of a tooltip.

    >>> tooltip("Tie").split(". ")[0]
    'A tie is a step at which several pairs are the most frequent'
    """
    return "\n\n".join(GLOSSARY[term] for term in terms)
