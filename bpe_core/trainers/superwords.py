"""Superwords, learned as plainly as possible: the twin of `training.train_superwords`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from bpe_core.trainers.base_vocabulary import GrowingVocabulary, split_symbols
from bpe_core.trainers.continued import ContinuedVocabulary
from bpe_core.trainers.pair_rules import find_rule
from bpe_core.trainers.reference import (
    ReferenceRun,
    count_words,
    encode_reference,
    learn_merges,
    train_reference,
)
from bpe_core.types import PretokenCounts, TrainingConfig


def train_superwords_reference(
    documents: Sequence[str],
    config: TrainingConfig,
    cut: Callable[[str], Sequence[str]],
    cut_superwords: Callable[[str], Sequence[str]],
) -> ReferenceRun:
    """Learn merges within words up to `config.superwords_from` tokens, and then also across words.

    The second stage keeps the merges of the first, applies them to text that is cut less, and goes
    on from there. Source: SuperBPE (arXiv 2503.13423), section 2.

    >>> texts, whole = ["by the by the by"], lambda text: [text]
    >>> config = TrainingConfig(13, base="characters", superwords_from=10, special_tokens=())
    >>> run = train_superwords_reference(texts, config, lambda text: text.split(" "), whole)
    >>> [run.vocab[merge.id] for merge in run.merges]
    [b'by', b'he', b'the', b' by', b' the', b' the by', b'by the by']
    """
    words = count_words(documents, cut)
    first = train_reference(
        PretokenCounts(map(str.encode, words), np.array([*words.values()], np.int64)),
        replace(config, vocab_size=config.superwords_from or config.vocab_size),
        {s for text in documents for s in split_symbols(text.encode(), config.base)},
    )
    vocabulary = ContinuedVocabulary(first.vocab, rule=find_rule(config))
    pieces = count_words(documents, cut_superwords)
    merges = {merge.pair: merge for merge in first.merges}
    encoded = [
        encode_reference(
            [first.base_ids[s] for s in split_symbols(p.encode(), config.base)], merges
        )
        for p in pieces
    ]
    learned, splits, reason = learn_merges(
        encoded,
        [*pieces.values()],
        cast("GrowingVocabulary", vocabulary),  # it is used in the same way
        config,
        vocabulary.forbidden.has,
    )
    later = [replace(merge, rank=merge.rank + len(first.merges)) for merge in learned]
    return replace(
        first,
        vocab=dict(enumerate(vocabulary.tokens)),
        merges=[*first.merges, *later],
        splits=splits,
        stop_reason=reason,
    )
