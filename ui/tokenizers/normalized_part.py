"""Show what a tokenizer's normalizer changes in a text before it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.library_encoder import LibraryEncoder
from bpe_core.formats.normalizing import NormalizedPiece, normalized_pieces
from bpe_core.formats.run_here import NativeTokenizer
from bpe_core.tokenizer.protocol import Encoder
from ui.components.normalized_text import normalized_text

MOST_CHARACTERS: Final = 1_000
"""The characters from a text's start that are shown beside their normalised form."""


def changes_of(encoder: Encoder, text: str) -> list[NormalizedPiece]:
    """Return the start of a text in pieces; none if nothing in it is changed.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> changes_of(gpt2(), "ﬁ")
    []
    """
    if not isinstance(encoder, LibraryEncoder | NativeTokenizer):
        return []
    shown = text[:MOST_CHARACTERS]
    try:
        pieces = normalized_pieces(shown, encoder.normalized(shown))
    except BpeError:
        # The view above says why this text cannot be encoded.
        return []
    return pieces if any(piece.is_changed for piece in pieces) else []


def normalized_part(name: str, encoder: Encoder, text: str, *, key: str) -> None:
    """Draw a text beside its normalised form, if a tokenizer changes it."""
    pieces = changes_of(encoder, text)
    if pieces:
        _draw(name, pieces, len(text), key)


def normalized_of_each(members: Sequence[tuple[str, Encoder]], text: str) -> None:
    """Draw the same for several tokenizers with their names, folded away."""
    found = [(name, changes_of(encoder, text)) for name, encoder in members]
    if not any(pieces for _, pieces in found):
        return
    with st.expander("What normalizers changed before the text was cut"):
        for n, (name, pieces) in enumerate(found):
            if pieces:
                _draw(name, pieces, len(text), f"normalized_{n}")


def _draw(name: str, pieces: Sequence[NormalizedPiece], n_characters: int, key: str) -> None:
    normalized_text(
        [(piece.text, piece.normalized) for piece in pieces],
        sentence=change_sentence(name, pieces, is_start=n_characters > MOST_CHARACTERS),
        key=key,
    )


def change_sentence(name: str, pieces: Sequence[NormalizedPiece], *, is_start: bool) -> str:
    """Say how much a normalizer changed in a text, or in the start of one that is longer.

    Marks of spaces are no places of their own.

    >>> change_sentence("Mine", normalized_pieces("a ﬁne b", "▁a▁fine▁b"), is_start=False)
    'Mine changes the text before it cuts it, in one place, and writes spaces as ▁.'
    >>> change_sentence("Mine", normalized_pieces("a b", "▁a▁b"), is_start=False)
    'Mine writes spaces as ▁ before it cuts text, and changes nothing else.'
    """
    n = sum(piece.is_changed and not piece.is_mark for piece in pieces)
    marks = any(piece.is_mark for piece in pieces)
    first = f" the first {MOST_CHARACTERS:,} characters"
    if not n:
        where = f" in{first}" if is_start else ""
        return f"{name} writes spaces as ▁ before it cuts text, and changes nothing else{where}."
    places = "one place" if n == 1 else f"{n:,} places"
    where = f" of{first}" if is_start else ""
    and_marks = ", and writes spaces as ▁" if marks else ""
    return f"{name} changes the text before it cuts it, in {places}{where}{and_marks}."
