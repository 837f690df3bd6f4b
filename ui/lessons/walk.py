"""Train with the reference trainer, keeping what is needed to inspect every step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bpe_core.errors import EmptyCorpusError
from bpe_core.trainers import (
    ReferenceRun,
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    short_pairs,
    split_symbols,
    train_reference,
)
from bpe_core.types import Merge, Pair, PretokenCounts, TrainingConfig


@dataclass(frozen=True, slots=True)
class Term:
    """The contribution of one word to a pair's count: `times` multiplied by `count`."""

    word: str
    times: int
    """Occurrences of the pair in the word, overlapping ones included."""
    count: int
    """Occurrences of the word."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A finished training whose every step can be inspected; make one with `walk`."""

    config: TrainingConfig
    run: ReferenceRun
    words: tuple[str, ...]
    counts: tuple[int, ...]
    """Occurrences of each word."""
    starts: tuple[tuple[int, ...], ...]
    """The ids of the symbols of each word before the first merge."""

    @property
    def merges(self) -> Sequence[Merge]:
        """The merges learned, in order."""
        return self.run.merges

    @property
    def n_start(self) -> int:
        """The size of the vocabulary before the first merge."""
        return len(self.run.vocab) - len({merge.id for merge in self.merges})

    def words_at(self, step: int) -> list[list[int]]:
        """Return the ids of each word after `step` merges."""
        words = [list(start) for start in self.starts]
        for merge in self.merges[:step]:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
        return words

    def pair_counts_at(self, step: int) -> dict[Pair, int]:
        """Return the count of every pair after `step` merges, in order of first occurrence."""
        pair_counts = count_pairs(self.words_at(step), self.counts)
        if self.config.max_token_bytes is None:
            return pair_counts
        tokens = [self.run.vocab[id] for id in sorted(self.run.vocab)]
        return short_pairs(pair_counts, tokens, self.config.max_token_bytes)

    def next_pair_at(self, step: int) -> Pair | None:
        """Return the most frequent pair by the tie rule; None if no word has two symbols."""
        pair_counts = self.pair_counts_at(step)
        return choose_pair(pair_counts, self.config.tie_break) if pair_counts else None

    def pair_joined_at(self, step: int) -> Pair | None:
        """Return the pair that the next merge joins; None after the last merge."""
        return self.merges[step].pair if step < len(self.merges) else None

    def first_split(self) -> int | None:
        """Return the first step at which the two rules for ties join different pairs, or None."""
        for step in range(len(self.merges)):
            counts = self.pair_counts_at(step)
            if choose_pair(counts, "first-seen") != choose_pair(counts, "smallest-pair"):
                return step
        return None

    def terms(self, step: int, pair: Pair) -> list[Term]:
        """Return the words that contribute to a pair's count at a step.

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

    def find_pair(self, left: str, right: str) -> Pair | None:
        """Return the ids of two tokens by their spelling; None if one of them does not exist.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> hugs.find_pair("h", "u"), hugs.find_pair("h", "x")
        ((2, 3), None)
        """
        ids = {token: id for id, token in reversed(self.run.vocab.items())}
        found = ids.get(left.encode()), ids.get(right.encode())
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def base_symbols(self, word: str) -> list[int] | None:
        """Return the ids of a new word's symbols; None if the alphabet lacks one of them."""
        symbols = [self.run.base_ids.get(s) for s in split_symbols(word.encode(), self.config.base)]
        ids = [id for id in symbols if id is not None]
        if len(ids) < len(symbols):
            return None
        return ids if self.run.end_of_word_id is None else [*ids, self.run.end_of_word_id]

    def encode(self, symbols: Sequence[int]) -> list[int]:
        """Encode a word's symbols with the merges learned."""
        return encode_reference(symbols, {merge.pair: merge for merge in self.merges})

    def encoding_steps(self, symbols: Sequence[int]) -> list[tuple[Merge, list[int]]]:
        """Return each merge applied in encoding a word, and the ids after it.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> [ids for _, ids in hugs.encoding_steps(hugs.base_symbols("hugg"))]
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
    """Train with the reference on words and their counts, keeping what is needed to inspect steps.

    `document_symbols` is passed to `train_reference`. Raises `EmptyCorpusError` if there are no
    words, and `VocabularyTooSmallError`.

    >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
    >>> hugs.pair_counts_at(0)
    {(2, 3): 10, (3, 1): 15, (1, 1): 5}
    >>> hugs.words_at(1), hugs.n_start
    ([[2, 4], [4, 1]], 4)
    """
    if not word_counts:
        raise EmptyCorpusError("There are no words to learn from. Write at least one.")
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
            (*(run.base_ids[symbol] for symbol in split_symbols(word, config.base)), *marker)
            for word in pretokens.words
        ),
    )
