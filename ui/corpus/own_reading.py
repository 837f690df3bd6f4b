"""Encode a visitor's text with one tokenizer, and pack its first million tokens for the browser."""

from __future__ import annotations

import hashlib
from contextlib import nullcontext
from dataclasses import dataclass
from threading import Lock

import numpy as np

from bpe_core.corpus import Corpus
from bpe_core.tokenizer import Boundaries, Encoder, boundaries
from bpe_core.views import PackedTokens, find_longest_word, pack_boundaries
from ui.host import cached

MAX_TOKENS = 1_000_000
"""The most tokens shown, as many as the view was tested with; the rest are only counted."""
MAX_CHARACTERS = 8_000_000
"""The most characters encoded, twice as many as a million tokens of prose have."""
_LARGE = 500_000
_one_at_a_time = Lock()
"""For texts of more characters: a tokenizer that makes an object for each token takes gigabytes."""


@dataclass(frozen=True, slots=True)
class OwnReading:
    """A text's first million tokens, and how many there are in all."""

    stamp: str
    """A hash of the text and its reading; browser messages with another stamp are outdated."""
    text: str
    """The text that these tokens cover."""
    found: Boundaries
    packed: PackedTokens
    n_tokens: int
    """The number of tokens of the whole text."""
    n_shown: int
    first_chosen: int | None
    """The index of the segment chosen at first: the longest word near the start."""

    @property
    def is_all(self) -> bool:
        """Whether all tokens of the text are included."""
        return self.n_shown == self.n_tokens


@cached(spinner="Encoding the text")
def read_own_text(text: str, encoder: Encoder, allowed_special: tuple[str, ...] = ()) -> OwnReading:
    """Return the tokens of a text.

    Raises InvalidTextError for a lone surrogate, and TokenizationError if another library fails.
    """
    # A few more, because the last token that is shown may end within a character.
    with _one_at_a_time if len(text) > _LARGE else nullcontext():
        every = boundaries(text, encoder, allowed_special, max_starts=MAX_TOKENS + 8)
    found, part = every, text
    if len(every.ids) > MAX_TOKENS:
        found, part = every.first(MAX_TOKENS, text)
    stamp = hashlib.sha256(repr((encoder.fingerprint, allowed_special)).encode() + text.encode())
    return OwnReading(
        stamp=stamp.hexdigest()[:16],
        text=part,
        found=found,
        packed=pack_boundaries(found, encoder),
        n_tokens=int(np.count_nonzero(every.ids >= 0)),
        n_shown=int(np.count_nonzero(found.ids >= 0)),
        first_chosen=find_longest_word(found, encoder),
    )


def joined(corpus: Corpus) -> str:
    """Join a corpus's documents, up to MAX_CHARACTERS."""
    parts: list[str] = []
    room = MAX_CHARACTERS
    for document in corpus.documents:
        if room < 0:
            break
        parts.append(document[:room])
        room -= len(document) + 1
    return "\n".join(parts)[:MAX_CHARACTERS]
