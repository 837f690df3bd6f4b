"""A finished training: its tokenizer, and every number that training went through, at any step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import InitVar, dataclass, field
from functools import partial
from typing import overload

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import is_a, is_whole, said
from bpe_core.corpus import Corpus, no_corpus
from bpe_core.counting import count_pretokens
from bpe_core.engine.compilation import use_kernels
from bpe_core.errors import ConfigError
from bpe_core.immutable import Immutable
from bpe_core.layout import (
    NEVER,
    Layout,
    PairTable,
    at_step,
    lay_out_pretokens,
    pair_of,
    pair_table,
)
from bpe_core.token_curves import count_ids, replayed_tokens, says_all_merges, unfolded_tokens
from bpe_core.tokenizer import Tokenizer
from bpe_core.tracing import trace_merges
from bpe_core.types import (
    Merge,
    MergeTrace,
    Pair,
    PairCount,
    PretokenCounts,
    StopReason,
    TrainingConfig,
    read_only,
)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun(Immutable):
    """What a training learned, and from what; immutable.

    >>> from bpe_core.training import train
    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
    >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
    >>> [(run.tokenizer.vocab[merge.id], merge.count) for merge in run.merges]
    [(b'ug', 15), (b'hug', 10)]
    >>> run.tokens_after.tolist(), run.stop_reason
    ([45, 30, 20], 'vocab-size')
    """

    tokenizer: Tokenizer
    config: TrainingConfig
    corpus_sha256: str
    """Empty where training was cancelled before a stream was read to its end."""
    corpus_bytes: int
    pretokens: PretokenCounts = field(repr=False)
    joined_at: NDArray[np.int32] = field(repr=False)
    """int32[n_slots]: for each symbol of the pre-tokens laid out, as in `layout.lay_out`, the rank
    of the merge that joined it to the one before it, or NEVER; read-only."""
    stop_reason: StopReason
    elapsed_seconds: float
    counted_tokens: InitVar[NDArray[np.int64] | None] = None
    """What `tokens_after` is to be, where it is known; else it is worked out from `joined_at`."""
    tokens_after: NDArray[np.int64] = field(init=False, repr=False)
    """int64[n_merges + 1]: how many tokens the corpus has after each number of merges."""
    _start: list[Layout] = field(init=False, repr=False, default_factory=list[Layout])
    """The layout before any merge, once somebody has asked for it."""

    def __post_init__(self, counted_tokens: NDArray[np.int64] | None) -> None:
        tokens = self._count_tokens() if counted_tokens is None else counted_tokens.copy()
        tokens.flags.writeable = False
        object.__setattr__(self, "joined_at", read_only(self.joined_at))
        object.__setattr__(self, "tokens_after", tokens)

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt on arrival: NumPy forgets that an array is read-only, and the layout is derived.
        build = partial(
            TrainingRun,
            tokenizer=self.tokenizer,
            config=self.config,
            corpus_sha256=self.corpus_sha256,
            corpus_bytes=self.corpus_bytes,
            pretokens=self.pretokens,
            joined_at=self.joined_at,
            stop_reason=self.stop_reason,
            elapsed_seconds=self.elapsed_seconds,
            counted_tokens=self.tokens_after,
        )
        return build, ()

    def _count_tokens(self) -> NDArray[np.int64]:
        weights = self._layout.weights
        saved = np.zeros(self.tokenizer.n_merges, np.int64)
        joined = self.joined_at != NEVER
        np.add.at(saved, self.joined_at[joined], weights[joined])
        return weights.sum() - np.concatenate([np.zeros(1, np.int64), np.cumsum(saved)])

    @property
    def _layout(self) -> Layout:
        if not self._start:
            self._start.append(_lay_out_pretokens(self.tokenizer, self.pretokens))
        return self._start[0]

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in the order they were learned, each with the count it had then."""
        return self.tokenizer.merges

    def pair_counts(self, step: int) -> dict[Pair, int]:
        """Count every pair as it stood before merge `step`, the pair seen first at first.

        `step` may be the number of merges: the pairs that are left at the end. A pair whose token
        would be longer than `max_token_bytes` is not a pair here. Raises `ConfigError` for a step
        out of range.

        >>> from bpe_core.training import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
        >>> run = train(corpus, TrainingConfig(258, base="characters", special_tokens=()))
        >>> run.pair_counts(0)
        {(1, 2): 10, (2, 0): 15, (0, 0): 5}
        """
        table = self._pairs(step)
        order = np.argsort(table.first_slots)
        counts: list[int] = table.counts[order].tolist()
        keys: list[int] = table.keys[order].tolist()
        return {pair_of(key): count for key, count in zip(keys, counts, strict=True)}

    def top_pairs(self, step: int, k: int) -> list[PairCount]:
        """Give the k best pairs before merge `step`, the winner first, ties in the rule's order.

        Raises `ConfigError` for a step out of range, and for a k below 0.

        >>> from bpe_core.training import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "gum": 10})
        >>> run = train(corpus, TrainingConfig(6, base="characters", special_tokens=()))
        >>> [(left, right, count) for left, right, count in run.top_pairs(0, 2)]
        [(0, 3, 10), (1, 3, 10)]
        """
        if not is_whole(k) or k < 0:
            raise ConfigError(f"The number of pairs is {said(k)}: ask for a whole number from 0.")
        table = self._pairs(step)
        smallest = self.config.tie_break == "smallest-pair"
        order = np.lexsort((table.keys if smallest else table.first_slots, -table.counts))[:k]
        counts: list[int] = table.counts[order].tolist()
        keys: list[int] = table.keys[order].tolist()
        most = counts[0] if counts else 0
        several = int(np.count_nonzero(table.counts == most)) > 1
        return [
            PairCount(*pair_of(key), count, tied=several and count == most)
            for key, count in zip(keys, counts, strict=True)
        ]

    def layout_at(self, step: int) -> Layout:
        """Give the pre-tokens' symbols as they were before merge `step`, all in one row.

        Raises `ConfigError` for a step out of range.

        >>> from bpe_core.training import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> run.layout_at(0).ids.tolist(), run.layout_at(1).ids.tolist()
        ([-1, 64, 64, 64, -1], [-1, 256, 64, -1])
        """
        self._check_step(step)
        merge_ids = np.array([merge.id for merge in self.merges], np.int32)
        return at_step(self._layout, self.joined_at, merge_ids, step)

    def trace(
        self, start: int, stop: int, k: int = 10, n_touched: int = 16, n_changes: int = 3
    ) -> MergeTrace:
        """Say what training saw before each of the merges start ... stop - 1, and what it changed.

        `k` is the number of pairs to keep of each step, `n_touched` of words, `n_changes` of risen
        and of fallen pairs. Raises `ConfigError` for a range that the run doesn't have.

        >>> from bpe_core.training import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> trace = run.trace(0, 1, k=1)
        >>> trace.top_count.tolist(), trace.n_overlapping.tolist()
        ([[4]], [2])
        """
        self._check_step(stop)
        numbers = start, k, n_touched, n_changes
        if not all(map(is_whole, numbers)) or min(numbers) < 0 or start > stop:
            raise ConfigError(
                f"Merges {start!r:.40} to {stop} with {k!r:.40} pairs, {n_touched!r:.40} words and "
                f"{n_changes!r:.40} changes can't be traced: take "
                f"0 <= start <= stop <= {len(self.merges)}, and whole numbers from 0."
            )
        return trace_merges(
            self.layout_at(start),
            self.joined_at[self.joined_at >= start],
            self._tokens(),
            self.merges[start:stop],
            self.config,
            start=start,
            k=k,
            n_touched=n_touched,
            n_changes=n_changes,
        )

    @overload
    def tokens_after_on(self, corpus: Corpus) -> NDArray[np.int64]: ...
    @overload
    def tokens_after_on(
        self, corpus: Corpus, should_stop: Callable[[], bool] | None
    ) -> NDArray[np.int64] | None: ...

    def tokens_after_on(
        self, corpus: Corpus, should_stop: Callable[[], bool] | None = None
    ) -> NDArray[np.int64] | None:
        """int64[n_merges + 1]: how many tokens another corpus has after each number of merges.

        A symbol that the alphabet lacks counts as a token of its own, which never merges.
        `should_stop` is asked now and then; where it comes to say True, there is no result. Raises
        `CorpusError` for what is no corpus.

        >>> from bpe_core.training import train
        >>> run = train(Corpus.from_word_counts({"hug": 1}), TrainingConfig(258, special_tokens=()))
        >>> run.tokens_after_on(Corpus.from_text("hug hugs")).tolist()
        [8, 6, 4]
        """
        if not is_a(corpus, Corpus):
            raise no_corpus(corpus)
        ask = should_stop or _never
        tokenizer = self.tokenizer
        large = corpus.word_counts is None and use_kernels(corpus.n_bytes)
        if large and says_all_merges(tokenizer):
            counts = count_ids(tokenizer, corpus.documents, ask)
            # Asked anew: what was counted may be a part only.
            return None if ask() else unfolded_tokens(counts, self.merges)
        pretokens = count_pretokens(corpus, tokenizer.pretokenizer, should_stop=ask)
        if ask():
            return None
        return replayed_tokens(_lay_out_pretokens(tokenizer, pretokens), self.merges, ask)

    def _tokens(self) -> list[bytes]:
        return [self.tokenizer.vocab[id] for id in range(self.tokenizer.vocab_size)]

    def _pairs(self, step: int) -> PairTable:
        return pair_table(self.layout_at(step), self._tokens(), self.config.max_token_bytes)

    def _check_step(self, step: int) -> None:
        if not is_whole(step) or not 0 <= step <= len(self.merges):
            asked = step if is_whole(step) else said(step)
            raise ConfigError(
                f"Step {asked} is outside this run of {len(self.merges)} merges: "
                f"take one from 0 to {len(self.merges)}."
            )


def _never() -> bool:
    return False


def _lay_out_pretokens(tokenizer: Tokenizer, pretokens: PretokenCounts) -> Layout:
    return lay_out_pretokens(
        pretokens, tokenizer.base, tokenizer.base_ids, tokenizer.end_of_word_id
    )
