"""The cost of languages under several tokenizers, measured at once."""

from __future__ import annotations

from collections.abc import Sequence

from bpe_core.comparison.languages import LanguageCosts, language_costs, measure_languages
from bpe_core.corpus.samples import ParallelText
from bpe_core.tokenizer.protocol import Encoder


def compare_languages(
    texts: Sequence[ParallelText], encoders: Sequence[Encoder], reference: str
) -> tuple[LanguageCosts, ...]:
    """Return the costs of each tokenizer."""
    names = [text.name for text in texts]
    return tuple(
        language_costs(names, measure_languages(texts, each), reference) for each in encoders
    )
