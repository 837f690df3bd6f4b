"""Store, in a run's folder, as much of the text it was trained on as is ever searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import FormatError
from bpe_core.vocabulary.provenance import MAX_SEARCHED
from ui.storage.packed_json import StoredCorpus, named_damage, read_packed, write_packed

_FILE = "training_text.json.gz"
# More than is searched, so that the end of the stored part is never mistaken for the text's end.
MAX_KEPT = MAX_SEARCHED + 2_000
"""The number of characters stored."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """The documents of a training text, or the first of them."""

    corpus: Corpus
    is_whole: bool
    """False if only the beginning of the text is stored."""


class _Stored(StoredCorpus, frozen=True, kw_only=True):
    is_whole: bool


def write_training_text(folder: Path, training: Corpus) -> None:
    """Store the first MAX_KEPT characters; store no text for weighted words."""
    documents: list[str] = []
    room = MAX_KEPT
    for document in training.documents:
        if room <= 0:
            break
        documents.append(document[:room])
        room -= len(document)
    n = len(documents)
    kept = _Stored(
        documents=tuple(documents),
        names=training.names[:n],
        places=training.places[:n],
        is_whole=room >= 0 and n == len(training.documents),
    )
    write_packed(folder / _FILE, kept)


def read_training_text(folder: Path, sha256: str) -> TrainingText | None:
    """Return the text stored in a run's folder, or None, as in older runs.

    `sha256` is the digest of the training text. Raises FormatError if the file is damaged or holds
    another text, and NotPermittedError if it belongs to another user.
    """
    with named_damage("The training text kept with this run"):
        if not (folder / _FILE).is_file():
            return None
        kept = read_packed(folder, _FILE, _Stored)
        corpus = kept.corpus()
    if kept.is_whole and corpus.documents and corpus.sha256 != sha256:
        raise FormatError("The text kept with this run is not the one it was trained on.")
    return TrainingText(corpus, kept.is_whole)
