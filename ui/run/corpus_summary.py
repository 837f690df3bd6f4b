"""What the Train page says of a corpus before training: counted by the core, kept by digest."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from bpe_core.corpus.corpus import Corpus, ScriptShare, columns_of
from bpe_core.corpus.readers import Upload
from bpe_core.counting.words import count_pretokens, seen_symbols
from bpe_core.errors import BpeError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.types import Base
from ui.work.jobs import HELD_OUT_SEED

# Pre-tokens of 20 MB take some seconds to count; beyond, a page must not wait for a mere figure.
MOST_BYTES_COUNTED = 20_000_000
_MOST_BYTES_OF_SMALL = 16_000_000
_MOST_NOTES = 8


@dataclass(frozen=True, slots=True)
class PretokenFigures:
    """How many pre-tokens a corpus has, and how many different ones."""

    total: int
    different: int


def divided(corpus: Corpus, held_out_share: float) -> tuple[Corpus, Corpus]:
    """What will be trained on and what will be held out, as the training itself divides it."""
    # Both parts carry names and notes, which the digest doesn't cover.
    told = (corpus.names, corpus.notes, corpus.encodings)
    keep = _divided if corpus.n_bytes <= _MOST_BYTES_OF_SMALL else _divided_large
    return keep(corpus, corpus.sha256, told, held_out_share)


@st.cache_resource(max_entries=8, show_spinner=False)
def _divided(
    _corpus: Corpus, sha256: str, told: tuple[tuple[str, ...], ...], held_out_share: float
) -> tuple[Corpus, Corpus]:
    return _corpus.split(held_out_share, seed=HELD_OUT_SEED)


# The parts of one document are copies of it: eight of 200 MB would take 2 GB.
@st.cache_resource(max_entries=2, show_spinner=False)
def _divided_large(
    _corpus: Corpus, sha256: str, told: tuple[tuple[str, ...], ...], held_out_share: float
) -> tuple[Corpus, Corpus]:
    return _corpus.split(held_out_share, seed=HELD_OUT_SEED)


def reading_notes(corpus: Corpus) -> list[str]:
    """What a person should know of how files were read: guessed encodings, and what was skipped."""
    lines = list(corpus.notes[:_MOST_NOTES])
    if (more := len(corpus.notes) - _MOST_NOTES) > 0:
        # Each note names its file's encoding: that is worth a line where some are not shown.
        encodings = ", ".join(sorted(set(corpus.encodings) - {""}))
        lines.append(f"And {more} more note{'s' * (more != 1)}. Read as {encodings}.")
    return lines


@st.cache_resource(max_entries=16, show_spinner=False)
def script_shares(_corpus: Corpus, sha256: str) -> tuple[ScriptShare, ...]:
    """The scripts of a corpus, largest first."""
    return _corpus.scripts()


# Not for ever: a pattern's time is short where many work at once, and it may do later.
@st.cache_resource(max_entries=32, ttl="10m", show_spinner=False)
def pretoken_figures(_corpus: Corpus, sha256: str, pretokenizer: str) -> PretokenFigures | str:
    """The number of pre-tokens under a pre-tokenizer, or why they can't be counted.

    Why is kept too: a pattern that runs away takes seconds before it is given up.
    """
    try:
        found = count_pretokens(_corpus, get_pretokenizer(pretokenizer))
    except BpeError as error:
        return str(error)
    return PretokenFigures(found.total, len(found.words))


@st.cache_resource(max_entries=32, show_spinner=False)
def symbols_seen(_corpus: Corpus, sha256: str, base: Base) -> frozenset[bytes]:
    """The base symbols that occur in a corpus."""
    return frozenset(seen_symbols(_corpus, base))


@st.cache_resource(max_entries=16, show_spinner=False)
def uploaded_columns(_uploads: list[Upload], file_ids: tuple[str, ...]) -> tuple[str, ...]:
    """The text columns of the first upload that is a table; empty where none is."""
    return next((tuple(found) for upload in _uploads if (found := columns_of(upload))), ())
