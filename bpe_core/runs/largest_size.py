"""Find the largest vocabulary that a corpus can train, before it is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from bpe_core.counting import Layout, choose_characters, lay_out_pretokens
from bpe_core.kernels import use_kernels
from bpe_core.trainers import GrowingVocabulary, learn_merges, text_bytes
from bpe_core.types import PretokenCounts, TrainingConfig

MAX_SLOTS_TRAINED: Final = 200_000
"""Training to the end on this many symbols of distinct pre-tokens takes kernels about 0.4 s."""
MAX_SLOTS_IN_PYTHON: Final = 20_000
_NO_LIMIT: Final = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, slots=True)
class LargestSize:
    """The largest size that a vocabulary can reach on a corpus, in tokens."""

    size: int
    is_exact: bool
    """False if the largest size may be smaller; it is never larger."""


def largest_vocab_size(
    pretokens: PretokenCounts,
    config: TrainingConfig,
    symbols: Iterable[bytes] = (),
    *,
    max_slots: int | None = None,
) -> LargestSize:
    """Return the largest vocabulary that training on these pre-tokens reaches, or a bound on it.

    `config.vocab_size` is ignored. `symbols` are the base symbols that occur in the corpus, as for
    training; they are not needed if the alphabet is all 256 bytes, or with byte fallback. If the
    distinct pre-tokens have at most `max_slots` symbols, the size is exact, because training is
    tried to the end; None chooses a limit that takes less than a second. Beyond it, the size is a
    bound: each merge shortens at least one distinct pre-token by at least one symbol, and saves at
    least half as many tokens of the corpus as its pair has occurrences.

    Raises CorpusError as `lay_out_pretokens` does.

    >>> words = PretokenCounts((b"hug", b"hugs"), np.array([3, 1]))
    >>> config = TrainingConfig(special_tokens=())
    >>> largest_vocab_size(words, config)
    LargestSize(size=259, is_exact=True)
    >>> largest_vocab_size(words, config, max_slots=0)
    LargestSize(size=261, is_exact=False)
    """
    config = replace(config, vocab_size=_NO_LIMIT)
    if config.byte_fallback:
        pretokens, symbols = choose_characters(pretokens, config.character_coverage)
    vocabulary = GrowingVocabulary(config, symbols)
    layout = lay_out_pretokens(
        pretokens, config.base, vocabulary.base_ids, vocabulary.end_of_word_id
    )
    n_initial = len(vocabulary)
    if max_slots is None:
        is_quick = use_kernels(text_bytes(layout))
        max_slots = MAX_SLOTS_TRAINED if is_quick else MAX_SLOTS_IN_PYTHON
    if layout.ids.size > max_slots:
        return LargestSize(n_initial + _most_merges(layout, config.min_frequency), is_exact=False)
    learn_merges(layout, vocabulary, config, lambda done, saved, count: False)
    return LargestSize(len(vocabulary), is_exact=True)


def _most_merges(layout: Layout, min_frequency: int) -> int:
    is_symbol = layout.ids >= 0
    starts_pair = is_symbol[:-1] & is_symbol[1:]
    distinct = int(np.count_nonzero(starts_pair))
    # In a row of equal symbols, pairs overlap, and only every other one can merge.
    occurrences = int(layout.weights()[:-1][starts_pair].sum())
    return min(distinct, 2 * occurrences // max(min_frequency, 1))
