"""Compute the figures of a corpus that Train shows before training, cached by digest."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.corpus.composition import Composition
from bpe_core.corpus.corpus import Corpus, columns_of
from bpe_core.corpus.readers import Upload
from bpe_core.counting.words import count_pretokens, seen_symbols
from bpe_core.errors import BpeError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.types import Base
from ui.work.jobs import HELD_OUT_SEED

# Counting the pre-tokens of 20 MB takes a few seconds; a page should not wait longer for a figure.
MOST_BYTES_COUNTED = 20_000_000
_MOST_BYTES_OF_SMALL = 16_000_000
_MOST_NOTES = 8


@dataclass(frozen=True, slots=True)
class PretokenFigures:
    """The number of pre-tokens in a corpus, and of distinct ones."""

    total: int
    distinct: int


def divided(corpus: Corpus, held_out_share: float) -> tuple[Corpus, Corpus]:
    """Return the training text and the held-out text, divided as the training itself does."""
    # Both parts have names and notes, which the digest does not cover.
    labels = (corpus.names, corpus.notes, corpus.encodings)
    divide = _divided if corpus.n_bytes <= _MOST_BYTES_OF_SMALL else _divided_large
    return divide(corpus, corpus.sha256, labels, held_out_share)


@st.cache_resource(max_entries=8, show_spinner=False)
def _divided(
    _corpus: Corpus, sha256: str, labels: tuple[tuple[str, ...], ...], held_out_share: float
) -> tuple[Corpus, Corpus]:
    return _corpus.split(held_out_share, seed=HELD_OUT_SEED)


# The parts of a divided document are copies: eight documents of 200 MB would take 2 GB.
@st.cache_resource(max_entries=2, show_spinner=False)
def _divided_large(
    _corpus: Corpus, sha256: str, labels: tuple[tuple[str, ...], ...], held_out_share: float
) -> tuple[Corpus, Corpus]:
    return _corpus.split(held_out_share, seed=HELD_OUT_SEED)


def reading_notes(corpus: Corpus) -> list[str]:
    """Return notes on how files were read: guessed encodings and skipped parts."""
    lines = list(corpus.notes[:_MOST_NOTES])
    if (more := len(corpus.notes) - _MOST_NOTES) > 0:
        # The hidden notes name their files' encodings, so these are listed.
        encodings = ", ".join(sorted(set(corpus.encodings) - {""}))
        lines.append(f"And {more} more note{'s' * (more != 1)}. Read as {encodings}.")
    return lines


def composition(corpus: Corpus) -> Composition:
    """Return the files, file types and scripts of a corpus."""
    return _composition(corpus, corpus.sha256, corpus.names)


@st.cache_resource(max_entries=16, show_spinner=False)
def _composition(_corpus: Corpus, sha256: str, names: tuple[str, ...]) -> Composition:
    return _corpus.composition()


# Cached for a short time, because a pattern that timed out on a busy server may succeed later.
@st.cache_resource(max_entries=32, ttl="10m", show_spinner=False)
def pretoken_figures(_corpus: Corpus, sha256: str, pretokenizer: str) -> PretokenFigures | str:
    """Return the number of pre-tokens, or the reason why they cannot be counted.

    The reason is cached too, because a runaway pattern takes seconds to time out.
    """
    try:
        found = count_pretokens(_corpus, get_pretokenizer(pretokenizer))
    except BpeError as error:
        return str(error)
    return PretokenFigures(found.total, len(found.words))


@st.cache_resource(max_entries=32, show_spinner=False)
def symbols_seen(_corpus: Corpus, sha256: str, base: Base) -> frozenset[bytes]:
    """Return the base symbols that occur in a corpus."""
    return frozenset(seen_symbols(_corpus, base))


@st.cache_resource(max_entries=16, show_spinner=False)
def uploaded_columns(_uploads: list[Upload], file_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return the text columns of the first upload that is a table; empty if none is."""
    return next((tuple(found) for upload in _uploads if (found := columns_of(upload))), ())
