"""Describe how the form on Train differs from the open run."""

from __future__ import annotations

from bpe_core.runs.run import TrainingRun
from bpe_core.types import TrainingConfig


def form_changes(
    run: TrainingRun, training_sha256: str | None, config: TrainingConfig | None
) -> str:
    """Return a sentence on how the form differs from a run; empty if it does not.

    `training_sha256` is the digest of the form's training text, None if it has none; `config` are
    its settings, None if they are invalid.

    >>> from bpe_core import Corpus, train
    >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(300))
    >>> form_changes(run, run.corpus_sha256, TrainingConfig(300))
    ''
    >>> form_changes(run, None, TrainingConfig(400))
    'The form now has no text and other settings.'
    """
    parts: list[str] = []
    if training_sha256 is None:
        parts.append("no text")
    elif training_sha256 != run.corpus_sha256:
        parts.append("another training text")
    if config is None:
        parts.append("invalid settings")
    elif config != run.config:
        parts.append("other settings")
    return f"The form now has {' and '.join(parts)}." if parts else ""
