"""A large corpus on disk, of which only figures are in memory.

`reading_process` makes it, because reading such files here would hold up everything else that this
process does.
"""

from __future__ import annotations

import shutil
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import numpy as np

from bpe_core.corpus.composition import Composition
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.notes import Note
from bpe_core.unicode.kinds import code_points

MAX_BEGINNINGS: Final = 100
_MAX_BEGINNING_LENGTH: Final = 10_000
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFigures:
    """The figures of a text that is not in memory, named as those of a `Corpus`."""

    n_bytes: int
    n_characters: int
    sha256: str
    n_sources: int
    composition: Composition
    characters: str
    """The distinct characters."""
    beginnings: tuple[str, ...]
    """The first documents, cut to 10,000 characters each."""
    how: HeldOut | None
    """As `Corpus.how`."""
    word_counts: ClassVar[None] = None
    """Words with counts are never so large."""
    is_counted: ClassVar[bool] = False
    cut_by: ClassVar[None] = None


def measure_text(corpus: Corpus) -> TextFigures:
    """Return the figures of a corpus of documents.

    >>> found = measure_text(Corpus.from_documents(["hug", "hugs"]))
    >>> found.n_bytes, found.characters, found.beginnings
    (7, 'ghsu', ('hug', 'hugs'))
    """
    return TextFigures(
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        sha256=corpus.sha256,
        n_sources=corpus.n_sources,
        composition=corpus.composition(),
        characters=_find_characters(corpus),
        beginnings=tuple(
            text[:_MAX_BEGINNING_LENGTH] for text in corpus.documents[:MAX_BEGINNINGS]
        ),
        how=corpus.how,
    )


def _find_characters(corpus: Corpus) -> str:
    seen = np.zeros(sys.maxunicode + 1, np.bool_)
    for text in corpus.documents:
        for start in range(0, len(text), _PIECE):
            seen[code_points(text[start : start + _PIECE])] = True
    return "".join(map(chr, np.flatnonzero(seen).tolist()))


Parts = tuple[TextFigures, TextFigures]
"""The figures of the training text and of the held-out text."""


@dataclass(frozen=True, slots=True)
class Filed:
    """All of a large corpus but its text, as another process reports it, or as it is stored."""

    n_bytes: int
    """The size in UTF-8."""
    sha256: str
    """As `Corpus.sha256`."""
    n_sources: int
    """The number of documents."""
    files: tuple[str, ...]
    """The names of the files that its documents are from."""
    notes: tuple[Note, ...]
    excerpts: tuple[tuple[str, ...], tuple[str, ...]]
    """The text around the first character beyond ASCII in each file of a guessed encoding, and the
    names of the documents that it is from."""
    share: float
    by: str
    parts: Parts
    """As the corpus is divided by `share` and `by`."""
    columns: tuple[str, ...] = ()
    """The names of the columns by which it can be divided."""


class FiledCorpus:
    """A corpus of documents in its own folder, which is deleted with this object."""

    word_counts: ClassVar[None] = None
    is_counted: ClassVar[bool] = False

    def __init__(
        self, folder: Path, filed: Filed, divide: Callable[[Path, float, str, Path | None], Parts]
    ) -> None:
        self.folder = folder
        """Has the files that `write_corpus` writes."""
        self.n_bytes = filed.n_bytes
        self.sha256 = filed.sha256
        self.n_sources = filed.n_sources
        self.files = filed.files
        self.file_notes = filed.notes
        self.columns = filed.columns
        self.excerpts = Corpus(*filed.excerpts)
        self.filed = filed
        self._parts = {(filed.share, filed.by): filed.parts}
        self._divide = divide
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def divided(
        self, held_out_share: float, by: str = "document", text: Path | None = None
    ) -> Parts:
        """Return the figures of both parts, as `Corpus.split` with the seed 0 divides it.

        If `text` is the folder of a corpus, that corpus is held out, and `by` names it. Raises what
        `Corpus.split`, `Corpus.hold_out` and `reading_process` raise.
        """
        asked = held_out_share, by
        if asked not in self._parts:
            self._parts[asked] = self._divide(self.folder, held_out_share, by, text)
        return self._parts[asked]

    def read(self) -> Corpus:
        """Return the corpus itself. Raises FormatError if its folder was deleted."""
        return read_corpus_files(self.folder)
