"""A corpus so large that it stays in the folder that `Corpus.save` wrote: a `FiledCorpus`.

Only its figures are in memory, and those of its training text and held-out text.
"""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from bpe_core.corpus.composition import Composition
from bpe_core.corpus.corpus import CORPUS_FILES, Corpus
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.notes import Note


@dataclass(frozen=True, slots=True)
class TextFigures:
    """The figures of a text that is not in memory, named as those of a `Corpus`."""

    n_bytes: int
    n_characters: int
    sha256: str
    n_sources: int
    shares: Composition
    """What `composition` returns."""
    seen: str
    """The distinct characters."""
    beginnings: tuple[str, ...]
    """As `Corpus.beginnings`."""
    how: HeldOut | None
    """As `Corpus.how`."""
    word_counts: ClassVar[None] = None
    """Words with counts are never so large."""
    summary: ClassVar[None] = None
    is_counted: ClassVar[bool] = False
    cut_by: ClassVar[None] = None

    def composition(self) -> Composition:
        """Return the shares of each file, file type and script, the largest first."""
        return self.shares

    def characters(self) -> str:
        """Return the distinct characters, sorted."""
        return self.seen


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
    by: str | None
    parts: Parts
    """As the corpus is divided by `share` and `by`."""
    columns: tuple[str, ...] = ()
    """The names of the columns by which it can be divided."""


class FiledCorpus:
    """A corpus of documents in its own folder, which is deleted with this object."""

    word_counts: ClassVar[None] = None
    is_counted: ClassVar[bool] = False

    def __init__(
        self,
        folder: Path,
        filed: Filed,
        divide: Callable[[Path, float, str | None, Path | None], Parts],
    ) -> None:
        self.folder = folder
        """Has the files that `Corpus.save` writes."""
        self.n_bytes = filed.n_bytes
        self.sha256 = filed.sha256
        self.n_sources = filed.n_sources
        self.files = filed.files
        self.file_notes = filed.notes
        self.columns = filed.columns
        self.beginnings = filed.parts[0].beginnings
        """The first documents of the training text, cut to 10,000 characters each."""
        self.excerpts = Corpus(*filed.excerpts)
        self.filed = filed
        self._parts = {(filed.share, filed.by): filed.parts}
        self._divide = divide
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def divided(
        self, held_out_share: float, by: str | None = None, text: Path | None = None
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
        return Corpus.open(self.folder)

    def save(self, to: Path) -> None:
        """Put the corpus into another folder too, as `Corpus.save` does."""
        link_corpus(self.folder, to)


def link_corpus(source: Path, folder: Path) -> None:
    """Put the corpus of one folder into another too; the files are linked, or else copied.

    Raises OSError.
    """
    for name in CORPUS_FILES:
        try:
            os.link(source / name, folder / name)
        except FileNotFoundError:
            raise
        except OSError:
            # Not on every file system.
            shutil.copyfile(source / name, folder / name)


def measure_text(corpus: Corpus) -> TextFigures:
    """Return the figures of a corpus of documents.

    >>> found = measure_text(Corpus.from_documents(["hug", "hugs"]))
    >>> found.n_bytes, found.characters(), found.beginnings
    (7, 'ghsu', ('hug', 'hugs'))
    """
    return TextFigures(
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        sha256=corpus.sha256,
        n_sources=corpus.n_sources,
        shares=corpus.composition(),
        seen=corpus.characters(),
        beginnings=corpus.beginnings,
        how=corpus.how,
    )
