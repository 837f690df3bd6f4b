"""Find what a merge changed in a run by counting all pairs before and after it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

import bpe_core as bpe
from bpe_core.trainers import apply_merge, count_pairs, split_symbols
from bpe_core.types import Pair, TieBreak


def train_with_ties(tie_break: TieBreak) -> bpe.TrainingRun:
    """Train on short words over few letters, which give ties and overlaps as in `aaa`."""
    draw = np.random.default_rng(1)
    words: dict[str, int] = {}
    for _ in range(90):
        letters = draw.choice(list("aabcé"), size=draw.integers(2, 11))
        words["".join(letters)] = int(draw.integers(1, 9))
    config = bpe.TrainingConfig(
        70, pretokenizer="none", base="characters", special_tokens=(), tie_break=tie_break
    )
    return bpe.train(bpe.Corpus.from_word_counts(words), config)


@dataclass(frozen=True, slots=True)
class Recount:
    """The pairs before and after a merge, and the words that it changed."""

    winner: Pair
    before: Counter[Pair]
    after: Counter[Pair]
    given: list[tuple[int, list[int]]]
    """For each word that changes: how many pairs it contributed, and its symbols before."""

    @classmethod
    def of(cls, run: bpe.TrainingRun, step: int) -> Recount:
        """Recount the pairs around the merge after `step`."""
        base_ids = run.tokenizer.base_ids
        words = [
            [base_ids[symbol] for symbol in split_symbols(word, run.tokenizer.base)]
            for word in run.pretokens.words
        ]
        counts: list[int] = run.pretokens.counts.tolist()
        for merge in run.merges[:step]:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
        merge = run.merges[step]
        merged = [apply_merge(word, merge.pair, merge.id) for word in words]
        given = [
            ((len(old) - len(new)) * n, old)
            for old, new, n in zip(words, merged, counts, strict=True)
            if len(new) < len(old)
        ]
        return cls(
            winner=merge.pair,
            before=Counter(count_pairs(words, counts)),
            after=Counter(count_pairs(merged, counts)),
            given=sorted(given, key=lambda one: -one[0]),
        )

    @property
    def count(self) -> int:
        """The count of the winner."""
        return self.before[self.winner]

    @property
    def next_count(self) -> int | None:
        """The count of the best pair that does not tie with the winner."""
        return max((n for n in self.before.values() if n < self.count), default=None)

    @property
    def n_overlapping(self) -> int:
        """The number of occurrences of the winner that cannot merge, as in `aaa`."""
        return self.count - sum(given for given, _ in self.given)

    def tied(self, tie_break: TieBreak) -> list[Pair]:
        """Return the tied pairs in the order of the tie rule: by id, or as first seen."""
        pairs = [pair for pair, n in self.before.items() if n == self.count]
        return sorted(pairs) if tie_break == "smallest-pair" else pairs

    def moved(self, sign: int) -> list[tuple[int, Pair]]:
        """Return the three pairs whose counts rise most, or fall most, and by how much."""
        by = {
            pair: sign * (self.after[pair] - self.before[pair])
            for pair in {*self.before, *self.after} - {self.winner}
        }
        order = sorted((pair for pair in by if by[pair] > 0), key=lambda pair: (-by[pair], pair))
        return [(by[pair], pair) for pair in order[:3]]
