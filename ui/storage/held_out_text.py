"""Divide a corpus as its visitor chose: by a unit, or with a separate stored text held out."""

from __future__ import annotations

from typing import Final

from bpe_core.corpus import Corpus, check_by
from ui.storage.upload_store import load_uploaded

HELD_OUT_SEED: Final = 0
UPLOAD_HELD_OUT: Final = "upload:"
"""Stands before the id under which a visitor's text is kept that is held out."""


def upload_held_out(by: str | None) -> str | None:
    """Return the id that the held-out text is kept under, or None if the corpus itself is divided.

    >>> upload_held_out("upload:0123"), upload_held_out("folder")
    ('0123', None)
    """
    if by is None or not by.startswith(UPLOAD_HELD_OUT):
        return None
    return by.removeprefix(UPLOAD_HELD_OUT)


def check_held_out_by(by: str | None) -> None:
    """Raise ConfigError for what `divide` does not accept."""
    if by is not None and upload_held_out(by) is None:
        check_by(by)


def divide(corpus: Corpus, held_out_share: float, by: str | None) -> tuple[Corpus, Corpus]:
    """Return the training text and the held-out text.

    `by` is what `Corpus.split` takes, or names a text kept in the store. Raises what `split`,
    `hold_out` and `load_uploaded` raise.
    """
    if (upload_id := upload_held_out(by)) is not None:
        return corpus.hold_out(load_uploaded(upload_id).corpus.read())
    return corpus.split(held_out_share, HELD_OUT_SEED, by)
