"""What a session remembers of the choice of a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import FiledCorpus
from bpe_core.corpus.notes import Note


@dataclass(frozen=True, slots=True)
class ReadUploads:
    """The corpus last read from uploads."""

    corpus: Corpus | FiledCorpus | None = None
    """None before any was read, and after a reset."""
    title: str = ""
    id: str = ""
    """The id that `corpus` is kept under; empty if it is not."""
    source: tuple[str, ...] = ()
    """The ids of the uploads that `corpus` was read from, the column and the encodings chosen."""
    guesses: tuple[Note, ...] = ()
    """The uploads whose encoding was guessed or not found when they were first read."""


@dataclass(frozen=True, slots=True)
class CorpusForm:
    """How the form with the choice of a corpus was filled."""

    is_filled: bool = False
    """Whether the form was shown, filled from a run that was open or not."""
    missing_corpus: str = ""
    """Which corpus the form was to be filled with, if it is not kept; else empty."""
