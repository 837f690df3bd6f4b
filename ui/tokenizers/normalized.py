"""Show what a tokenizer's normalizer changes in a text before it is cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import streamlit as st

from bpe_core.errors import BpeError
from bpe_core.tokenizer import Encoder
from bpe_core.unicode import META
from ui.components import normalized_text
from ui.look import plain_markdown

MAX_CHARACTERS: Final = 1_000
"""The characters from a text's start that are shown next to their normalised form."""
# How far to look for the place where both texts agree again, and how many characters must agree.
_FARTHEST: Final = 32
_AGREEING: Final = 3


@dataclass(frozen=True, slots=True)
class NormalizedPiece:
    """A piece of a text, and what the normalizer made of it; one of them may be empty."""

    text: str
    normalized: str

    @property
    def is_changed(self) -> bool:
        """Whether the normalizer changed it."""
        return self.text != self.normalized

    @property
    def is_mark(self) -> bool:
        """Whether only ▁ was written for spaces, or put in front.

        >>> NormalizedPiece("  ", "▁▁").is_mark, NormalizedPiece(" ﬁ", "▁fi").is_mark
        (True, False)
        """
        marked = self.text.replace(" ", META) or META
        return self.is_changed and self.normalized == marked


def normalized_pieces(text: str, normalized: str) -> list[NormalizedPiece]:
    """Divide a text and its normalised form into pieces that agree and pieces that changed.

    The pieces of each, joined, are the whole text. A space that became ▁ is a change. If there is
    no place from which both agree again, the rest is one piece. Takes linear time.

    >>> def pairs(text, normalized):
    ...     return [(each.text, each.normalized) for each in normalized_pieces(text, normalized)]
    >>> pairs("of ﬁne print", "of fine print")
    [('of ', 'of '), ('ﬁ', 'fi'), ('ne print', 'ne print')]
    >>> pairs("a b", "▁a▁b")
    [('', '▁'), ('a', 'a'), (' ', '▁'), ('b', 'b')]
    """
    found: list[list[str]] = []

    def add(left: str, right: str) -> None:
        if found and (found[-1][0] == found[-1][1]) == (left == right):
            found[-1][0] += left
            found[-1][1] += right
        elif left or right:
            found.append([left, right])

    # A space and ▁ stand at the same place; a ▁ of the text itself does too.
    ours, theirs = text.replace(" ", META), normalized.replace(" ", META)
    i = j = 0
    while i < len(text) or j < len(normalized):
        if i < len(text) and j < len(normalized) and ours[i] == theirs[j]:
            add(text[i], normalized[j])
            i, j = i + 1, j + 1
            continue
        skipped, made = _next_alike(ours, theirs, i, j)
        add(text[i : i + skipped], normalized[j : j + made])
        i, j = i + skipped, j + made
    return [NormalizedPiece(left, right) for left, right in found]


def _next_alike(ours: str, theirs: str, i: int, j: int) -> tuple[int, int]:
    """Return how many characters of each to skip, as few as possible, until both agree again."""
    for total in range(1, 2 * _FARTHEST + 1):
        # Most normalizers replace single characters, and then one agreeing character is enough.
        if (
            total == 2
            and i < len(ours)
            and j < len(theirs)
            and ours[i + 1 : i + 2] == theirs[j + 1 : j + 2]
        ):
            return 1, 1
        for made in range(max(0, total - _FARTHEST), min(total, _FARTHEST) + 1):
            skipped = total - made
            a, b = i + skipped, j + made
            if a > len(ours) or b > len(theirs):
                continue
            left, right = ours[a : a + _AGREEING], theirs[b : b + _AGREEING]
            if left == right and (left or (a == len(ours) and b == len(theirs))):
                return skipped, made
    return len(ours) - i, len(theirs) - j


def list_changes(encoder: Encoder, text: str) -> list[NormalizedPiece]:
    """Return the start of a text in pieces; none if nothing in it is changed.

    >>> from bpe_core.tokenizer import gpt2
    >>> list_changes(gpt2(), "ﬁ")
    []
    """
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
