"""The values that cross the seam between the core and whoever calls it: frozen, built whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import is_a, is_whole
from bpe_core.immutable import Immutable

Base = Literal["bytes", "characters"]
Alphabet = Literal["full", "seen"]
TieBreak = Literal["smallest-pair", "first-seen"]
StopReason = Literal["vocab-size", "no-pairs", "min-frequency", "cancelled"]
Pair = tuple[int, int]
Number = TypeVar("Number", bound=np.generic)


def read_only(array: NDArray[Number]) -> NDArray[Number]:
    """Return a view of an array that cannot be written through; the array itself stays as it is.

    >>> read_only(np.array([1, 2])).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view


@dataclass(frozen=True, slots=True)
class Merge:
    """One learned rule: the pair of ids that it joins, and the id of what it makes.

    >>> Merge(rank=0, left=32, right=116, id=256, count=1379).pair
    (32, 116)
    """

    rank: int
    """Its place in the order of training, from 0."""
    left: int
    right: int
    id: int
    """The id it makes: a new one, save where an older token is spelled by the same bytes."""
    count: int | None = None
    """How often the pair stood in the corpus when it was chosen; None where no corpus is known."""

    @property
    def pair(self) -> Pair:
        """The two ids that this merge joins."""
        return self.left, self.right


class _CountedPair(NamedTuple):
    left: int
    right: int
    # Hides tuple.count, which nobody asks of three numbers.
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


class PairCount(_CountedPair):
    """A pair of ids and how often it stands in the corpus; a tuple of three, and a mark for ties.

    As a tuple it is equal to any that has the same three numbers, whatever the mark.

    >>> pair = PairCount(108, 97, 1379, tied=True)
    >>> left, right, count = pair
    >>> count, pair == (108, 97, 1379)
    (1379, True)
    >>> pair
    PairCount(left=108, right=97, count=1379, tied=True)
    """

    _tied: bool = False

    def __new__(cls, left: int, right: int, count: int, *, tied: bool = False) -> PairCount:
        pair = super().__new__(cls, left, right, count)
        pair._tied = tied
        return pair

    @property
    def tied(self) -> bool:
        """True where two or more pairs share the winner's count: for each of them, the winner too.

        >>> PairCount(108, 97, 1379).tied
        False
        """
        return self._tied

    def __repr__(self) -> str:
        return (
            f"PairCount(left={self.left}, right={self.right}, count={self.count}, tied={self.tied})"
        )


@dataclass(frozen=True, slots=True)
class Segment:
    """A token where it stands in a text; half-open spans in characters and in UTF-8 bytes.

    A character span starts at the character that holds the token's first byte and ends after the
    one that holds its last, so the spans of two tokens that share a character overlap in it. Byte
    spans never overlap, and together they cover every byte of the text once.
    """

    id: int | None
    """None where no token stands: text that the pre-tokenizer drops or the alphabet lacks."""
    token: bytes
    start: int
    end: int
    byte_start: int
    byte_end: int


