"""Write a corpus to a folder of plain files, for another process or for use after a restart.

`text` has the documents one after another in UTF-8, `lengths.npy` the bytes of each, and
`corpus.json` their names and the rest. Nothing in them is a pickle.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.counts_corpus import CountsCorpus, CountsSummary, counts_to_corpus
from bpe_core.corpus.damage import ARRAY_DAMAGE
from bpe_core.corpus.filed_texts import FiledTexts
from bpe_core.corpus.notes import Note
from bpe_core.errors import BpeError, FormatError
from bpe_core.files.regular_files import open_regular, read_regular

TEXT: Final = "text"
LENGTHS: Final = "lengths.npy"
HEAD: Final = "corpus.json"
SAMPLE: Final = "sample"
"""The folder of the text that comes with words and counts."""
FILES: Final = (TEXT, LENGTHS, HEAD)
"""All files that are written; they are never changed, so they can be linked to."""


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
