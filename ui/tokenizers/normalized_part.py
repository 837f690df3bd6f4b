"""Show what a tokenizer's normalizer changes in a text before it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.formats.running.library_encoder import LibraryEncoder
from bpe_core.formats.running.normalizing import NormalizedPiece, normalized_pieces
from bpe_core.formats.running.own_encoder import OwnEncoder
from bpe_core.tokenizer.protocol import Encoder
from ui.components.normalized_text import normalized_text
from ui.look.labels import plain_markdown

MAX_CHARACTERS: Final = 1_000
"""The characters from a text's start that are shown next to their normalised form."""


def list_changes(encoder: Encoder, text: str) -> list[NormalizedPiece]:
    """Return the start of a text in pieces; none if nothing in it is changed.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> list_changes(gpt2(), "ﬁ")
    []
    """
    if not isinstance(encoder, LibraryEncoder | OwnEncoder):
        return []
    shown = text[:MAX_CHARACTERS]
    try:
        pieces = normalized_pieces(shown, encoder.normalized(shown))
    except BpeError:
        # The view above says why this text cannot be encoded.
        return []
    return pieces if any(piece.is_changed for piece in pieces) else []


def normalized_part(name: str, encoder: Encoder, text: str, *, key: str) -> None:
    """Draw a text next to its normalised form, if a tokenizer changes more than marks of spaces."""
    pieces = list_changes(encoder, text)
    if _n_places(pieces):
        _draw(name, pieces, len(text), key)


def draw_all_normalized(members: Sequence[tuple[str, Encoder]], text: str) -> None:
    """Draw the same for several tokenizers, folded away under their names."""
    found = [(name, list_changes(encoder, text)) for name, encoder in members]
    changed = [(name, pieces, n) for name, pieces in found if (n := _n_places(pieces))]
    if not changed:
        return
    title = folded_title([(name, n) for name, _, n in changed], is_start=len(text) > MAX_CHARACTERS)
    with st.expander(title):
        for number, (name, pieces, _) in enumerate(changed):
            _draw(name, pieces, len(text), f"normalized_{number}")


def _n_places(pieces: Sequence[NormalizedPiece]) -> int:
    """Return the number of places where more than marks of spaces changed."""
    return sum(piece.is_changed and not piece.is_mark for piece in pieces)


def _places(n: int) -> str:
    return "one place" if n == 1 else f"{n:,} places"


def folded_title(changed: Sequence[tuple[str, int]], *, is_start: bool) -> str:
    """State in how many places each tokenizer changed a text, or the start of a longer one.

    >>> folded_title([("Mine", 1), ("Other", 2)], is_start=False)
    'Changed before the text is cut: Mine in one place, Other in 2 places'
    >>> folded_title([("Mine", 1)], is_start=True)
    'Changed before the text is cut, in the first 1,000 characters: Mine in one place'
    """
    where = f", in the first {MAX_CHARACTERS:,} characters" if is_start else ""
    places = ", ".join(f"{plain_markdown(name)} in {_places(n)}" for name, n in changed)
    return f"Changed before the text is cut{where}: {places}"


def _draw(name: str, pieces: Sequence[NormalizedPiece], n_characters: int, key: str) -> None:
    normalized_text(
        [(piece.text, piece.normalized) for piece in pieces],
        sentence=change_sentence(name, pieces, is_start=n_characters > MAX_CHARACTERS),
        key=key,
    )


def change_sentence(name: str, pieces: Sequence[NormalizedPiece], *, is_start: bool) -> str:
    """State how much a normalizer changed in a text, or in the start of a longer one.

    Marks of spaces are not counted as places.

    >>> change_sentence("Mine", normalized_pieces("a ﬁne b", "▁a▁fine▁b"), is_start=False)
    'Mine changes the text before it cuts it, in one place, and writes spaces as ▁.'
    """
    where = f" of the first {MAX_CHARACTERS:,} characters" if is_start else ""
    marks = ", and writes spaces as ▁" if any(piece.is_mark for piece in pieces) else ""
    places = _places(_n_places(pieces))
    return f"{name} changes the text before it cuts it, in {places}{where}{marks}."
