"""A finished training run: its tokenizer, and the state of the training at any step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, describe, is_whole
from bpe_core.corpus.corpus import Corpus, to_corpus
from bpe_core.counting.word_row import Layout, at_step, lay_out_encoded
from bpe_core.errors import ArgumentTypeError, OutOfRangeError
from bpe_core.extras import to_frame
from bpe_core.immutable import Immutable
from bpe_core.runs.continuation import Continuation, spelled_by
from bpe_core.runs.origin import RunOrigin
from bpe_core.runs.pair_counts import pair_counts, pairs_at_step, top_pairs
from bpe_core.runs.term_merges import TermCost
from bpe_core.runs.token_curves import joined_tokens, lay_out_for, tokens_on
from bpe_core.runs.trace import trace_merges
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.forbidden_pairs import ForbiddenPairs
from bpe_core.trainers.pair_table import PairTable
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


class TrainingRun(Immutable):
    """The result of training: the tokenizer and what it was learned from; immutable.

    `joined_at` is int32[n_slots]: for each symbol of the pre-tokens, laid out as in
    `word_row.lay_out_pretokens`, the rank of the merge that joined it to the symbol before it, or
    NEVER. `tokens_after` is computed from it if not given.

    A run may continue an existing tokenizer, its `base`. The symbols that such a run starts from
    are the base's tokens, and its merges and steps are those after the base's.

    >>> from bpe_core.runs.train import train
    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
    >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
    >>> [(run.tokenizer.vocab[merge.id], merge.count) for merge in run.merges]
    [(b'ug', 15), (b'hug', 10)]
    >>> run.tokens_after.tolist(), run.stop_reason
    ([45, 30, 20], 'vocab-size')
    """

    __slots__ = (
        "_config",
        "_continues",
        "_corpus_bytes",
        "_corpus_sha256",
        "_elapsed_seconds",
        "_first_layout",
        "_forbidden",
        "_joined_at",
        "_merges",
        "_origin",
        "_pretokens",
        "_stop_reason",
        "_tokenizer",
        "_tokens_after",
    )

    def __init__(
        self,
        *,
        tokenizer: Tokenizer,
        config: TrainingConfig,
        corpus_sha256: str,
        corpus_bytes: int,
        pretokens: PretokenCounts,
        joined_at: NDArray[np.int32],
        stop_reason: StopReason,
        elapsed_seconds: float,
        tokens_after: NDArray[np.int64] | None = None,
        continues: Continuation | None = None,
        origin: RunOrigin | None = None,
    ) -> None:
        self._tokenizer = tokenizer
        self._continues = continues
        self._forbidden: ForbiddenPairs | None = None
        self._merges: tuple[Merge, ...] | None = None
        if continues is not None:
            self._merges = continues.merges_of(tokenizer)
        self._config = config
        self._origin = origin or RunOrigin()
        self._corpus_sha256 = corpus_sha256
        self._corpus_bytes = corpus_bytes
        self._pretokens = pretokens
        self._joined_at = read_only(joined_at)
        self._stop_reason: StopReason = stop_reason
        self._elapsed_seconds = elapsed_seconds
        # The words as they were before any merge, laid out when a method first needs them.
        self._first_layout: Layout | None = None
        if tokens_after is None:
            self._tokens_after = joined_tokens(self._layout, joined_at, len(self.merges))
        else:
            self._tokens_after = read_only(tokens_after.copy())

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuild instead of copying: pickling drops NumPy's read-only flag; the layout is derived.
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
            tokens_after=self.tokens_after,
            continues=self.continues,
            origin=self.origin,
        )
        return build, ()

    def __repr__(self) -> str:
        return (
            f"<TrainingRun of {len(self.merges):,} merges from {self.corpus_bytes:,} bytes, "
            f"stop reason {self.stop_reason!r}>"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON values what is needed to repeat the run, and the result to expect.

        `Corpus.split` with the values in "split" gives the text whose `sha256` is "corpus_sha256",
        and `train` with "config" gives the tokenizer whose `fingerprint` is
        "tokenizer_fingerprint". An extended run also has the fingerprint of its base.

        >>> import bpe_core as bpe
        >>> training, _ = bpe.Corpus.from_text("hug hugs\\n" * 100).split(0.1, seed=7)
        >>> found = bpe.train(training, vocab_size=260).to_dict()
        >>> found["config"]["vocab_size"], found["split"]["seed"]
        (260, 7)
        """
        split = self.origin.split
        return {
            "bpe_core": self.origin.version,
            "config": asdict(self.config),
            "split": None if split is None else asdict(split),
            "corpus_sha256": self.corpus_sha256,
            "corpus_bytes": self.corpus_bytes,
            "tokenizer_fingerprint": self.tokenizer.fingerprint,
            "base_fingerprint": None if self.base is None else self.base.fingerprint,
            "n_merges": len(self.merges),
            "stop_reason": self.stop_reason,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each merge, and the corpus's tokens after it.

        >>> from bpe_core.runs.train import train
        >>> run = train(["hug hugs"], vocab_size=259)
        >>> run.to_frame()[["token", "count", "tokens_after"]].values.tolist()
        [[b'hu', 2, 6], [b'hug', 2, 4]]
        """
        vocab, tokens_after = self.tokenizer.vocab, self.tokens_after[1:].tolist()
        return to_frame(
            [
                {**asdict(merge), "token": vocab[merge.id], "tokens_after": n_tokens}
                for merge, n_tokens in zip(self.merges, tokens_after, strict=True)
            ]
        )

    # Contents

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer that was learned."""
        return self._tokenizer

    @property
    def origin(self) -> RunOrigin:
        """The version that trained it, and how its text was divided from a corpus."""
        return self._origin

    @property
    def base(self) -> Tokenizer | None:
        """The tokenizer that the run continues; None if it started from single symbols."""
        return None if self._continues is None else self._continues.base

    @property
    def continues(self) -> Continuation | None:
        """The base and what was chosen for extending it; None if there is no base."""
        return self._continues

    @property
    def left_out(self) -> tuple[bytes, ...]:
        """The bytes of the tokens that were left out when the base was extended."""
        return () if self._continues is None else self._continues.left_out

    @property
    def terms(self) -> tuple[TermCost, ...]:
        """The cost of each term that was tried before learning from counts."""
        return () if self._continues is None else self._continues.terms

    @property
    def n_term_merges(self) -> int:
        """How many of the first merges were made for terms rather than for their counts."""
        return 0 if self._continues is None else self._continues.n_term_merges

    @property
    def new_tokens(self) -> dict[int, tuple[int, ...]]:
        """The ids that each new token is spelled with in the base; empty without a base.

        >>> from bpe_core.adapting.extend import extend
        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> run = extend(gpt2(), Corpus.from_text("A tokenizer"), n_tokens=1)
        >>> {run.tokenizer.vocab[id]: parts for id, parts in run.new_tokens.items()}
        {b' tokenizer': (11241, 7509)}
        """
        return {} if self.base is None else spelled_by(self.merges)

    @property
    def config(self) -> TrainingConfig:
        """The configuration that the run was trained with."""
        return self._config

    @property
    def corpus_sha256(self) -> str:
        """The corpus's SHA-256; empty if training was cancelled while a stream was being read."""
        return self._corpus_sha256

    @property
    def corpus_bytes(self) -> int:
        """The size of the corpus in bytes of UTF-8."""
        return self._corpus_bytes

    @property
    def pretokens(self) -> PretokenCounts:
        """The corpus as distinct pre-tokens and their counts."""
        return self._pretokens

    @property
    def joined_at(self) -> NDArray[np.int32]:
        """int32[n_slots]: the rank of the merge that joined each slot, or NEVER; read-only."""
        return self._joined_at

    @property
    def stop_reason(self) -> StopReason:
        """The reason training ended."""
        return self._stop_reason

    @property
    def elapsed_seconds(self) -> float:
        """The duration of training, including counting."""
        return self._elapsed_seconds

    @property
    def tokens_after(self) -> NDArray[np.int64]:
        """int64[n_merges + 1]: the tokens of the corpus after each number of merges; read-only."""
        return self._tokens_after

    @property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in the order learned, each with its pair's count at that time.

        With a base, only the new ones, with ranks from 0.
        """
        return self.tokenizer.merges if self._merges is None else self._merges

    def truncated(self, n_merges: int) -> Tokenizer:
        """Return the tokenizer after the first `n_merges` merges of the run; 0 gives the base.

        Raises `OutOfRangeError` if the run does not have that many merges.

        >>> from bpe_core.runs.train import train
        >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(259, special_tokens=()))
        >>> run.truncated(1) == run.tokenizer.truncated(1)
        True
        """
        self._check_step(n_merges)
        return self.tokenizer.truncated(self._n_before + n_merges)

    # The state at any step

    def pair_counts(self, step: int) -> dict[Pair, int]:
        """Return the count of every pair before merge `step`, in order of first occurrence.

        `step` may equal the number of merges, for the pairs left at the end. Pairs whose token
        would be longer than `max_token_bytes` are left out. Raises `OutOfRangeError` for a
        step outside the run.

        >>> from bpe_core.runs.train import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
        >>> run = train(corpus, TrainingConfig(258, base="characters", special_tokens=()))
        >>> run.pair_counts(0)
        {(1, 2): 10, (2, 0): 15, (0, 0): 5}
        """
        return pair_counts(self._pairs(step))

    def top_pairs(self, step: int, k: int) -> list[PairCount]:
        """Return the k best pairs before merge `step`, the winner first, in tie-break order.

        The pair of a merge for a term comes first, too, whatever its count. Raises
        `OutOfRangeError` for a step outside the run, and `ConfigError` for a negative k.

        >>> from bpe_core.runs.train import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "gum": 10})
        >>> run = train(corpus, TrainingConfig(6, base="characters", special_tokens=()))
        >>> [(left, right, count) for left, right, count in run.top_pairs(0, 2)]
        [(0, 3, 10), (1, 3, 10)]
        """
        check_whole("k", k, least=0)
        found = top_pairs(self._pairs(step), k, self.config.tie_break)
        if step >= self.n_term_merges:
            return found
        merge = self.merges[step]
        winner = PairCount(*merge.pair, merge.count or 0)
        return [winner, *(PairCount(*pair) for pair in found if pair != winner)][:k]

    def layout_at(self, step: int) -> Layout:
        """Return the symbols of all pre-tokens, in one row, as they were before merge `step`.

        Raises `OutOfRangeError` for a step outside the run.

        >>> from bpe_core.runs.train import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> run.layout_at(0).ids.tolist(), run.layout_at(1).ids.tolist()
        ([-1, 64, 64, 64, -1], [-1, 256, 64, -1])
        """
        self._check_step(step)
        return at_step(self._layout, self.joined_at, self._merge_ids, step)

    def trace(
        self, start: int, stop: int, k: int = 10, n_touched: int = 16, n_changes: int = 3
    ) -> MergeTrace:
        """Return what training saw before each of the merges start ... stop - 1 and what changed.

        For each step, keep at most `k` pairs, `n_touched` words, and `n_changes` each of the pairs
        that rose and fell. Raises `OutOfRangeError` for a range outside the
        run.

        >>> from bpe_core.runs.train import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> trace = run.trace(0, 1, k=1)
        >>> trace.top_count.tolist(), trace.n_overlapping.tolist()
        ([[4]], [2])
        """
        self._check_step(stop)
        numbers = start, k, n_touched, n_changes
        are_numbers = all(map(is_whole, numbers))
        if not are_numbers or min(numbers) < 0 or start > stop:
            error = OutOfRangeError if are_numbers else ArgumentTypeError
            raise error(
                f"Merges {start!r:.40} to {stop} with {k!r:.40} pairs, {n_touched!r:.40} words and "
                f"{n_changes!r:.40} changes cannot be traced. Use whole numbers, 0 or more, with "
                f"start <= stop <= {len(self.merges)}."
            )
        return trace_merges(
            self.layout_at(start),
            self.joined_at[self.joined_at >= start],
            self.tokens(),
            self.merges[start:stop],
            self.config,
            self.forbidden,
            start=start,
            k=k,
            n_touched=n_touched,
            n_changes=n_changes,
            n_for_terms=self.n_term_merges,
        )

    @overload
    def tokens_after_on(self, corpus: Corpus | Iterable[str]) -> NDArray[np.int64]: ...
    @overload
    def tokens_after_on(
        self, corpus: Corpus | Iterable[str], should_stop: Callable[[], bool] | None
    ) -> NDArray[np.int64] | None: ...

    def tokens_after_on(
        self, corpus: Corpus | Iterable[str], should_stop: Callable[[], bool] | None = None
    ) -> NDArray[np.int64] | None:
        """Return int64[n_merges + 1]: another corpus's number of tokens after each merge.

        A symbol missing from the alphabet counts as one token and never merges. `should_stop` is
        called at intervals; return None if it returns True. Raises `CorpusError` for anything but
        a `Corpus` or a list of texts.

        >>> from bpe_core.runs.train import train
        >>> run = train(Corpus.from_word_counts({"hug": 1}), TrainingConfig(258, special_tokens=()))
        >>> run.tokens_after_on(Corpus.from_text("hug hugs")).tolist()
        [8, 6, 4]
        """
        return tokens_on(self.tokenizer, to_corpus(corpus), should_stop or _never, self._n_before)

    @property
    def n_ids(self) -> int:
        """1 + the highest id of the tokenizer: its size, unless it skips ids."""
        return 1 + max(self.tokenizer.vocab)

    def tokens(self) -> list[bytes]:
        """Return the bytes of each id; empty for an id that is not in use."""
        return [self.tokenizer.vocab.get(id, b"") for id in range(self.n_ids)]

    @property
    def forbidden(self) -> ForbiddenPairs | None:
        """The pairs that may never merge: they spell a token of the base, or one left out.

        None without a base.
        """
        if self._forbidden is None and self.base is not None:
            self._forbidden = ForbiddenPairs(self.tokens(), self.base.vocab, self.left_out)
        return self._forbidden

    # Internals

    @property
    def _n_before(self) -> int:
        """The number of the tokenizer's merges that come before those of the run."""
        return 0 if self.base is None else self.base.n_merges

    @property
    def _merge_ids(self) -> NDArray[np.int32]:
        return np.array([merge.id for merge in self.merges], np.int32)

    @property
    def _layout(self) -> Layout:
        if self._first_layout is None:
            if self.base is None:
                self._first_layout = lay_out_for(self.tokenizer, self.pretokens)
            else:
                encoded = self.base.encoder.encode_pretokens(self.pretokens)
                self._first_layout = lay_out_encoded(self.pretokens, *encoded)
        return self._first_layout

    def _pairs(self, step: int) -> PairTable:
        self._check_step(step)
        return pairs_at_step(
            self._layout,
            self.joined_at,
            self._merge_ids,
            step,
            self.tokens(),
            self.config.max_token_bytes,
            self.forbidden,
        )

    def _check_step(self, step: int) -> None:
        if not is_whole(step) or not 0 <= step <= len(self.merges):
            is_number = is_whole(step)
            asked = step if is_number else describe(step)
            error = OutOfRangeError if is_number else ArgumentTypeError
            raise error(
                f"Step {asked} is outside this run of {len(self.merges)} merges. "
                f"Use a step from 0 to {len(self.merges)}."
            )


def _never() -> bool:
    return False