@dataclass(frozen=True, slots=True)
class ExplainedMerge:
    """One step of encoding a pre-token: the merge applied and the symbols after it."""

    merge: Merge
    symbols: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """How one pre-token became its tokens, from base symbols on."""

    start: int
    """Where the pre-token starts in the text, in characters."""
    text: str
    symbols: tuple[int, ...]
    """The base symbols that it starts as, as ids."""
    steps: tuple[ExplainedMerge, ...]

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids that it ends as."""
        return self.steps[-1].symbols if self.steps else self.symbols


@dataclass(frozen=True, slots=True)
class PretokenCounts(Immutable):
    """The different pre-tokens of a corpus in the order they were first seen, and their counts."""

    words: tuple[bytes, ...]
    """The UTF-8 of each, without the end-of-word marker."""
    counts: NDArray[np.int64]
    """int64[n_words]: how often each occurs; read-only."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", read_only(self.counts))

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt on arrival: NumPy forgets that an array is read-only.
        return PretokenCounts, (self.words, self.counts)

    @property
    def total(self) -> int:
        """How many pre-tokens the corpus has, repeats counted."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """What to train: every choice that changes the tokenizer, and nothing else.

    >>> TrainingConfig(vocab_size=1_000).pretokenizer
    'gpt2'
    """

    vocab_size: int = 32_000
    """Everything counts: special tokens, base symbols, the end-of-word marker, and merges."""
    pretokenizer: str = "gpt2"
    """gpt2, cl100k, o200k, whitespace, words-punctuation, none, or regex:PATTERN."""
    base: Base = "bytes"
    """What words are made of before any merge: bytes or characters."""
    alphabet: Alphabet = "full"
    """full: all 256 bytes; seen: only the symbols that occur in the documents."""
    end_of_word: str | None = None
    """A marker such as </w> that ends each word, as a symbol of its own; None for none."""
    special_tokens: tuple[str, ...] = ("<|endoftext|>",)
    """They get the first ids; text that spells one is ordinary text."""
    min_frequency: int = 0
    """Training stops at a pair that occurs less often."""
    tie_break: TieBreak = "smallest-pair"
    """Which of the most frequent pairs is merged: the one of smallest ids, or seen first."""
    max_token_bytes: int | None = None
    """No merge makes a longer token, the marker's bytes included; None for any length."""

    def __post_init__(self) -> None:
        # A generator is used up by who looks at it first, and NumPy's numbers are not JSON's.
        # What is of no use at all is left for `train` to refuse.
        if is_a(self.special_tokens, Iterable) and not is_a(self.special_tokens, str):
            object.__setattr__(self, "special_tokens", tuple(self.special_tokens))
        for name in ("vocab_size", "min_frequency", "max_token_bytes"):
            number = getattr(self, name)
            if is_whole(number):
                object.__setattr__(self, name, int(number))


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """How far a training has come; given to `on_progress`."""

    merges_done: int
    merges_wanted: int
    """The most merges the vocabulary has room for; training may end sooner."""
    elapsed_seconds: float
    corpus_tokens: int
    """How many tokens the corpus has at this point."""
    last_count: int
    """How often the last merged pair occurred; 0 before the first merge."""
    seconds_compiling: float | None = None
    """How long training has waited for the compiler, on its first use of the kernels on a machine;
    None where it doesn't wait."""


@dataclass(frozen=True, slots=True)
class MergeTrace:
    """What training saw before each of the merges start, start + 1, ... stop - 1, one row a merge.

    The pairs that tie have rows of their own. Ids and indices are int32, counts int64; -1 fills a
    row that has fewer entries than columns.
    """

    start: int
    stop: int
    top_left: NDArray[np.int32]
    """int32[n, k]: left ids of the k most frequent pairs, the winner first."""
    top_right: NDArray[np.int32]
    top_count: NDArray[np.int64]
    n_pairs: NDArray[np.int64]
    """int64[n]: how many different pairs occur."""
    n_tied: NDArray[np.int64]
    """int64[n]: how many of them share the winner's count, the winner included."""
    next_count: NDArray[np.int64]
    """int64[n]: how often the best of the others occurs, those that tie left out; 0 if none is."""
    tied_left: NDArray[np.int32]
    """int32[t]: left ids of the pairs that tie for the first place, in the order of the rule: those
    of one step are the ones with tied_from <= step < tied_until. Where the winner leads alone,
    there are none."""
    tied_right: NDArray[np.int32]
    tied_from: NDArray[np.int32]
    tied_until: NDArray[np.int32]
    n_overlapping: NDArray[np.int64]
    """int64[n]: counted occurrences that cannot merge: they share a symbol with one that did."""
    n_words: NDArray[np.int64]
    """int64[n]: how many different pre-tokens the merge changes."""
    touched: NDArray[np.int32]
    """int32[n, m]: those of them that gave most occurrences, as indices into the pre-tokens."""
    touched_given: NDArray[np.int64]
    """int64[n, m]: how many occurrences that merge each of them gave."""
    risen_left: NDArray[np.int32]
    """int32[n, r]: pairs whose count the merge raises, most first."""
    risen_right: NDArray[np.int32]
    risen_by: NDArray[np.int64]
    fallen_left: NDArray[np.int32]
    """int32[n, r]: pairs other than the winner whose count the merge lowers, most first."""
    fallen_right: NDArray[np.int32]
    fallen_by: NDArray[np.int64]
    """int64[n, r]: by how much, as a positive number."""
