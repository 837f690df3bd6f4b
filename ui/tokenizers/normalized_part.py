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
    n = sum(piece.is_changed for piece in pieces)
    places = "one place" if n == 1 else f"{n:,} places"
    where = (
        "" if n_characters <= MOST_CHARACTERS else f" of the first {MOST_CHARACTERS:,} characters"
    )
    normalized_text(
        [(piece.text, piece.normalized) for piece in pieces],
        sentence=f"{name} changes the text before it cuts it, in {places}{where}.",
        key=key,
    )
