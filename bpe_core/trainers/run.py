"""A finished training run: its tokenizer, and the state of the training at any step.

The tokens of a text after each merge are counted from its encoding or by replaying the merges. If
only one merge makes a token, the token always consists of the same two parts, and so do its parts.
A text's encoding then determines how often each merge was applied, without replaying any.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, counted, times
from bpe_core.corpus import (
    NEVER,
    Corpus,
    Layout,
    Split,
    TrainedOn,
    WordCounts,
    count_pretokens,
    to_corpus,
)
from bpe_core.errors import OutOfRangeError, VocabularyTooSmallError
from bpe_core.extras import to_frame
from bpe_core.kernels import MISSING, use_kernels
from bpe_core.lazy import from_above
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers.continued import AllowedPairs, ForbiddenPairs
from bpe_core.trainers.incremental import MergeState
from bpe_core.trainers.pair_rules import find_rule
from bpe_core.trainers.pair_tables import BITS, PairCount, PairTable, pair_table
from bpe_core.trainers.picky import PickyState, joined_by
from bpe_core.trainers.special_runs import (
    Continuation,
    ParityHistory,
    TermCost,
    bytes_apart,
    reviving_tokens,
    spelled_by,
)
from bpe_core.trainers.statistics import (
    PairPicture,
    RunCurves,
    bytes_per_token,
    elbow,
    merges_that_save,
    pair_matrix,
    rank_frequency,
    steps_to_draw,
)
from bpe_core.trainers.trace import MergeTrace, has_letters, is_close, join_traces, trace_merges
from bpe_core.types import (
    Immutable,
    Merge,
    Pair,
    PretokenCounts,
    StopReason,
    TrainingConfig,
    read_only,
)

_MERGES_BETWEEN_LOOKS = 64
MIN_GAP: Final = 0.25
"""A text of 100 KB has half of this against held-out text of its kind, and one of 10 KB three times
as much if it is learned to the end: see the table in docs/decide.md."""
MIN_SHARE_ONCE: Final = 0.25
_MAX_SEARCHED: Final = 1_000
"""Merges searched for a close race from the first merge of letters on; in natural text one of the
first 20 is close."""
_SEARCHED_FIRST: Final = 16
_FACTOR: Final = 4


def tokens_on(
    tokenizer: Tokenizer, corpus: Corpus, should_stop: Callable[[], bool], n_before: int = 0
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the number of tokens of a corpus after each merge.

    The first `n_before` merges, those of a base that was extended, have no entries. A symbol
    missing from the alphabet counts as one token and never merges. Raises CancelledError
    once `should_stop()`, called at intervals, returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> tokens_on(gpt2().truncated(3), Corpus.from_text("the then"), lambda: False).tolist()
    [8, 7, 7, 5]
    """
    large = corpus.word_counts is None and use_kernels(corpus.n_bytes)
    if large and merges_are_recoverable(tokenizer):
        counts = count_ids(tokenizer, corpus.documents, should_stop)
        return unfolded_tokens(counts, tokenizer.merges[n_before:])
    pretokens = count_pretokens(corpus, tokenizer.pretokenizer, should_stop=should_stop)
    if should_stop():
        raise CancelledError
    if n_before or tokenizer.table.byte_ids:
        layout = lay_out_tokens(tokenizer.truncated(n_before), pretokens)
    else:
        layout = lay_out_for(tokenizer, pretokens)
    removals = tokenizer.table.removals
    return replayed_tokens(layout, tokenizer.merges[n_before:], should_stop, removals)


def lay_out_for(tokenizer: Tokenizer, pretokens: PretokenCounts) -> Layout:
    """Lay out pre-tokens in one row, as the base symbols that a tokenizer starts from."""
    return Layout.of_symbols(
        pretokens, tokenizer.base, tokenizer.base_ids, tokenizer.table.end_of_word_id
    )


def lay_out_tokens(base: Tokenizer, pretokens: PretokenCounts) -> Layout:
    """Lay out pre-tokens in one row, as the tokens of a base whose training is continued.

    Bytes that spell a character outside its alphabet are MISSING, because nothing merges them.

    >>> from bpe_core.tokenizer import gpt2
    >>> lay_out_tokens(gpt2(), PretokenCounts((b"hugs",), np.array([3]))).ids.tolist()
    [-1, 71, 10339, -1]
    """
    ids, ends = base.encoder.encode_pretokens(pretokens)
    if base.table.byte_ids:
        ids = np.where(np.isin(ids, [*base.table.byte_ids.values()]), np.int32(MISSING), ids)
    return Layout.of_tokens(pretokens, ids, ends)


