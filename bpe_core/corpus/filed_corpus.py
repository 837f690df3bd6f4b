"""A large corpus on disk, of which only figures are in memory.

`reading_process` makes it, because reading such files here would hold up everything else that this
process does.
"""

from __future__ import annotations

import shutil
import sys
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from bpe_core.corpus.composition import Composition, FileShare, ScriptShare
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.corpus_files import read_corpus_files
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.notes import Note
from bpe_core.unicode.kinds import code_points

MOST_BEGINNINGS: Final = 100
_LONGEST_BEGINNING: Final = 10_000
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


def figures_of(corpus: Corpus) -> TextFigures:
    """Return the figures of a corpus of documents.

    >>> found = figures_of(Corpus.from_documents(["hug", "hugs"]))
    >>> found.n_bytes, found.characters, found.beginnings
    (7, 'ghsu', ('hug', 'hugs'))
    """
    return TextFigures(
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        sha256=corpus.sha256,
        n_sources=corpus.n_sources,
        composition=corpus.composition(),
        characters=_characters_of(corpus),
        beginnings=tuple(text[:_LONGEST_BEGINNING] for text in corpus.documents[:MOST_BEGINNINGS]),
        how=corpus.how,
    )


def _characters_of(corpus: Corpus) -> str:
    seen = np.zeros(sys.maxunicode + 1, np.bool_)
    for text in corpus.documents:
        for start in range(0, len(text), _PIECE):
            seen[code_points(text[start : start + _PIECE])] = True
    return "".join(map(chr, np.flatnonzero(seen).tolist()))


def to_json(figures: TextFigures) -> dict[str, Any]:
    """Return figures as JSON values.

    >>> figures = figures_of(Corpus.from_text("hug"))
    >>> from_json(to_json(figures)) == figures
    True
    """
    return asdict(figures)


def from_json(found: dict[str, Any]) -> TextFigures:
    """Return the figures that `to_json` described."""
    files, types, scripts = found["composition"]
    composition = Composition(
        tuple(FileShare(*share) for share in files),
        tuple(FileShare(*share) for share in types),
        tuple(ScriptShare(*share) for share in scripts),
    )
    beginnings = tuple(found["beginnings"])
    how = None if found["how"] is None else HeldOut(**found["how"])
    made: dict[str, Any] = {"composition": composition, "beginnings": beginnings, "how": how}
    return TextFigures(**{**found, **made})


Parts = tuple[TextFigures, TextFigures]
"""The figures of the training text and of the held-out text."""


class FiledCorpus:
    """A corpus of documents in a folder of its own, which is deleted with this object."""

    word_counts: ClassVar[None] = None
    is_counted: ClassVar[bool] = False

    def __init__(
        self,
        folder: Path,
        *,
        n_bytes: int,
        sha256: str,
        n_sources: int,
        files: tuple[str, ...],
        notes: tuple[Note, ...],
        excerpts: Corpus,
        parts: dict[tuple[float, str], Parts],
        divide: Callable[[Path, float, str], Parts],
    ) -> None:
        self.folder = folder
        """Has the files that `write_corpus` writes."""
        self.n_bytes = n_bytes
        """The size in UTF-8."""
        self.sha256 = sha256
        """As `Corpus.sha256`."""
        self.n_sources = n_sources
        """The number of documents."""
        self.files = files
        """The names of the files that its documents are from."""
        self.file_notes = notes
        self.excerpts = excerpts
        """The text around the first character beyond ASCII in each file of a guessed encoding, with
        the name of the document that it is from."""
        self._parts = parts
        self._divide = divide
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def divided(self, held_out_share: float, by: str = "document") -> Parts:
        """Return the figures of both parts, as `Corpus.split` with the seed 0 divides it.

        Raises what `Corpus.split` and `reading_process` raise.
        """
        asked = held_out_share, by
        if asked not in self._parts:
            self._parts[asked] = self._divide(self.folder, *asked)
        return self._parts[asked]

    def read(self) -> Corpus:
        """Return the corpus itself. Raises FormatError if its folder was deleted."""
        return read_corpus_files(self.folder)
