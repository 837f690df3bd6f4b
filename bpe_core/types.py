"""The values that the core and its callers exchange: immutable and complete when created."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Final,
    Literal,
    Self,
    TypedDict,
    TypeVar,
    cast,
)

from bpe_core.checks import check_choice, counted, describe, is_a, is_whole
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.unicode import AFTER_WORD

if TYPE_CHECKING:  # importing NumPy takes longer than encoding a short text does
    import numpy as np
    from numpy.typing import NDArray

Base = Literal["bytes", "characters"]
Alphabet = Literal["bytes", "seen", "characters", "full"]
"""Names of alphabets; `full` is an older name of `bytes`."""
TieBreak = Literal["smallest-pair", "first-seen"]
StopReason = Literal["vocab-size", "no-pairs", "min-frequency", "cancelled"]
Format = Literal[
    "huggingface", "transformers", "gpt2", "tiktoken", "gguf", "sentencepiece", "native"
]
ENDINGS: Final[dict[Format, str]] = {
    "tiktoken": ".tiktoken",
    "sentencepiece": ".model",
    "gguf": ".gguf",
    "native": ".bpe.json",
    "huggingface": ".json",
}
"""How the name of a file says its format; the first that fits counts. A folder's file begins with
tokenizer."""
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
        import numpy as np

        return np.array_equal(self.counts, other.counts) and self.words == other.words

    def __reduce__(self) -> tuple[object, ...]:
        # Rebuilt when unpickled, because NumPy does not keep arrays read-only.
        if self._letters is None:
            return PretokenCounts, (self.words, self.counts)
        return PretokenCounts.of_letters, (self._letters, self.counts)


@dataclass(frozen=True, slots=True)
class Characters:
    """The alphabet of a text's most frequent characters, as in Llama 2.

    It is for the pre-tokenizers metaspace and llama2, which need it. Raises `ConfigError` for a
    coverage outside (0, 1], and for one below 1 without fallback.

    >>> TrainingConfig(pretokenizer="metaspace", alphabet=Characters(coverage=0.9995)).base
    'characters'
    >>> TrainingConfig(alphabet=Characters(fallback=False)).alphabet
    'characters'
    """

    coverage: float = 1.0
    """The share of the text that the alphabet covers; other characters are left out of the words
    that are trained on."""
    fallback: bool = True
    """True if 256 tokens for bytes, after the special tokens, spell the other characters."""

    def __post_init__(self) -> None:
        coverage = _checked_coverage(self.coverage, self.fallback, "coverage", "fallback")
        object.__setattr__(self, "coverage", coverage)


def _checked_coverage(
    coverage: Any, fallback: Any, coverage_name: str, fallback_name: str
) -> float:
    """Return the coverage as a float; errors use the names that the caller wrote."""
    if is_a(coverage, Real) and not is_a(coverage, bool):
        coverage = float(coverage)
    check_coverage(coverage_name, coverage)
    if not is_a(fallback, bool):
        raise ArgumentTypeError(f"{fallback_name} is {describe(fallback)}. Use True or False.")
    if coverage < 1 and not fallback:
        raise ConfigError(
            f"{coverage_name} is {coverage}, but without {fallback_name} no token would spell the "
            f"other characters. Set {fallback_name}=True, or a coverage of 1."
        )
    return coverage


def check_coverage(name: str, coverage: float, *, may_be_zero: bool = False) -> None:
    """Raise `ConfigError` unless the argument `name` is a share that an alphabet can cover.

    An alphabet that is trained needs a character; one that is extended may get none.

    >>> check_coverage("character_coverage", 0, may_be_zero=True)
    >>> check_coverage("character_coverage", 2, may_be_zero=True)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: character_coverage is 2. Use a share from 0 to 1.
    """
    if not is_a(coverage, Real) or is_a(coverage, bool):
        raise ArgumentTypeError(f"{name} is {describe(coverage)}. Use a number, such as 0.9995.")
    if not (0 < coverage <= 1 or (may_be_zero and coverage == 0)):
        share = "from 0 to 1" if may_be_zero else "above 0, up to 1, such as 0.9995"
        raise ConfigError(f"{name} is {coverage}. Use a share {share}.")


@dataclass(frozen=True, slots=True, init=False)
class TrainingConfig:
    """The settings of a training run: every choice that changes the tokenizer, and no other.

    vocab_size: the number of all tokens: special tokens, base symbols, the end-of-word marker, and
        those that merges make.
    pretokenizer: one of `PRETOKENIZER_NAMES`, such as gpt2, llama3 or none, or regex:PATTERN; after
        NFC+, NFD+, NFKC+ or NFKD+, text is normalized first, as in NFC+qwen2.
    alphabet: the symbols that words are made of before any merge: "bytes" for all 256 bytes, "seen"
        for the bytes that occur in the documents, "characters" for the characters that occur in
        them, or `Characters` for the most frequent ones.
    end_of_word: a marker such as </w>, a separate symbol at the end of each word; None for none.
    special_tokens: take the first ids, in order; text that spells one is ordinary text.
    min_frequency: training stops at a pair that occurs less often.
    tie_break: which of several pairs of the same count is merged: "smallest-pair" for the one with
        the smallest ids, as in Hugging Face's trainer; "first-seen" for the one that occurs first.
    max_token_bytes: the longest token that a merge may make, with the marker; None for any length.
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

    The older settings base, byte_fallback and character_coverage each change the alphabet, as
    `choose_alphabet` says. Raises `ConfigError` for an invalid alphabet; other invalid values are
    refused by `train`.

    >>> TrainingConfig(vocab_size=1_000).pretokenizer
    'gpt2'
    >>> llama = TrainingConfig(pretokenizer="metaspace", alphabet=Characters(coverage=0.9995))
    >>> llama.base, llama.byte_fallback, llama.character_coverage
    ('characters', True, 0.9995)
    """

    vocab_size: int
    pretokenizer: str
    alphabet: Alphabet | Characters
    end_of_word: str | None
    special_tokens: tuple[str, ...]
    min_frequency: int
    tie_break: TieBreak
    max_token_bytes: int | None
    superwords_from: int | None
    seeds: Sequence[str]
    vetoes: Sequence[str]
    whole_characters: bool
    picky: float | None
    parity: bool

    def __init__(
        self,
        vocab_size: int = 32_000,
        pretokenizer: str = "gpt2",
        base: Base | None = None,
        alphabet: Alphabet | Characters = "bytes",
        end_of_word: str | None = None,
        special_tokens: tuple[str, ...] = ("<|endoftext|>",),
        min_frequency: int = 0,
        tie_break: TieBreak = "smallest-pair",
        max_token_bytes: int | None = None,
        *,
        byte_fallback: bool | None = None,
        character_coverage: float | None = None,
        superwords_from: int | None = None,
        seeds: Sequence[str] = (),
        vetoes: Sequence[str] = (),
        whole_characters: bool = False,
        picky: float | None = None,
        parity: bool = False,
    ) -> None:
        """Make the settings; see the class."""
        given = dict(locals())
        given["alphabet"] = choose_alphabet(alphabet, base, byte_fallback, character_coverage)
        for field in fields(self):
            object.__setattr__(self, field.name, given[field.name])
        # A generator can be read only once, and JSON cannot store NumPy's numbers.
        for name in ("special_tokens", "seeds", "vetoes"):
            texts = getattr(self, name)
            if is_a(texts, Iterable) and not is_a(texts, str):
                object.__setattr__(self, name, tuple(texts))
        for name in ("vocab_size", "min_frequency", "max_token_bytes", "superwords_from"):
            number = getattr(self, name)
            if is_whole(number):
                object.__setattr__(self, name, int(number))
        if is_a(picky, Real) and not is_a(picky, bool):
            object.__setattr__(self, "picky", float(cast("float", picky)))

    @property
    def base(self) -> Base:
        """What the base symbols are: bytes or characters."""
        return "bytes" if self.alphabet in ("bytes", "seen") else "characters"

    @property
    def ways(self) -> str:
        """What the training does besides plain BPE, in words; empty for plain BPE.

        >>> TrainingConfig(1_500, superwords_from=900, seeds=("hug",)).ways
        'superwords from 900 tokens on (SuperBPE) and 1 token that must exist'
        """
        ways: list[str] = []
        if self.superwords_from is not None:
            ways.append(f"superwords from {self.superwords_from:,} tokens on (SuperBPE)")
        if self.picky is not None:
            ways.append(f"removal of tokens above {self.picky:g} of their uses (PickyBPE)")
        if self.parity:
            ways.append("parity between languages")
        if self.seeds:
            ways.append(f"{counted(len(self.seeds), 'token')} that must exist")
        if self.vetoes:
            ways.append(f"{counted(len(self.vetoes), 'rule')} for tokens that must not exist")
        if self.whole_characters:
            ways.append("characters kept whole")
        return " and ".join(ways)

    @property
    def byte_fallback(self) -> bool:
        """True if 256 tokens for bytes spell the characters outside the alphabet."""
        return isinstance(self.alphabet, Characters)

    @property
    def character_coverage(self) -> float:
        """The share of the text that the alphabet covers."""
        return self.alphabet.coverage if isinstance(self.alphabet, Characters) else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values, by the names that files of all versions have.

        >>> settings = TrainingConfig(300, alphabet=Characters(coverage=0.9995)).to_dict()
        >>> settings["base"], settings["alphabet"], settings["byte_fallback"]
        ('characters', 'seen', True)
        >>> TrainingConfig(**settings).alphabet
        Characters(coverage=0.9995, fallback=True)
        """
        named = {name: getattr(self, name) for name in TrainingSettings.__annotations__}
        return {**named, "alphabet": "full" if self.alphabet == "bytes" else "seen"}


