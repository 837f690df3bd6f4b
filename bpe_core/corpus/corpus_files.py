"""Write a corpus to a folder of plain files, for another process or for use after a restart.

`text` has the documents one after another in UTF-8, `lengths.npy` the bytes of each, and
`corpus.json` their names and the rest. Nothing in them is a pickle. A `FiledCorpus` stays there;
only its figures are in memory.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np

from bpe_core.corpus.composition import Composition
from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.counts_corpus import CountsCorpus, CountsSummary, counts_to_corpus
from bpe_core.corpus.filed_texts import FiledTexts
from bpe_core.corpus.held_out import HeldOut
from bpe_core.corpus.notes import Note
from bpe_core.errors import BpeError, FormatError
from bpe_core.files import ARRAY_DAMAGE, open_regular, read_regular
from bpe_core.unicode import code_points

TEXT: Final = "text"
LENGTHS: Final = "lengths.npy"
HEAD: Final = "corpus.json"
SAMPLE: Final = "sample"
"""The folder of the text that comes with words and counts."""
FILES: Final = (TEXT, LENGTHS, HEAD)
"""All files that are written; they are never changed, so they can be linked to."""


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
        return read_corpus_files(self.folder)


def write_corpus(folder: Path, corpus: Corpus) -> None:
    """Write a corpus that was not split to an existing folder. Raises OSError.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_corpus(Path(folder), Corpus.from_documents(["hug", "hugs"]))
    ...     read_corpus_files(Path(folder)).documents
    ('hug', 'hugs')
    """
    words = corpus.word_counts
    texts: Sequence[str] = corpus.documents if words is None else tuple(words)
    lengths = np.zeros(len(texts), np.int64)
    with (folder / TEXT).open("wb") as file:
        for number, text in enumerate(texts):
            lengths[number] = file.write(text.encode())
    np.save(folder / LENGTHS, lengths, allow_pickle=False)
    head: dict[str, Any] = {
        "names": corpus.names,
        "counts": None if words is None else list(words.values()),
        "notes": corpus.file_notes,
        "encodings": _packed(corpus.encodings),
        "columns": dict(corpus.columns),
        "sha256": corpus.sha256,
    }
    if isinstance(corpus, CountsCorpus):
        head["summary"] = corpus.summary._asdict()
        if corpus.text is not None:
            (folder / SAMPLE).mkdir()
            write_corpus(folder / SAMPLE, corpus.text)
    (folder / HEAD).write_text(json.dumps(head, ensure_ascii=False), "utf-8", newline="")


def link_corpus(source: Path, folder: Path) -> None:
    """Put the corpus of one folder into another too; the files are linked, or else copied.

    Raises OSError.
    """
    for name in FILES:
        try:
            os.link(source / name, folder / name)
        except FileNotFoundError:
            raise
        except OSError:
            # Not on every file system.
            shutil.copyfile(source / name, folder / name)


def read_corpus_files(folder: Path, *, stays_on_disk: bool = False) -> Corpus:
    """Return the corpus in a folder, whose documents can stay on disk until they are needed.

    Raises FormatError if the files are damaged or missing.
    """
    try:
        head: dict[str, Any] = json.loads(read_regular(folder / HEAD))
        with open_regular(folder / LENGTHS) as file:
            lengths = np.lib.format.read_array(file, allow_pickle=False)
        filed = FiledTexts(folder / TEXT, lengths)
        texts = filed if stays_on_disk else filed[:]
        notes = tuple(Note(*note) for note in head["notes"])
        names = tuple(map(str, head["names"]))
        if head["counts"] is None:
            corpus = Corpus(
                texts,
                names,
                None,
                notes,
                _unpacked(head["encodings"], len(texts)),
                columns={name: tuple(found) for name, found in head.get("columns", {}).items()},
            )
        else:
            counts = dict(zip(texts, map(int, head["counts"]), strict=True))
            corpus = Corpus((), names, counts, notes)
            if "summary" in head:
                has_sample = (folder / SAMPLE).is_dir()
                sample = read_corpus_files(folder / SAMPLE) if has_sample else None
                corpus = counts_to_corpus(counts, CountsSummary(**head["summary"]), sample)
        expected = str(head["sha256"])
    except (*ARRAY_DAMAGE, BpeError) as error:
        raise FormatError("A corpus kept on disk is damaged. Give its files again.") from error
    if corpus.sha256 != expected:
        raise FormatError("A corpus kept on disk is not the one that was written.")
    return corpus


def _packed(encodings: tuple[str, ...]) -> Sequence[str]:
    """Return encodings as they are, or a single one if they are all the same."""
    return encodings[:1] if len(set(encodings)) == 1 else encodings


def _unpacked(encodings: Sequence[str], n: int) -> tuple[str, ...]:
    return tuple(encodings) * n if len(encodings) == 1 else tuple(encodings)


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
