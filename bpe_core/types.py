"""The values that the core and its callers exchange: immutable and complete when created."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Self,
    TypedDict,
    TypeGuard,
    TypeVar,
)

from bpe_core.checks import is_a, is_whole
from bpe_core.unicode import AFTER_WORD

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

Base = Literal["bytes", "characters"]
Alphabet = Literal["full", "seen"]
TieBreak = Literal["smallest-pair", "first-seen"]
StopReason = Literal["vocab-size", "no-pairs", "min-frequency", "cancelled"]
Format = Literal[
    "huggingface", "transformers", "gpt2", "tiktoken", "gguf", "sentencepiece", "native"
]
Pair = tuple[int, int]
Number = TypeVar("Number", bound="np.generic")


def read_only(array: NDArray[Number]) -> NDArray[Number]:
    """Return a read-only view of an array; the array itself stays writable.

    >>> import numpy as np
    >>> read_only(np.array([1, 2])).flags.writeable
    False
    """
    view = array.view()
    view.flags.writeable = False
    return view


def is_array(value: object) -> TypeGuard[NDArray[Any]]:
    """Return True for a NumPy array, without importing NumPy.

    >>> is_array([1, 2])
    False
    """
    numpy = sys.modules.get("numpy")  # where it isn't imported, there are no arrays
    return numpy is not None and isinstance(value, numpy.ndarray)


def _same(one: Any, other: Any) -> bool:
    # Only arrays: NumPy would drop the zero bytes at the end of words.
    if is_array(one):
        import numpy as np

        return np.array_equal(one, other)
    return bool(one == other)


@dataclass(frozen=True, slots=True)
class Merge:
    """One learned rule: the pair of ids that it joins, and the id of the token it makes.

    >>> Merge(rank=0, left=32, right=116, id=256, count=1379).pair
    (32, 116)
    """

    rank: int
    """Its position in the order of training, from 0."""
    left: int
    right: int
    id: int
    """The id of the token it makes; new unless an older token has the same bytes."""
    count: int | None = None
    """The count of the pair when it was chosen; None if the corpus is unknown."""

    @property
    def pair(self) -> Pair:
        """The two ids that this merge joins."""
        return self.left, self.right


class _CountedPair(NamedTuple):
    left: int
    right: int
    # Hides tuple.count, which is of no use for three numbers.
    count: int  # pyright: ignore[reportIncompatibleMethodOverride]


class PairCount(_CountedPair):
    """A pair of ids and its count, as a tuple of three, which also records ties.

    It equals any tuple of the same three numbers, tied or not.

    >>> pair = PairCount(108, 97, 1379, tied=True)
    >>> left, right, count = pair
    >>> count, pair == (108, 97, 1379)
    (1379, True)
    >>> pair
    PairCount(left=108, right=97, count=1379, tied=True)
    """

    _tied: bool = False

    def __new__(cls, left: int, right: int, count: int, *, tied: bool = False) -> PairCount:
        """Make a pair with its count."""
        pair = super().__new__(cls, left, right, count)
        pair._tied = tied
        return pair

    @property
    def tied(self) -> bool:
        """True for each pair, the winner included, that shares the highest count with another.

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
    """A token at its place in a text; half-open spans in characters and in UTF-8 bytes.

    A character span runs from the character with the token's first byte to the one with its last,
    so the spans of two tokens that share a character overlap. Byte spans never overlap, and
    together they cover every byte of the text once.
    """

    id: int | None
    """None for text without a token: dropped by the pre-tokenizer, or not in the alphabet."""
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
    """The steps from one pre-token's base symbols to its tokens."""

    start: int
    """The pre-token's start in the text, in characters."""
    text: str
    symbols: tuple[int, ...]
    """The ids of its base symbols."""
    steps: tuple[ExplainedMerge, ...]
    looked_up: int | None = None
    """The id of the whole pre-token if it was looked up and merging would give other tokens; the
    steps are then those that merging would take."""

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of its tokens."""
        if self.looked_up is not None:
            return (self.looked_up,)
        return self.steps[-1].symbols if self.steps else self.symbols


class Immutable:
    """Base class of immutable objects: a copy, shallow or deep, is the object itself.

    Each class defines how it is pickled, in `__reduce__`.

    >>> from copy import copy, deepcopy
    >>> value = Immutable()
    >>> copy(value) is value, deepcopy([value])[0] is value
    (True, True)
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class PretokenCounts(Immutable):
    """The distinct pre-tokens of a corpus, in the order they were first seen, and their counts.

    Raises ValueError unless there are as many counts as words.

    >>> import numpy as np
    >>> counts = PretokenCounts((b"hug", b"hugs"), np.array([3, 1]))
    >>> counts == PretokenCounts((b"hug", b"hugs"), np.array([3, 1])), counts.total
    (True, 4)
    """

    __slots__ = ("_counts", "_letters", "_words")
    __hash__: ClassVar[None]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __init__(self, words: Iterable[bytes], counts: NDArray[np.int64]) -> None:
        self._words: tuple[bytes, ...] | None = tuple(words)
        self._letters: NDArray[np.uint8] | None = None
        self._counts = read_only(counts)
        if len(self._words) != len(counts):
            raise ValueError(f"Expected {len(self._words)} counts, one a word, got {len(counts)}.")

    @classmethod
    def of_letters(cls, letters: NDArray[np.uint8], counts: NDArray[np.int64]) -> PretokenCounts:
        """Return the counts of words in one array, as `letters` returns them.

        The words become bytes objects only when they are asked for, which training never does.

        >>> import numpy as np
        >>> letters = np.frombuffer(b"hug\\xffhugs\\xff", np.uint8)
        >>> PretokenCounts.of_letters(letters, np.array([3, 1])).words
        (b'hug', b'hugs')
        """
        made = cls((), counts[:0])
        made._words = None
        made._letters = read_only(letters)
        made._counts = read_only(counts)
        return made

    @property
    def words(self) -> tuple[bytes, ...]:
        """The pre-tokens, each as UTF-8, without the end-of-word marker."""
        if self._words is None:
            assert self._letters is not None
            *words, _ = self._letters.tobytes().split(bytes([AFTER_WORD]))
            self._words = tuple(words)
        return self._words

    @property
    def letters(self) -> NDArray[np.uint8]:
        """uint8[n_letters]: all words, each followed by `AFTER_WORD`; read-only.

        Raises ValueError if a word contains that byte and so is not UTF-8.
        """
        if self._letters is None:
            import numpy as np

            end = bytes([AFTER_WORD])
            letters = end.join((*self.words, b""))
            if letters.count(end) != self.n_words:
                raise ValueError("Expected words in UTF-8, got one with the byte 0xFF.")
            self._letters = np.frombuffer(letters, np.uint8)
        return self._letters

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64[n_words]: how often each occurs; read-only."""
        return self._counts

    @property
    def n_words(self) -> int:
        """The number of distinct pre-tokens."""
        return len(self._counts)

    @property
    def total(self) -> int:
        """The number of pre-tokens in the corpus, repeats included."""
        return int(self._counts.sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PretokenCounts):
            return NotImplemented
        return _same(self.counts, other.counts) and self.words == other.words

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt when unpickled, because NumPy does not keep arrays read-only.
        if self._letters is None:
            return PretokenCounts, (self.words, self.counts)
        return PretokenCounts.of_letters, (self._letters, self.counts)


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """The settings of a training run: every choice that changes the tokenizer, and no other.

    vocab_size: the number of all tokens: special tokens, base symbols, the end-of-word marker, and
        those that merges make.
    pretokenizer: one of `PRETOKENIZER_NAMES`, such as gpt2, llama3 or none, or regex:PATTERN; after
        NFC+, NFD+, NFKC+ or NFKD+, text is normalized first, as in NFC+qwen2.
    base: the symbols that words are made of before any merge, bytes or characters.
    alphabet: "full" for all 256 bytes, "seen" for the symbols that occur in the documents.
    end_of_word: a marker such as </w>, a separate symbol at the end of each word; None for none.
    special_tokens: take the first ids, in order; text that spells one is ordinary text.
    min_frequency: training stops at a pair that occurs less often.
    tie_break: which of several pairs of the same count is merged: "smallest-pair" for the one with
        the smallest ids, as in Hugging Face's trainer; "first-seen" for the one that occurs first.
    max_token_bytes: the longest token that a merge may make, with the marker; None for any length.
    byte_fallback: 256 tokens for bytes, after the special tokens, spell the characters outside the
        alphabet, as in Llama 2; for characters with the pre-tokenizers metaspace and llama2,
        which need it.
    character_coverage: the share of the text that the alphabet covers, which is made of the most
        frequent characters; others are left out of the words that are trained on.
    superwords_from: once the vocabulary has this many tokens, merges may join words (SuperBPE), up
        to four of them; None for never.
    seeds: texts that become tokens before any other merge is learned.
    vetoes: texts that never become tokens; regex:PATTERN for every token that the pattern matches
        a part of.
    picky: a token is removed again once a merge takes more than this share of its uses, such as 0.9
        (PickyBPE); None for never.
    whole_characters: no merge joins a part of a character with anything but the rest of it.
    parity: the languages take turns, as in `train_parity`; the corpus has a folder, or a file, for
        each (`Corpus.by_language`).

    >>> TrainingConfig(vocab_size=1_000).pretokenizer
    'gpt2'
    """

    vocab_size: int = 32_000
    pretokenizer: str = "gpt2"
    base: Base = "bytes"
    alphabet: Alphabet = "full"
    end_of_word: str | None = None
    special_tokens: tuple[str, ...] = ("<|endoftext|>",)
    min_frequency: int = 0
    tie_break: TieBreak = "smallest-pair"
    max_token_bytes: int | None = None
    byte_fallback: bool = False
    character_coverage: float = 1.0
    superwords_from: int | None = None
    seeds: Sequence[str] = ()
    vetoes: Sequence[str] = ()
    whole_characters: bool = False
    picky: float | None = None
    parity: bool = False

    def __post_init__(self) -> None:
        # A generator can be read only once, and JSON cannot store NumPy's numbers. Other invalid
        # values are refused by `train`.
        for name in ("special_tokens", "seeds", "vetoes"):
            texts = getattr(self, name)
            if is_a(texts, Iterable) and not is_a(texts, str):
                object.__setattr__(self, name, tuple(texts))
        for name in ("vocab_size", "min_frequency", "max_token_bytes", "superwords_from"):
            number = getattr(self, name)
            if is_whole(number):
                object.__setattr__(self, name, int(number))
        for name in ("character_coverage", "picky"):
            share = getattr(self, name)
            if is_a(share, Real) and not is_a(share, bool):
                object.__setattr__(self, name, float(share))


class TrainingSettings(TypedDict, total=False):
    """The fields of a `TrainingConfig` as keyword arguments of `train`."""

    vocab_size: int
    pretokenizer: str
    base: Base
    alphabet: Alphabet
    end_of_word: str | None
    special_tokens: tuple[str, ...]
    min_frequency: int
    tie_break: TieBreak
    max_token_bytes: int | None
    byte_fallback: bool
    character_coverage: float
    superwords_from: int | None
    seeds: Sequence[str]
    vetoes: Sequence[str]
    whole_characters: bool
    picky: float | None
    parity: bool


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """The progress of a training run, as passed to `on_progress`."""

    merges_done: int
    merges_wanted: int
    """The number of merges the vocabulary has room for; training may end sooner."""
    elapsed_seconds: float
    corpus_tokens: int
    """The length of the corpus in tokens at this point."""
    last_count: int
    """The count of the last merged pair; 0 before the first merge."""
    seconds_compiling: float | None = None
    """Seconds waited for the compiler, when kernels are first used on a machine;
    None if it does not wait."""
    new_merges: tuple[tuple[int, int, int], ...] = ()
    """(left, right, new id) of each merge since the last report."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MergeTrace:
    """The state of training before each merge from start to stop - 1, with one row for each merge.

    Pairs that tie have separate rows. Ids and indices are int32, counts int64; -1 fills the columns
    that a row does not need.
    """

    start: int
    stop: int
    top_left: NDArray[np.int32]
    """int32[n, k]: left ids of the k most frequent pairs, the winner first; a pair that was merged
    for a term comes first whatever its count."""
    top_right: NDArray[np.int32]
    top_count: NDArray[np.int64]
    n_pairs: NDArray[np.int64]
    """int64[n]: how many distinct pairs occur."""
    n_tied: NDArray[np.int64]
    """int64[n]: how many of them share the winner's count, the winner included; 1 if the winner was
    merged for a term rather than for its count."""
    next_count: NDArray[np.int64]
    """int64[n]: the highest count below the winner's; 0 if there is none."""
    tied_left: NDArray[np.int32]
    """int32[t]: left ids of the pairs that tie for first place, ordered by the tie rule. The ties
    of a step are those with tied_from <= step < tied_until; a sole winner has none."""
    tied_right: NDArray[np.int32]
    tied_from: NDArray[np.int32]
    tied_until: NDArray[np.int32]
    n_overlapping: NDArray[np.int64]
    """int64[n]: counted occurrences that cannot merge: they share a symbol with one that does."""
    n_words: NDArray[np.int64]
    """int64[n]: how many distinct pre-tokens the merge changes."""
    touched: NDArray[np.int32]
    """int32[n, m]: those with the most occurrences of the pair, as indices into the pre-tokens."""
    touched_given: NDArray[np.int64]
    """int64[n, m]: how many occurrences that merge are in each of them."""
    risen_left: NDArray[np.int32]
    """int32[n, r]: pairs whose count the merge raises, most first."""
    risen_right: NDArray[np.int32]
    risen_by: NDArray[np.int64]
    fallen_left: NDArray[np.int32]
    """int32[n, r]: pairs other than the winner whose count the merge lowers, most first."""
    fallen_right: NDArray[np.int32]
    fallen_by: NDArray[np.int64]
    """int64[n, r]: by how much, as a positive number."""

    __hash__: ClassVar[None]  # pyright: ignore[reportIncompatibleMethodOverride]

    def __eq__(self, other: object) -> bool:
        # A dataclass's own `==` would raise, because arrays compare element by element.
        if not isinstance(other, MergeTrace):
            return NotImplemented
        names = [field.name for field in fields(self)]
        return all(_same(getattr(self, name), getattr(other, name)) for name in names)

    def __repr__(self) -> str:
        return f"<MergeTrace of merges {self.start} to {self.stop}>"