def choose_alphabet(
    alphabet: object,
    base: object = None,
    byte_fallback: object = None,
    character_coverage: object = None,
) -> Alphabet | Characters:
    """Return an alphabet, changed by each of the older settings that is given.

    Raises `ConfigError` for an invalid value, and for settings that no alphabet has.

    >>> choose_alphabet("full"), choose_alphabet("seen", base="characters")
    ('bytes', 'characters')
    >>> choose_alphabet("full", "characters", byte_fallback=True, character_coverage=0.9995)
    Characters(coverage=0.9995, fallback=True)
    >>> choose_alphabet(Characters(coverage=0.9995), byte_fallback=False, character_coverage=1)
    'characters'
    """
    own = alphabet if isinstance(alphabet, Characters) else Characters(fallback=False)
    if own is not alphabet:
        check_choice("alphabet", alphabet, Alphabet, ConfigError)
    if base is None:
        base = "bytes" if alphabet in ("bytes", "seen", "full") else "characters"
    check_choice("base", base, Base, ConfigError)
    coverage = own.coverage if character_coverage is None else character_coverage
    fallback = own.fallback if byte_fallback is None else byte_fallback
    coverage = _checked_coverage(coverage, fallback, "character_coverage", "byte_fallback")
    changed = Characters(coverage, cast("bool", fallback))
    if base == "characters":
        return changed if changed.fallback else "characters"
    if changed.fallback:
        given = "byte_fallback" if byte_fallback else "alphabet=Characters()"
        raise ConfigError(
            f"{given} needs the pre-tokenizer metaspace or llama2, and base='characters', but the "
            "base is 'bytes'. Set all three."
        )
    return "seen" if alphabet == "seen" else "bytes"


class TrainingSettings(TypedDict, total=False):
    """The fields of a `TrainingConfig` as keyword arguments of `train`."""

    vocab_size: int
    pretokenizer: str
    base: Base | None
    alphabet: Alphabet | Characters
    end_of_word: str | None
    special_tokens: tuple[str, ...]
    min_frequency: int
    tie_break: TieBreak
    max_token_bytes: int | None
    byte_fallback: bool | None
    character_coverage: float | None
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
