"""What a run that continues an existing tokenizer knows beyond its own merges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bpe_core.errors import ConfigError
from bpe_core.runs.term_merges import TermCost
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Merge


@dataclass(frozen=True, slots=True)
class Continuation:
    """The tokenizer that a run continues, and what the user asked for."""

    base: Tokenizer
    counts: tuple[int, ...]
    """The count of each new merge's pair when it was chosen."""
    left_out: tuple[bytes, ...] = ()
    """The bytes of tokens that no merge may make."""
    terms: tuple[TermCost, ...] = ()
    """The cost of each term that was tried before learning."""

    @property
    def n_term_merges(self) -> int:
        """How many of the first merges were made for terms."""
        return sum(cost.tokens_added for cost in self.terms)

    def list_merges(self, tokenizer: Tokenizer) -> tuple[Merge, ...]:
        """Return the merges that follow those of the base, ranked from 0, with their counts.

        Raises `ConfigError` unless there is one count for each.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> from bpe_core.tokenizer.tokenizer import extended
        >>> longer = extended(gpt2(), [(262, 262, 50257)])
        >>> Continuation(gpt2(), (7,)).list_merges(longer)
        (Merge(rank=0, left=262, right=262, id=50257, count=7),)
        """
        new = tokenizer.table.merges(self.base.n_merges)
        if len(self.counts) != len(new):
            raise ConfigError(
                f"There are {len(self.counts):,} counts for {len(new):,} new merges. "
                "Give one for each."
            )
        return tuple(
            Merge(rank, merge.left, merge.right, merge.id, count)
            for rank, (merge, count) in enumerate(zip(new, self.counts, strict=True))
        )


def spelled_by(merges: Iterable[Merge]) -> dict[int, tuple[int, ...]]:
    """Return each id that the merges make, with the older ids that spell it.

    If several merges make an id, the first one spells it.

    >>> spelled_by([Merge(0, 1, 2, 3, count=9), Merge(1, 3, 3, 4, count=5)])
    {3: (1, 2), 4: (1, 2, 1, 2)}
    """
    spelled: dict[int, tuple[int, ...]] = {}
    for merge in merges:
        left, right = (spelled.get(id, (id,)) for id in merge.pair)
        spelled.setdefault(merge.id, left + right)
    return spelled
