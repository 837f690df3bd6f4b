"""The text that a run was trained on, kept beside it: as much as is ever looked through."""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.damage import ARRAY_DAMAGE
from bpe_core.errors import BpeError, FormatError
from bpe_core.vocabulary.provenance import MOST_SEARCHED

_FILE = "training_text.json.gz"
# More than is looked through, so that the end of what is kept is never taken for the text's own.
MOST_KEPT = MOST_SEARCHED + 2_000
"""Characters; what is beyond them is not kept."""


@dataclass(frozen=True, slots=True)
class TrainingText:
    """The documents of a training text, or the first of them."""

    corpus: Corpus
    is_whole: bool
    """False where the text is longer than what is kept."""


def write_training_text(folder: Path, training: Corpus) -> None:
    """Keeps the first MOST_KEPT characters; of weighted words, which have no lines, nothing."""
    documents: list[str] = []
    room = MOST_KEPT
    for document in training.documents:
        if room <= 0:
            break
        documents.append(document[:room])
        room -= len(document)
    kept = {
        "documents": documents,
        "names": training.names[: len(documents)],
        "is_whole": room >= 0 and len(documents) == len(training.documents),
    }
    data = json.dumps(kept, ensure_ascii=False).encode()
    # No time in it: the same text gives the same file.
    (folder / _FILE).write_bytes(gzip.compress(data, mtime=0))


def read_training_text(folder: Path, sha256: str) -> TrainingText | None:
    """The text kept in a run's folder; None where none was kept, as with runs of earlier versions.

    `sha256` is the one of the text that was trained on. Raises FormatError where the file is
    damaged or holds another text.
    """
    path = folder / _FILE
    if not path.is_file():
        return None
    try:
        kept = json.loads(gzip.decompress(path.read_bytes()))
        corpus = Corpus(tuple(kept["documents"]), tuple(kept["names"]))
        is_whole = bool(kept["is_whole"])
    except (*ARRAY_DAMAGE, EOFError, zlib.error, BpeError) as error:
        raise FormatError("The training text kept with this run is damaged.") from error
    if is_whole and corpus.documents and corpus.sha256 != sha256:
        raise FormatError("The text kept with this run is not the one that it was trained on.")
    return TrainingText(corpus, is_whole)