def joined_tokens(
    layout: Layout,
    joined_at: NDArray[np.int32],
    n_merges: int,
    undone: NDArray[np.int32] | None = None,
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1], read-only: the tokens of the training words after each merge.

    `joined_at` is int32[n_slots], the rank of the merge that joined each slot, or NEVER; `undone`
    are the joints that did not last, as `PickyState.undone` says.

    >>> from bpe_core.corpus import NEVER, Layout
    >>> joined_at = np.array([NEVER, NEVER, 1, 0, NEVER], np.int32)
    >>> joined_tokens(Layout.of_words([[7, 8, 9]], [10]), joined_at, n_merges=2).tolist()
    [30, 20, 10]
    """
    saved = np.zeros(n_merges, np.int64)
    weights = layout.weights()
    joined = joined_at != NEVER
    if undone is not None and len(undone):
        slots, _, since, until = undone.T
        lasts = until == NEVER
        joined[slots[lasts]] = False
        np.add.at(saved, since - 1, weights[slots])
        np.subtract.at(saved, until[~lasts], weights[slots[~lasts]])
    np.add.at(saved, joined_at[joined], weights[joined])
    return read_only(layout.weights().sum() - np.cumsum(np.concatenate([[0], saved])))


def count_with_missing(tokenizer: Tokenizer, corpus: Corpus | WordCounts) -> int:
    """Return the number of tokens that a corpus takes; a symbol of no token counts as one.

    Words that are counted must be those of the tokenizer's pre-tokenizer.

    >>> from bpe_core.tokenizer import gpt2
    >>> count_with_missing(gpt2(), Corpus.from_word_counts({"hugging": 5}))
    15
    """
    if isinstance(corpus, WordCounts):
        pretokens = corpus.pretokens
    else:
        pretokens = count_pretokens(corpus, tokenizer.pretokenizer)
    _, ends = tokenizer.encoder.encode_pretokens(pretokens)
    return int((np.diff(ends, prepend=0) * pretokens.counts).sum())


def count_ids(
    tokenizer: Tokenizer,
    documents: Iterable[str],
    should_stop: Callable[[], bool] | None = None,
) -> NDArray[np.int64]:
    """Count how often each id occurs in the encoding of documents: int64[largest id + 1].

    Special tokens are read as text, and symbols missing from the alphabet are skipped.
    Raises CancelledError once `should_stop()`, called before each document, returns True.

    >>> from bpe_core.tokenizer import gpt2
    >>> counts = count_ids(gpt2(), ["the", "the the"])
    >>> {gpt2().vocab[id]: int(counts[id]) for id in np.flatnonzero(counts)}
    {b' the': 1, b'the': 2}
    """
    n_ids = max(tokenizer.vocab) + 1
    counts = np.zeros(n_ids, np.int64)
    for document in documents:
        if should_stop is not None and should_stop():
            raise CancelledError
        counts += np.bincount(tokenizer.encode_to_numpy(document, errors="skip"), minlength=n_ids)
    return counts


def merges_are_recoverable(tokenizer: Tokenizer) -> bool:
    """Return True if an encoding shows how often each merge was applied.

    That is so if no byte is unknown and no two merges make the same token.

    >>> from bpe_core.tokenizer import gpt2
    >>> merges_are_recoverable(gpt2())
    True
    """
    made = {merge.id for merge in tokenizer.merges}
    return (
        tokenizer.base == "bytes"
        and not tokenizer.table.removals
        and tokenizer.end_of_word is None
        and len(tokenizer.base_ids) == 256
        and len(made) == tokenizer.n_merges
        and made.isdisjoint(tokenizer.base_ids.values())
    )


def unfolded_tokens(id_counts: NDArray[np.int64], merges: Sequence[Merge]) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the tokens after each merge, from the counts of the final ids.

    `id_counts` is int64[n]: how often each id occurs in the encoding. No two merges may make the
    same token.

    >>> merges = [Merge(rank=0, left=1, right=2, id=3), Merge(rank=1, left=0, right=3, id=4)]
    >>> unfolded_tokens(np.array([0, 0, 0, 1, 10]), merges).tolist()
    [32, 21, 11]
    """
    counts: list[int] = id_counts.tolist()
    joined = [0] * len(merges)
    for rank in range(len(merges) - 1, -1, -1):
        left, right, made = merges[rank].left, merges[rank].right, merges[rank].id
        joined[rank] = times = counts[made]
        counts[made] = 0
        counts[left] += times
        counts[right] += times
    return sum(counts) - np.cumsum([0, *joined], dtype=np.int64)


