"""The samples that serve as general texts, outside a visitor's domain."""

from __future__ import annotations

from typing import Final

from bpe_core.corpus.samples import samples

GENERAL_TEXTS: Final = ("python-reference", "multilingual", "python-library")
"""The ids of the samples."""


def general_titles() -> dict[str, str]:
    """Return the ids of the samples that serve as general texts, with their titles."""
    titles = {sample.id: sample.title for sample in samples()}
    return {id: titles[id] for id in GENERAL_TEXTS}
