"""The cost of languages under several tokenizers."""

from __future__ import annotations

from collections.abc import Sequence

import bpe_core as bpe
from bpe_core.comparison import LanguageCosts
from bpe_core.corpus import ParallelText


def compare_languages(
    texts: Sequence[ParallelText], encoders: Sequence[bpe.Encoder], reference: str
) -> tuple[LanguageCosts, ...]:
    """Return the costs of each tokenizer."""
    return bpe.parity({text.name: text.sentences for text in texts}, encoders, reference).costs
