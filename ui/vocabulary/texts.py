"""Name the texts in which the uses of tokens are counted."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.corpus.corpus import Corpus
from ui.storage.run_store import StoredRun


@dataclass(frozen=True, slots=True)
class CountedText:
    """A text in which uses are counted; without a corpus, the training text of its run."""

    id: str
    name: str
    """As used in a sentence, such as "the held-out text"."""
    run: StoredRun | None = None
    corpus: Corpus | None = None


def training_text(stored: StoredRun) -> CountedText:
    """Return a run's training text, of which only the words and their counts are stored."""
    return CountedText(f"training:{stored.id}", "the training text", run=stored)


def held_out_text(stored: StoredRun) -> CountedText | None:
    """Return a run's held-out text, or None."""
    if not stored.held_out.n_bytes:
        return None
    return CountedText(f"held-out:{stored.id}", "the held-out text", corpus=stored.held_out)
