"""Store with a run where its corpus came from, and a small corpus itself, to train on it again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import FormatError
from ui.storage.held_out_text import check_held_out_by
from ui.storage.packed_json import (
    StoredCorpus,
    corpus_fields,
    named_damage,
    read_packed,
    write_packed,
)

_FILE = "corpus.json.gz"
MAX_CHARACTERS_KEPT = 2_000_000
Source = Literal["sample", "upload", "paste", "words"]


@dataclass(frozen=True, slots=True)
class CorpusOrigin:
    """Where a corpus came from, and how much of it is held out."""

    source: Source
    sample_id: str
    """Empty unless the source is a sample."""
    held_out_percent: Annotated[int, msgspec.Meta(ge=0, lt=100)]
    upload_id: str = ""
    """What an uploaded corpus or a long pasted text is kept under in the store; empty if it is
    not."""
    held_out_by: str = "document"
    """As `divide` in `held_out_text` takes it."""


@dataclass(frozen=True, slots=True)
class RunCorpus:
    """The corpus that a run was trained on and held text back from."""

    origin: CorpusOrigin
    n_bytes: int
    sha256: str
    corpus: Corpus | None
    """None if it is a sample or was too large to be stored."""


class _Stored(msgspec.Struct):
    origin: CorpusOrigin
    n_bytes: int
    sha256: str
    corpus: StoredCorpus | None


def write_run_corpus(folder: Path, origin: CorpusOrigin, corpus: Corpus) -> None:
    """Store the origin of a corpus, and the corpus if it is small and not a sample."""
    words = corpus.word_counts
    n_characters = corpus.n_characters if words is None else sum(map(len, words))
    is_stored = (
        origin.source != "sample"
        and n_characters <= MAX_CHARACTERS_KEPT
        # Its words alone would be another corpus.
        and not corpus.is_counted
    )
    stored = StoredCorpus(**corpus_fields(corpus)) if is_stored else None
    write_packed(folder / _FILE, _Stored(origin, corpus.n_bytes, corpus.sha256, stored))


def read_run_corpus(folder: Path) -> RunCorpus | None:
    """Return what is stored of a run's corpus; None for a run of an earlier version.

    Raises FormatError if the file is damaged or holds another corpus than it names, and
    NotPermittedError if it belongs to another user.
    """
    with named_damage("The corpus kept with this run"):
        if not (folder / _FILE).is_file():
            return None
        kept = read_packed(folder, _FILE, _Stored)
        check_held_out_by(kept.origin.held_out_by)
        corpus = None if kept.corpus is None else kept.corpus.corpus()
    if corpus is not None and corpus.sha256 != kept.sha256:
        raise FormatError("The corpus kept with this run is not the one it was trained on.")
    return RunCorpus(kept.origin, kept.n_bytes, kept.sha256, corpus)
