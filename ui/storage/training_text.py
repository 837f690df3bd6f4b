"""Store, in a run's folder, as much of the text it was trained on as is ever searched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.spans import Place
from bpe_core.errors import FormatError
from bpe_core.vocabulary.provenance import MAX_SEARCHED
from ui.storage.packed_json import named_damage, read_packed, write_packed

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


def write_training_text(folder: Path, training: Corpus) -> None:
    """Store the first MAX_KEPT characters; store no text for weighted words."""
    documents: list[str] = []
    room = MAX_KEPT
    for document in training.documents:
        if room <= 0:
            break
        documents.append(document[:room])
        room -= len(document)
    kept = {
        "documents": documents,
        "names": training.names[: len(documents)],
        "places": training.places[: len(documents)],
        "is_whole": room >= 0 and len(documents) == len(training.documents),
    }
    write_packed(folder / _FILE, kept)


def parse_places(stored: dict[str, Any]) -> tuple[Place, ...]:
    """Return the places of stored documents; earlier versions stored none.

    Raises TypeError or ValueError if they are damaged.
    """
    places = tuple(Place(int(start), int(line)) for start, line in stored.get("places", ()))
    if places and len(places) != len(stored["documents"]):
        raise ValueError(f"Expected {len(stored['documents'])} places, got {len(places)}.")
    return places


def read_training_text(folder: Path, sha256: str) -> TrainingText | None:
    """Return the text stored in a run's folder, or None, as in older runs.

    `sha256` is the digest of the training text. Raises FormatError if the file is damaged or holds
    another text, and NotPermittedError if it belongs to another user.
    """
    with named_damage("The training text kept with this run"):
        if not (folder / _FILE).is_file():
            return None
        kept = read_packed(folder, _FILE)
        corpus = Corpus(tuple(kept["documents"]), tuple(kept["names"]), places=parse_places(kept))
        is_whole = bool(kept["is_whole"])
    if is_whole and corpus.documents and corpus.sha256 != sha256:
        raise FormatError("The text kept with this run is not the one it was trained on.")
    return TrainingText(corpus, is_whole)