def replayed_tokens(
    layout: Layout,
    merges: Sequence[Merge],
    should_stop: Callable[[], bool],
    removals: Sequence[tuple[int, int]] = (),
) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the tokens after each merge, by applying any merges one by one.

    Raises CancelledError once `should_stop()`, called every 64 merges, returns True.

    >>> from bpe_core.corpus import Layout
    >>> merges = [Merge(rank=0, left=1, right=2, id=3), Merge(rank=1, left=0, right=3, id=4)]
    >>> layout = Layout.of_words([[0, 1, 2], [1, 2]], [10, 1])
    >>> tokens = replayed_tokens(layout, merges, lambda: False)
    >>> tokens.tolist()
    [32, 21, 11]
    """
    picky = PickyState(layout) if removals else None
    state = picky or MergeState(layout)
    waiting = deque(removals)
    tokens = np.empty(len(merges) + 1, np.int64)
    tokens[0] = layout.weights().sum()
    for step, merge in enumerate(merges):
        if step % _MERGES_BETWEEN_LOOKS == 0:
            if should_stop():
                raise CancelledError
            time.sleep(0)  # let other threads run
        tokens[step + 1] = tokens[step]
        # What is removed later is spelled by merges that may have joined nothing here.
        if picky or (merge.left << BITS | merge.right) in state.counts:
            state.merge(merge.left, merge.right, merge.id)
            while picky and waiting and waiting[0][0] == step + 1:
                picky.remove(waiting.popleft()[1])
            tokens[step + 1] -= state.joined_weight
    return tokens


if TYPE_CHECKING:
    from bpe_core.view import View


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """What is known of a run besides its configuration; None for what was not recorded."""

    version: str | None = None
    """The version of bpe_core that trained it."""
    split: Split | None = None
    """How its text was divided from a corpus; None if it was all of the text given."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TrainingRun(Immutable):
    """The result of training: the tokenizer and what it was learned from; immutable.

    `joined_at` is int32[n_slots]: for each symbol of the pre-tokens, laid out as in
    `Layout.of_symbols`, the rank of the merge that joined it to the symbol before it, or
    NEVER. `tokens_after` is computed from it if not given.

    A run may continue an existing tokenizer, its `base`. The symbols that such a run starts from
    are the base's tokens, and its merges and steps are those after the base's.

    >>> from bpe_core.trainers import train
    >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
    >>> run = train(corpus, TrainingConfig(258, special_tokens=()))
    >>> [(run.tokenizer.vocab[merge.id], merge.count) for merge in run.merges]
    [(b'ug', 15), (b'hug', 10)]
    >>> run.tokens_after.tolist(), run.stop_reason
    ([45, 30, 20], 'vocab-size')
    """

    tokenizer: Tokenizer
    """The tokenizer that was learned."""
    config: TrainingConfig
    """The configuration that the run was trained with."""
    corpus_sha256: str
    """The corpus's SHA-256; empty if training was cancelled while a stream was being read."""
    corpus_bytes: int
    """The size of the corpus in bytes of UTF-8."""
    pretokens: PretokenCounts
    """The corpus as distinct pre-tokens and their counts."""
    joined_at: NDArray[np.int32]
    """int32[n_slots]: the rank of the merge that joined each slot, or NEVER; read-only."""
    stop_reason: StopReason
    """The reason training ended."""
    elapsed_seconds: float
    """The duration of training, including counting."""
    tokens_after: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """int64[n_merges + 1]: the tokens of the corpus after each number of merges; read-only."""
    undone: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 4), np.int32))
    """int32[n, 4]: slot, rank, first and last step of the joints that a removal undid or made."""
    continues: Continuation | None = None
    """The base and what was chosen for extending it; None if there is no base."""
    origin: RunOrigin = field(default_factory=RunOrigin)
    """The version that trained it, and how its text was divided from a corpus."""
    parity: ParityHistory | None = None
    """Who picked each merge, and each language's tokens; None unless `train_parity` made it."""

    def __post_init__(self) -> None:
        if self.continues is not None:
            _ = self.merges  # which raises if they do not match the base
        tokens = self.tokens_after.copy()
        if not len(tokens):
            tokens = joined_tokens(self._layout, self.joined_at, len(self.merges), self.undone)
        object.__setattr__(self, "tokens_after", read_only(tokens))
        object.__setattr__(self, "joined_at", read_only(self.joined_at))
        object.__setattr__(self, "undone", read_only(self.undone))

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuild instead of copying: pickling drops NumPy's read-only flag; the rest is derived.
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        return partial(TrainingRun, **given), ()

    def __repr__(self) -> str:
        return (
            f"<TrainingRun of {counted(len(self.merges), 'merge')} from "
            f"{counted(self.corpus_bytes, 'byte')}, stop reason {self.stop_reason!r}>"
        )

    @property
    def trained_on(self) -> TrainedOn:
        """What the tokenizer was trained on, so that `compare` notices it."""
        return TrainedOn(self.corpus_sha256, self.corpus_bytes, self.origin.split)

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
            "config": self.config.to_dict(),
            "split": None if split is None else asdict(split),
            "corpus_sha256": self.corpus_sha256,
            "corpus_bytes": self.corpus_bytes,
            "tokenizer_fingerprint": self.tokenizer.fingerprint,
            "base_fingerprint": self.base.fingerprint if self.base and self.given_base else None,
            **({} if self.parity is None else {"parity": self.parity.to_dict()}),
            "n_merges": len(self.merges),
            "stop_reason": self.stop_reason,
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each merge, and the corpus's tokens after it.

        The first column names the tokenizer by its fingerprint, for frames of several runs. A
        parity-aware run also has a column for the language that picked the merge.

        >>> from bpe_core.trainers import train
        >>> run = train(["hug hugs"], vocab_size=259)
        >>> run.to_frame()[["token", "count", "tokens_after"]].values.tolist()
        [[b'hu', 2, 6], [b'hug', 2, 4]]
        """
        vocab, tokens_after = self.tokenizer.vocab, self.tokens_after[1:].tolist()
        name = self.tokenizer.fingerprint
        rows = [
            {
                "tokenizer": name,
                **asdict(merge),
                "token": vocab[merge.id],
                "tokens_after": n_tokens,
            }
            for merge, n_tokens in zip(self.merges, tokens_after, strict=True)
        ]
        if self.picked_by is not None:
            for row, language in zip(rows, self.picked_by.tolist(), strict=True):
                row["picked_by"] = language
        return to_frame(rows)

    def player(self, step: int | None = None, *, words: str = "") -> View:
        """Return a player of the run's merges that shows itself in a notebook.

        It opens after `step` merges, by default before the first one that was won narrowly, and
        also plays the merges on your own `words`. Raises `OutOfRangeError` for a step outside the
        run, `ConfigError` for more than 200 characters of words, and `InvalidTextError` for a lone
        surrogate.

        >>> from bpe_core.trainers import train
        >>> train(["hug hugs"], vocab_size=259).player(words="hug")
        <View of 2 merges>
        """
        if step is not None:
            self._check_step(step)
        return from_above("bpe_core.views", "view_run")(self, step, words)

    def _repr_html_(self) -> str:
        return from_above("bpe_core.views", "summarize_run")(self)

    # Contents

    @property
    def base(self) -> Tokenizer | None:
        """The tokenizer that the run continues; None if it started from single symbols.

        It has the characters that were added for the corpus, which are among `new_tokens` too.
        """
        return None if self.continues is None else self.continues.base

    @cached_property
    def given_base(self) -> Tokenizer | None:
        """The base as it was given, without added characters; None if `train` made it.

        Superwords, seeds and vetoes continue a tokenizer that is a part of the same training.
        """
        own = self.config.superwords_from, self.config.seeds, self.config.vetoes
        if self.continues is None or any(own) or self.config.whole_characters:
            return None
        return self.continues.given_base()

    @property
    def left_out(self) -> tuple[bytes, ...]:
        """The bytes of the tokens that were left out when the base was extended."""
        return () if self.continues is None else self.continues.left_out

    @property
    def terms(self) -> tuple[TermCost, ...]:
        """The cost of each term that was tried before learning from counts."""
        return () if self.continues is None else self.continues.terms

    @property
    def n_term_merges(self) -> int:
        """How many of the first merges were made for terms rather than for their counts."""
        return 0 if self.continues is None else self.continues.n_term_merges

    @property
    def n_chosen(self) -> int:
        """How many of the first merges were not chosen by the count of their pair in all text.

        They were made for terms, or one language picked them.
        """
        return self.n_term_merges if self.parity is None else len(self.merges)

    @property
    def picked_by(self) -> NDArray[np.str_] | None:
        """The language that picked each merge; None unless the run is parity-aware.

        Merges that all languages chose together have "".

        >>> from bpe_core.trainers import train_parity
        >>> texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
        >>> train_parity(texts, TrainingConfig(259, special_tokens=())).picked_by.tolist()
        ['xx', 'en', 'xx']
        """
        return None if self.parity is None else self.parity.picked_by

    @property
    def lengths(self) -> dict[str, NDArray[np.int64]]:
        """For each language of a parity-aware run, its tokens after each number of merges.

        >>> from bpe_core.trainers import train_parity
        >>> texts = {"en": ["hug hug hugs"], "xx": ["abab abab abab abab"]}
        >>> run = train_parity(texts, TrainingConfig(259, special_tokens=()))
        >>> run.lengths["en"].tolist()
        [12, 12, 9, 9]
        """
        history = self.parity
        return {} if history is None else {of: history.lengths_of(of) for of in history.languages}

    @property
    def new_tokens(self) -> dict[int, tuple[int, ...]]:
        """The ids that each new token is spelled with in the base; empty without a base.

        >>> from bpe_core.adapting import extend
        >>> from bpe_core.tokenizer import gpt2
        >>> run = extend(gpt2(), Corpus.from_text("A tokenizer"), n_tokens=1)
        >>> {run.tokenizer.vocab[id]: parts for id, parts in run.new_tokens.items()}
        {b' tokenizer': (11241, 7509)}
        """
        if self.continues is None:
            return {}
        return spelled_by(self.merges, self.continues.new_characters)

    @property
    def new_ids(self) -> list[int]:
        """The ids of the new tokens: of the added characters, then of the merges.

        >>> from bpe_core.adapting import extend
        >>> from bpe_core.tokenizer import gpt2
        >>> extend(gpt2(), Corpus.from_text("tokenizer, tokenizers"), n_tokens=2).new_ids
        [50257, 50258]
        """
        characters = () if self.continues is None else self.continues.characters
        return [*characters, *(merge.id for merge in self.merges)]

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """The merges in the order learned, each with its pair's count at that time.

        With a base, only the new ones, with ranks from 0.
        """
        if self.continues is None:
            return self.tokenizer.merges
        return self.continues.list_merges(self.tokenizer)

    def truncated(self, n_merges: int) -> Tokenizer:
        """Return the tokenizer after the first `n_merges` merges of the run; 0 gives the base.

        Raises `OutOfRangeError` if the run does not have that many merges.

        >>> from bpe_core.trainers import train
        >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(259, special_tokens=()))
        >>> run.truncated(1) == run.tokenizer.truncated(1)
        True
        """
        check_whole("n_merges", n_merges, 0, len(self.merges), OutOfRangeError)
        return self.tokenizer.truncated(self._n_before + n_merges)

    def with_new_tokens(self, n_tokens: int) -> Tokenizer:
        """Return the base of an extended run with the first `n_tokens` of its new tokens.

        Raises `OutOfRangeError` if the run does not have that many.

        >>> from bpe_core.adapting import extend
        >>> from bpe_core.tokenizer import gpt2
        >>> run = extend(gpt2(), Corpus.from_text("tokenizer, tokenizers"), n_tokens=2)
        >>> run.with_new_tokens(1).vocab_size, run.with_new_tokens(0) == gpt2()
        (50258, True)
        """
        n_characters = 0 if self.continues is None else len(self.continues.characters)
        if n_tokens >= n_characters or self.continues is None or self.given_base is None:
            return self.truncated(n_tokens - n_characters)
        return self.continues.given_base(n_tokens)

    def cut(self, vocab_size: int) -> TrainingRun:
        """Return the run that training with a smaller `vocab_size` gives, without training again.

        All of it is the same but `elapsed_seconds`, which stays that of this run. A run that ended
        before it reached this size is returned as it is. Raises `VocabularyTooSmallError` for a
        size without room for the alphabet, or the base.

        >>> import bpe_core as bpe
        >>> run = bpe.train(["hug hugs hugging"], vocab_size=262)
        >>> run.cut(259).tokenizer == bpe.train(["hug hugs hugging"], vocab_size=259).tokenizer
        True
        """
        check_whole("vocab_size", vocab_size, 1)
        known = set(self.tokenizer.truncated(self._n_before).vocab)
        if vocab_size < len(known):
            raise VocabularyTooSmallError(
                f"A vocabulary of {vocab_size:,} tokens has no room for the {len(known):,} that "
                "this run begins with. Choose a larger one."
            )
        config = replace(self.config, vocab_size=int(vocab_size))
        n_merges = 0
        for merge in self.merges:
            if len(known) == vocab_size:
                break
            known.add(merge.id)
            n_merges += 1
            known.difference_update(self.removed_after(n_merges))
        if len(known) < vocab_size:
            return replace(self, config=config)
        continues = self.continues
        if continues is not None:
            continues = replace(continues, counts=continues.counts[:n_merges])
        joined_at = self.joined_before(n_merges)
        undone = self.undone[self.undone[:, 2] <= n_merges]
        is_open = undone[:, 3] >= n_merges
        undone = np.where(is_open[:, None] & [False, False, False, True], np.int32(NEVER), undone)
        # Joints that last from their merge on need no entry.
        undone = undone[~is_open | (undone[:, 2] != undone[:, 1] + 1)]
        return replace(
            self,
            tokenizer=self.truncated(n_merges),
            config=config,
            joined_at=np.where(joined_at < n_merges, joined_at, NEVER),
            undone=undone,
            tokens_after=self.tokens_after[: n_merges + 1],
            continues=continues,
            parity=None if self.parity is None else self.parity.cut(n_merges),
            stop_reason="vocab-size",
        )

    # Figures of the whole run

    @property
    def vocab_size_after(self) -> NDArray[np.int64]:
        """int64[n_merges + 1]: the vocabulary size after each merge.

        A merge that makes an older token again adds nothing, and a removal takes one away.

        >>> from bpe_core.trainers import train
        >>> train(["hug hugs"], vocab_size=260).vocab_size_after.tolist()
        [257, 258, 259, 260]
        """
        if self.base is not None:
            known = set(self.base.vocab)
        else:
            known = self.tokenizer.vocab.keys() - self.tokenizer.table.parts.keys()
        sizes = [len(known)]
        for n_merges, merge in enumerate(self.merges, start=1):
            known.add(merge.id)
            known.difference_update(self.removed_after(n_merges))
            sizes.append(len(known))
        return read_only(np.array(sizes, dtype=np.int64))

    def curves(
        self, held_out_bytes: int = 0, held_out_tokens: NDArray[np.int64] | None = None
    ) -> RunCurves:
        """Return the figures after each merge, to be drawn.

        `held_out_tokens` are the tokens of a text of `held_out_bytes` bytes that training has not
        seen, after each number of merges, as `tokens_after_on` returns them.

        >>> from bpe_core.trainers import train
        >>> curves = train(["hug hugs"], vocab_size=260).curves()
        >>> curves.vocab_size.tolist(), curves.training.round(2).tolist(), curves.elbow
        ([257, 258, 259, 260], [1.0, 1.33, 2.0, 2.67], 2)
        """
        n_merges = len(self.merges)
        if held_out_tokens is not None and not held_out_tokens[0]:
            held_out_tokens = None
        held_out = held_out_tokens
        return RunCurves(
            vocab_size=self.vocab_size_after,
            training=bytes_per_token(self.corpus_bytes, self.tokens_after),
            held_out=None if held_out is None else bytes_per_token(held_out_bytes, held_out),
            winner_counts=read_only(np.array([merge.count for merge in self.merges], np.int64)),
            elbow=elbow(self.tokens_after),
            enough_merges=merges_that_save(self.tokens_after if held_out is None else held_out),
            drawn=read_only(steps_to_draw(n_merges)),
            drawn_winners=read_only(steps_to_draw(n_merges - 1)),
        )

    @property
    def stop_sentence(self) -> str:
        """The reason why training stopped, as a sentence.

        >>> from bpe_core.trainers import train
        >>> train(["hug hug"], vocab_size=300).stop_sentence
        'It stopped because no pair was left to merge.'
        """
        longest = self.config.max_token_bytes
        limit = "" if longest is None else f" into a token of at most {counted(longest, 'byte')}"
        reasons: dict[StopReason, str] = {
            "vocab-size": "It stopped because the vocabulary reached "
            f"{self.tokenizer.vocab_size:,}.",
            "no-pairs": f"It stopped because no pair was left to merge{limit}.",
            "min-frequency": "It stopped because no pair occurs "
            f"{times(self.config.min_frequency)} any longer.",
            "cancelled": "It was cancelled.",
        }
        return reasons[self.stop_reason]

    @property
    def n_merges_once(self) -> int:
        """How many merges join a pair that occurred only once.

        >>> from bpe_core.trainers import train
        >>> train(["hug hugs"], vocab_size=300).n_merges_once
        2
        """
        return sum(merge.count == 1 for merge in self.merges)

    def by_heart_sentence(self, gap: float | None) -> str:
        """Return a sentence if the run fits its own text far better than new text; else "".

        `gap` is how much better its bytes per token are on that text than on held-out text, such as
        0.5; None without held-out text.

        >>> from bpe_core.trainers import train
        >>> run = train(["hug hugs"], vocab_size=300)
        >>> run.by_heart_sentence(0.5)
        'Learned by heart: a token spells 50% more of the training text than of held-out text, and \
2 of 4 merges join a pair that occurred only once. Train on more text, or to fewer tokens.'
        >>> run.by_heart_sentence(0.1)
        ''
        """
        fits = "" if gap is None or gap < MIN_GAP else f"spells {gap:.0%} more of the training text"
        n_once, n = self.n_merges_once, len(self.merges)
        once = ""
        if n_once and n_once >= MIN_SHARE_ONCE * n:
            once = f"{n_once:,} of {n:,} merges join a pair that occurred only once"
        if gap is None and once:
            found = f"Learned by heart: {once}."
        elif fits and once:
            found = f"Learned by heart: a token {fits} than of held-out text, and {once}."
        elif fits:
            found = (
                f"A token {fits} than of held-out text: that was learned by heart in part, or the "
                "held-out text is of another kind."
            )
        else:
            return ""
        return f"{found} Train on more text, or to fewer tokens."

    @cached_property
    def opening_step(self) -> int:
        """The step before the first merge of letters with a tie or a close race.

        A player opens there, so that the choice can be seen: the most frequent pairs of a text are
        often white space, or win by a wide margin. The runner-up must also be a pair of letters. If
        there is no such merge within 1,000 merges of the first merge of letters, the step before
        that one; without merges of letters, 0. A run whose merges may join words begins where the
        borders between words open, at 0.

        >>> from bpe_core.trainers import train
        >>> corpus = Corpus.from_word_counts({"--": 9, "ab": 8, "cd": 4, "ef": 4})
        >>> train(corpus, TrainingConfig(260, special_tokens=())).opening_step
        2
        """
        if self.config.superwords_from is not None:
            return 0
        learned = self.merges[self.n_chosen :]  # earlier ones did not win a race
        of_letters = (merge.rank for merge in learned if has_letters(self.tokenizer, merge.pair))
        first = next(of_letters, learned[0].rank if learned else 0)
        start, size = first, _SEARCHED_FIRST
        stop = min(start + _MAX_SEARCHED, len(self.merges))
        while start < stop:  # in growing parts: the search usually ends in the first
            end = min(start + size, stop)
            trace = self.trace(start, end, k=2, n_touched=0, n_changes=0)
            for place in np.flatnonzero(is_close(trace)).tolist():
                runner_up = int(trace.top_left[place, 1]), int(trace.top_right[place, 1])
                pairs = self.merges[start + place].pair, runner_up
                if all(has_letters(self.tokenizer, pair) for pair in pairs):
                    return start + place
            start, size = end, size * _FACTOR
        return first

    # The state at any step

    def next_merges(self, step: int = 0) -> dict[Pair, int]:
        """Map each pair that is merged at rank `step` or later to the rank of its next merge.

        >>> from bpe_core.trainers import train
        >>> train(["hug hugs"], vocab_size=259).next_merges(1)
        {(257, 71): 1}
        """
        ranks = range(len(self.merges) - 1, step - 1, -1)
        return {self.merges[rank].pair: rank for rank in ranks}

    def picture_pairs(self, step: int, n_listed: int, n_symbols: int = 12) -> PairPicture:
        """Return the pairs before merge `step`, to be drawn: `n_listed` of them are listed.

        The table of neighbours has `n_symbols` rows and columns.

        >>> from bpe_core.trainers import train
        >>> picture = train(["hug hugs"], vocab_size=259).picture_pairs(0, 2, 3)
        >>> picture.top[0], picture.next_cell, picture.curve.n_once
        (PairCount(left=72, right=85, count=2, tied=True), (0, 1), 2)
        """
        later, counts = self.next_merges(step), self.pair_counts(step)
        top = tuple(self.top_pairs(step, n_listed))
        listed = [(left, right) for left, right, _ in top]
        first = listed[0] if listed else None
        matrix = pair_matrix(counts, n_symbols, including=first)
        return PairPicture(
            step=step,
            top=top,
            merged_at={pair: later[pair] for pair in listed if pair in later},
            matrix=matrix,
            next_cell=None if first is None else matrix.find_cell(first),
            curve=rank_frequency(counts),
        )

    def pair_counts(self, step: int) -> dict[Pair, int]:
        """Return the count of every pair before merge `step`, in order of first occurrence.

        `step` may equal the number of merges, for the pairs left at the end. Pairs whose token
        would be longer than `max_token_bytes` are left out. Raises `OutOfRangeError` for a
        step outside the run.

        >>> from bpe_core.trainers import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "ugg": 5})
        >>> run = train(corpus, TrainingConfig(258, base="characters", special_tokens=()))
        >>> run.pair_counts(0)
        {(1, 2): 10, (2, 0): 15, (0, 0): 5}
        """
        return self._count_pairs(step).to_dict()

    def top_pairs(self, step: int, k: int) -> list[PairCount]:
        """Return the k best pairs before merge `step`, the winner first, in tie-break order.

        The pair that a term or a language chose comes first, too, whatever its count. Raises
        `OutOfRangeError` for a step outside the run, and `ConfigError` for a negative k.

        >>> from bpe_core.trainers import train
        >>> corpus = Corpus.from_word_counts({"hug": 10, "gum": 10})
        >>> run = train(corpus, TrainingConfig(6, base="characters", special_tokens=()))
        >>> [(left, right, count) for left, right, count in run.top_pairs(0, 2)]
        [(0, 3, 10), (1, 3, 10)]
        """
        check_whole("k", k, least=0)
        found = self._count_pairs(step).top(k, self.config.tie_break)
        if step >= self.n_chosen:
            return found
        merge = self.merges[step]
        winner = PairCount(*merge.pair, merge.count or 0)
        return [winner, *(PairCount(*pair) for pair in found if pair != winner)][:k]

    def count_uses(self) -> NDArray[np.int64]:
        """Count the uses of each id in the encoding of the training text: int64[largest id + 1].

        They are read from the finished run, without encoding anything.

        >>> from bpe_core.trainers import train
        >>> run = train(Corpus.from_word_counts({"hug": 3}), TrainingConfig(258, special_tokens=()))
        >>> uses = run.count_uses()
        >>> {run.tokenizer.vocab[id]: int(uses[id]) for id in np.flatnonzero(uses)}
        {b'hug': 3}
        """
        layout = self.layout_at(len(self.merges))
        is_token = layout.ids >= 0
        uses = np.zeros(max(self.tokenizer.vocab) + 1, np.int64)
        np.add.at(uses, layout.ids[is_token], layout.weights()[is_token])
        return uses

    def layout_at(self, step: int) -> Layout:
        """Return the symbols of all pre-tokens, in one row, as they were before merge `step`.

        Raises `OutOfRangeError` for a step outside the run.

        >>> from bpe_core.trainers import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> run.layout_at(0).ids.tolist(), run.layout_at(1).ids.tolist()
        ([-1, 64, 64, 64, -1], [-1, 256, 64, -1])
        """
        self._check_step(step)
        return self._layout.at_step(self.joined_before(step), self._merge_ids, step)

    def joined_before(self, step: int) -> NDArray[np.int32]:
        """Return int32[n_slots]: `joined_at` as it was before merge `step`, if tokens were removed.

        >>> from bpe_core.trainers import train
        >>> run = train(["hugs hugs hugs hug"], vocab_size=260, picky=0.7)
        >>> [int((run.joined_before(step) < step).sum()) for step in (2, 3, 4)]
        [6, 6, 7]
        """
        return joined_by(self.joined_at, self.undone, step) if len(self.undone) else self.joined_at

    def removed_after(self, n_merges: int) -> tuple[int, ...]:
        """Return the ids of the tokens that were removed right after the first `n_merges` merges.

        >>> from bpe_core.trainers import train
        >>> run = train(["hugs hugs hugs hug"], vocab_size=260, picky=0.7)
        >>> [[run.tokenizer.vocab[id] for id in run.removed_after(n)] for n in (2, 3)]
        [[b'hu'], [b'hug']]
        """
        return self._removed_after.get(n_merges, ())

    def trace(
        self, start: int, stop: int, k: int = 10, n_touched: int = 16, n_changes: int = 3
    ) -> MergeTrace:
        """Return what training saw before each of the merges start ... stop - 1 and what changed.

        For each step, keep at most `k` pairs, `n_touched` words, and `n_changes` each of the pairs
        that rose and fell. Raises `OutOfRangeError` for a range outside the
        run.

        >>> from bpe_core.trainers import train
        >>> run = train(Corpus.from_word_counts({"aaa": 2}), TrainingConfig(257, special_tokens=()))
        >>> trace = run.trace(0, 1, k=1)
        >>> trace.top_count.tolist(), trace.n_overlapping.tolist()
        ([[4]], [2])
        """
        self._check_step(stop)
        check_whole("start", start, 0, stop, OutOfRangeError)
        for name, number in (("k", k), ("n_touched", n_touched), ("n_changes", n_changes)):
            check_whole(name, number, 0, error=OutOfRangeError)
        # A removal changes pairs that no merge changed, so pairs are counted again after it.
        within = (n for n in self._removed_after if start < n < stop)
        traces: list[MergeTrace] = []
        for begin, end in pairwise([start, *within, stop]) if stop > start else [(start, stop)]:
            before = self.joined_before(begin)
            traces.append(
                trace_merges(
                    self.layout_at(begin),
                    self._joined_in(begin, end)[before >= begin],
                    self.merges[begin:end],
                    self.config.tie_break,
                    self.allowed_pairs,
                    start=begin,
                    k=k,
                    n_touched=n_touched,
                    n_changes=n_changes,
                    n_chosen=self.n_chosen,
                )
            )
        return join_traces(traces)

    def tokens_after_on(
        self, corpus: Corpus | Iterable[str], should_stop: Callable[[], bool] | None = None
    ) -> NDArray[np.int64]:
        """Return int64[n_merges + 1]: another corpus's number of tokens after each merge.

        A symbol missing from the alphabet counts as one token and never merges. Raises
        `CancelledError` once `should_stop`, called at intervals, returns True, and `CorpusError`
        for anything but a `Corpus` or a list of texts.

        >>> from bpe_core.trainers import train
        >>> run = train(Corpus.from_word_counts({"hug": 1}), TrainingConfig(258, special_tokens=()))
        >>> run.tokens_after_on(Corpus.from_text("hug hugs")).tolist()
        [8, 6, 4]
        """
        never = should_stop or (lambda: False)
        return tokens_on(self.tokenizer, to_corpus(corpus), never, self._n_before)

    def tokens_after_new(
        self, corpus: Corpus | None = None, tokens_after: NDArray[np.int64] | None = None
    ) -> NDArray[np.int64]:
        """Return int64[n + 1]: the number of tokens after each of the run's n new tokens.

        They are those of a corpus, or of the training text. `tokens_after` is what
        `tokens_after_on` returned for the corpus, if that is known. A character that was added
        saves all tokens but one that spell it wherever it occurs.

        >>> from bpe_core.adapting import extend
        >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: b" "}
        >>> base = Tokenizer(
        ...     vocab=vocab, merges=[], pretokenizer="metaspace", base="characters",
        ...     byte_fallback=range(256),
        ... )
        >>> extend(base, ["漢字漢字"], n_tokens=3).tokens_after_new().tolist()
        [13, 9, 5, 3]
        """
        if tokens_after is None:
            tokens_after = self.tokens_after if corpus is None else self.tokens_after_on(corpus)
        spelled = {} if self.continues is None else self.continues.new_characters
        if not spelled or self.base is None:
            return tokens_after
        cut = self.base.pretokenizer
        words = self.pretokens if corpus is None else count_pretokens(corpus, cut)
        ids, ends = self.base.encoder.encode_words(words.words)
        is_new = np.isin(ids, [*spelled])
        uses = np.zeros(max(spelled) + 1, np.int64)
        np.add.at(uses, ids[is_new], np.repeat(words.counts, np.diff(ends, prepend=0))[is_new])
        saved = uses[[*spelled]] * np.array([len(parts) - 1 for parts in spelled.values()])
        return np.append(tokens_after[0] + np.cumsum(saved[::-1])[::-1], tokens_after)

    @property
    def n_ids(self) -> int:
        """1 + the highest id of the tokenizer: its size, unless it skips ids."""
        return 1 + max(self.tokenizer.vocab)

    def tokens(self) -> list[bytes]:
        """Return the bytes of each id; empty for an id that is not in use."""
        return [self.tokenizer.vocab.get(id, b"") for id in range(self.n_ids)]

    @cached_property
    def allowed_pairs(self) -> AllowedPairs:
        """The pairs that may merge: not too long, and with a base, not spelling one of its tokens.

        Nor may they spell a token that was left out.
        """
        tokens = self.tokens()
        forbidden = None
        if self.base is not None:
            forbidden = ForbiddenPairs(
                tokens,
                self.base.vocab,
                self.left_out,
                reviving_tokens(self.base),
                bytes_apart(self.base),
                find_rule(self.config),
            )
        return AllowedPairs(tokens, self.config.max_token_bytes, forbidden)

    # Internals

    @cached_property
    def _removed_after(self) -> dict[int, tuple[int, ...]]:
        grouped = groupby(self.tokenizer.table.removals, itemgetter(0))
        return {done: tuple(id for _, id in group) for done, group in grouped}

    def _joined_in(self, start: int, stop: int) -> NDArray[np.int32]:
        """Return `joined_at` of the joints that the merges from start to stop - 1 made."""
        if not len(self.undone):
            return self.joined_at
        slots, ranks, since, _ = self.undone.T
        joined_at = self.joined_before(stop)
        joined_at = np.where((joined_at >= start) & (joined_at < stop), joined_at, NEVER)
        made = (since == ranks + 1) & (ranks >= start) & (ranks < stop)
        joined_at[slots[made]] = ranks[made]
        return joined_at

    @property
    def _n_before(self) -> int:
        """The number of the tokenizer's merges that come before those of the run."""
        return 0 if self.base is None else self.base.n_merges

    @property
    def _merge_ids(self) -> NDArray[np.int32]:
        return np.array([merge.id for merge in self.merges], np.int32)

    @cached_property
    def _layout(self) -> Layout:
        """The words as they were before any merge."""
        if self.base is None:
            return lay_out_for(self.tokenizer, self.pretokens)
        return lay_out_tokens(self.base, self.pretokens)

    def _count_pairs(self, step: int) -> PairTable:
        return pair_table(self.layout_at(step), self.allowed_pairs)

    def _check_step(self, step: int) -> None:
        check_whole("the step", step, 0, len(self.merges), OutOfRangeError)
