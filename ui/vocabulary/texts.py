"""Texts that the uses of tokens are counted on."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.corpus.corpus import Corpus
from ui.storage.run_store import StoredRun


@dataclass(frozen=True, slots=True)
class CountedText:
    """A text that uses are counted on; without a corpus it is what the run was trained on."""

    id: str
    name: str
    """As it stands in a sentence, such as "the held-out text"."""
    run: StoredRun | None = None
    corpus: Corpus | None = None


def training_text(stored: StoredRun) -> CountedText:
    """What a run was trained on: its words and their counts are kept with it, the text is not."""
    return CountedText(f"training:{stored.id}", "the training text", run=stored)


def held_out_text(stored: StoredRun) -> CountedText | None:
    """What a run's training never saw; None where nothing was held out."""
    if not stored.held_out.n_bytes:
        return None
    return CountedText(f"held-out:{stored.id}", "the held-out text", corpus=stored.held_out)
