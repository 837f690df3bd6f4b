"""A training by the reference that can be looked at before each of its merges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bpe_core.errors import EmptyCorpusError
from bpe_core.trainers.base_vocabulary import symbols_of
from bpe_core.trainers.reference import (
    ReferenceRun,
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    short_pairs,
    train_reference,
)
from bpe_core.types import Merge, Pair, PretokenCounts, TrainingConfig


@dataclass(frozen=True, slots=True)
class Term:
    """What one word gives to a pair's count: so often in the word, times the word's count."""

    word: str
    times: int
    """How often the pair stands in the word, overlaps counted."""
    count: int
    """How often the word occurs."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A finished training, and what stood at each step of it; make one with `walk`."""

    config: TrainingConfig
    run: ReferenceRun
    words: tuple[str, ...]
    counts: tuple[int, ...]
    """How often each word occurs."""
    starts: tuple[tuple[int, ...], ...]
    """The symbols that each word starts as, as ids."""

    @property
    def merges(self) -> Sequence[Merge]:
        """The merges learned, in order."""
        return self.run.merges

    @property
    def n_start(self) -> int:
        """The size of the vocabulary before the first merge."""
        return len(self.run.vocab) - len({merge.id for merge in self.merges})

    def words_at(self, step: int) -> list[list[int]]:
        """Return what each word is made of once so many merges are done."""
        words = [list(start) for start in self.starts]
        for merge in self.merges[:step]:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
        return words

    def pair_counts_at(self, step: int) -> dict[Pair, int]:
        """Return every pair's count once so many merges are done, first seen first."""
        pair_counts = count_pairs(self.words_at(step), self.counts)
        if self.config.max_token_bytes is None:
            return pair_counts
        tokens = [self.run.vocab[id] for id in sorted(self.run.vocab)]
        return short_pairs(pair_counts, tokens, self.config.max_token_bytes)

    def next_pair_at(self, step: int) -> Pair | None:
        """Return the pair that comes next by the tie rule; None where no word has two symbols."""
        pair_counts = self.pair_counts_at(step)
        return choose_pair(pair_counts, self.config.tie_break) if pair_counts else None

    def pair_joined_at(self, step: int) -> Pair | None:
        """Return the pair that the next merge joins; None once all merges are done."""
        return self.merges[step].pair if step < len(self.merges) else None

    def terms(self, step: int, pair: Pair) -> list[Term]:
        """Return the words that a pair's count at a step is made of.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> [(term.word, term.times, term.count) for term in hugs.terms(0, hugs.merges[0].pair)]
        [('hug', 1, 10), ('ugg', 1, 5)]
        """
        found: list[Term] = []
        for word, count, ids in zip(self.words, self.counts, self.words_at(step), strict=True):
            times = sum(neighbours == pair for neighbours in pairwise(ids))
            if times:
                found.append(Term(word, times, count))
        return found

    def pair_of(self, left: str, right: str) -> Pair | None:
        """Return the ids of two tokens by their spelling; None where one of them was not learned.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> hugs.pair_of("h", "u"), hugs.pair_of("h", "x")
        ((2, 3), None)
        """
        ids = {token: id for id, token in reversed(self.run.vocab.items())}
        found = ids.get(left.encode()), ids.get(right.encode())
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def start_of(self, word: str) -> list[int] | None:
        """Return the symbols that a new word starts as; None where the alphabet lacks one."""
        symbols = [self.run.base_ids.get(s) for s in symbols_of(word.encode(), self.config.base)]
        ids = [id for id in symbols if id is not None]
        if len(ids) < len(symbols):
            return None
        return ids if self.run.end_of_word_id is None else [*ids, self.run.end_of_word_id]

    def encode(self, symbols: Sequence[int]) -> list[int]:
        """Encode a word by the merges learned."""
        return encode_reference(symbols, {merge.pair: merge for merge in self.merges})

    def encoding_steps(self, symbols: Sequence[int]) -> list[tuple[Merge, list[int]]]:
        """Return each merge that encoding a word applies, and the symbols after it.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> [ids for _, ids in hugs.encoding_steps(hugs.start_of("hugg"))]
        [[2, 4, 1], [5, 1]]
        """
        found: list[tuple[Merge, list[int]]] = []
        ids = list(symbols)
        for merge in self.merges:
            merged = apply_merge(ids, merge.pair, merge.id)
            if merged != ids:
                ids = merged
                found.append((merge, ids))
        return found


def walk(
    word_counts: Mapping[str, int],
    config: TrainingConfig,
    document_symbols: Iterable[bytes] | None = None,
) -> Walk:
    """Train by the reference on words and their counts, and keep what it takes to look back.

    `document_symbols` as for `train_reference`. Raises `EmptyCorpusError` where there is no word,
    and `VocabularyTooSmallError`.

    >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
    >>> hugs.pair_counts_at(0)
    {(2, 3): 10, (3, 1): 15, (1, 1): 5}
    >>> hugs.words_at(1), hugs.n_start
    ([[2, 4], [4, 1]], 4)
    """
    if not word_counts:
        raise EmptyCorpusError("There is no word to learn from: write one.")
    pretokens = PretokenCounts(
        tuple(word.encode() for word in word_counts),
        np.array(list(word_counts.values()), dtype=np.int64),
    )
    run = train_reference(pretokens, config, document_symbols)
    marker = [] if run.end_of_word_id is None else [run.end_of_word_id]
    return Walk(
        config=config,
        run=run,
        words=tuple(word_counts),
        counts=tuple(word_counts.values()),
        starts=tuple(
            (*(run.base_ids[symbol] for symbol in symbols_of(word, config.base)), *marker)
            for word in pretokens.words
        ),
    )
