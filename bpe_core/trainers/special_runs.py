"""What only some runs have: those that continue an existing tokenizer, and parity-aware ones.

The first have what was asked of their new tokens, and merges for terms; the second, which language
picked each merge, and what the merge did to each language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus import NEVER, Layout
from bpe_core.errors import ConfigError, FormatError
from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers.incremental import LearnedMerges
from bpe_core.trainers.parity import TOGETHER
from bpe_core.types import Merge, read_only
from bpe_core.unicode import to_printable

# A longer token than any text is merged to; its parts would be too many to list.
_MAX_REVIVED: Final = 500
_NUMBERS: Final = bytes(
    byte for byte in range(0x80, 0x100) if to_printable(bytes([byte])).isnumeric()
)


@dataclass(frozen=True, slots=True)
class TermCost:
    """What a term cost and saved when a tokenizer was extended; or why it is not a token."""

    term: str | bytes
    """As it was given."""
    token: bytes | None
    """The bytes of its token, which may begin with a space; None if it did not become a token."""
    tokens_added: int = 0
    """How many new tokens its merges took; 0 if it was a token before."""
    tokens_saved: int = 0
    """How many tokens shorter its merges made the corpus."""
    reason: str | None = None
    """Why it did not become a token, as a sentence; None if it is one."""
    occurrences: int | None = None
    """How often the corpus contained it as a token once it was made; None if it took no new token.

    Nothing in the corpus trains the embedding row of a token with 0 occurrences.
    """
    characters_added: int = 0
    """How many of its characters the base lacked, and got before any merge was made.

    Those that an earlier term needed too are not counted again.
    """

    @property
    def is_absent(self) -> bool:
        """Whether tokens were added for it although the corpus does not contain it."""
        return self.occurrences == 0


@dataclass(frozen=True, slots=True)
class TermMerges:
    """Merges that were chosen for terms, and where they joined the words of a layout."""

    merges: list[tuple[int, int, int]]
    """(left, right, new id) of each, in order."""
    counts: list[int]
    """The count of each merge's pair in the corpus when it was chosen."""
    tokens_saved: list[int]
    """How many tokens shorter each merge made the corpus."""
    joined_at: NDArray[np.int32]
    """int32[n_slots]: the rank of the merge that joined each slot of the layout, or NEVER."""
    costs: tuple[TermCost, ...]
    """One for each term, in the order given."""

    def applied_to(self, layout: Layout) -> Layout:
        """Return the words after these merges, with one slot for each symbol.

        >>> from bpe_core.corpus import Layout
        >>> joined_at = np.array([NEVER, NEVER, 0, NEVER, NEVER], np.int32)
        >>> first = TermMerges([(7, 8, 9)], [5], [5], joined_at, ())
        >>> first.applied_to(Layout.of_words([[7, 8, 7]], [5])).ids.tolist()
        [-1, 9, 7, -1]
        """
        new_ids = np.array([made for _, _, made in self.merges], np.int32)
        return layout.at_step(self.joined_at, new_ids, len(self.merges))

    def then(self, learned: LearnedMerges) -> LearnedMerges:
        """Return these merges and those learned from the layout that `applied_to` returned.

        >>> joined_at = np.array([NEVER, NEVER, 0, NEVER, NEVER], np.int32)
        >>> first = TermMerges([(7, 8, 9)], [5], [5], joined_at, ())
        >>> later = np.array([NEVER, NEVER, 0, NEVER], np.int32)
        >>> both = first.then(LearnedMerges([(9, 7, 10)], [5], np.array([5]), later, "no-pairs"))
        >>> both.joined_at.tolist() == [NEVER, NEVER, 0, 1, NEVER]
        True
        """
        n_first = len(self.merges)
        joined_at = self.joined_at.copy()
        # Learned merges may join the slots of the shorter layout.
        starts = np.flatnonzero(joined_at >= n_first)
        later = learned.joined_at
        joined_at[starts] = np.where(
            later == NEVER, NEVER, np.minimum(later, NEVER - n_first) + n_first
        )
        return LearnedMerges(
            self.merges + learned.merges,
            self.counts + learned.counts,
            np.concatenate([np.array(self.tokens_saved, np.int64), learned.tokens_saved]),
            joined_at,
            learned.stop_reason,
        )


MergeTerms = Callable[[Layout], TermMerges]
"""Chooses the merges for terms on the words of a corpus, laid out as the base's tokens."""


@dataclass(frozen=True, slots=True)
class Continuation:
    """The tokenizer that a run continues, and what the user asked for."""

    base: Tokenizer
    """With the characters that were added for the corpus."""
    counts: tuple[int, ...] = ()
    """The count of each new merge's pair when it was chosen."""
    left_out: tuple[bytes, ...] = ()
    """The bytes of tokens that no merge may make."""
    terms: tuple[TermCost, ...] = ()
    """The cost of each term that was tried before learning."""
    characters: tuple[int, ...] = ()
    """The ids of the characters that were added."""
    character_coverage: float = 0.0
    """The share of the corpus whose characters were asked for; 0 for none but those of terms."""

    @property
    def new_characters(self) -> dict[int, tuple[int, ...]]:
        """The ids of the bytes that spell each character that was added."""
        return {id: spell_in_bytes(self.base, id) for id in self.characters}

    def given_base(self, n_characters: int = 0) -> Tokenizer:
        """Return the base with the first of the added characters; with none, as models have it."""
        if not self.characters:
            return self.base
        added = {*self.characters[n_characters:]}
        vocab = {id: token for id, token in self.base.vocab.items() if id not in added}
        return self.base.with_changes(vocab=vocab)

    @property
    def n_term_merges(self) -> int:
        """How many of the first merges were made for terms.

        The base has those of a training's seeds already if merges join words afterwards.
        """
        known = self.base.table.ids if any(cost.tokens_added for cost in self.terms) else ()
        return sum(cost.tokens_added for cost in self.terms if cost.token not in known)

    def list_merges(self, tokenizer: Tokenizer) -> tuple[Merge, ...]:
        """Return the merges that follow those of the base, ranked from 0, with their counts.

        Raises `ConfigError` unless there is one count for each.

        >>> from bpe_core.tokenizer import gpt2
        >>> longer = gpt2().extended([(262, 262, 50257)])
        >>> Continuation(gpt2(), (7,)).list_merges(longer)
        (Merge(rank=0, left=262, right=262, id=50257, count=7),)
        """
        new = tokenizer.table.triples[self.base.n_merges :]
        if len(self.counts) != len(new):
            raise ConfigError(
                f"There are {len(self.counts):,} counts for {len(new):,} new merges. "
                "Give one for each."
            )
        return tuple(
            Merge(rank, *triple, count)
            for rank, (triple, count) in enumerate(zip(new, self.counts, strict=True))
        )


def reviving_tokens(base: Tokenizer) -> frozenset[bytes]:
    """Return what no new merge may make, because of tokens that the base's own merges don't make.

    A SentencePiece model lists no merges: whatever two neighbours spell a token is joined. If a new
    token were the missing part of a token that the base never makes, that one would be made too,
    before all new ones, and text would be encoded differently. So of two parts that such a token
    can be cut into, one is never made. Empty for a base that lists its merges alone.

    >>> vocab = {0: b"\\xe2", 1: b"a", 2: b"b", 3: b"c", 4: b"d", 5: b"abcd"}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="none", base="characters", byte_fallback=[0]
    ... )
    >>> sorted(reviving_tokens(base))
    [b'abc', b'bcd', b'cd']
    """
    if not base.table.byte_ids:
        return frozenset()
    made = {*base.table.parts, *base.base_ids.values()}
    parts = {base.vocab[id] for id in made}
    never_made = base.vocab.keys() - made - {*base.table.byte_ids.values()}
    found: set[bytes] = set()
    for id in never_made - {*base.special_tokens.values()}:
        text = base.vocab[id].decode(errors="replace")
        if len(text) <= _MAX_REVIVED:
            for cut in range(1, len(text)):
                left, right = text[:cut].encode(), text[cut:].encode()
                found.add(left if right in parts else right)
    return frozenset(found - parts)


def bytes_apart(base: Tokenizer) -> bytes:
    """Return the bytes that Falcon's merges never join with others; none for another base.

    Falcon writes bytes as GPT-2 does before it cuts out numbers, and six are numbers in that form,
    such as 0xB2, which is ². A new token of such a byte and another would be in no text. A
    tokenizer that was trained here with the pre-tokenizer falcon has such tokens.

    >>> vocab = dict(enumerate([b"\\xd0", b"\\xb2", b"\\xb5", b"\\xd0\\xb5"]))
    >>> falcon = Tokenizer(vocab=vocab, merges=[(0, 2, 3)], pretokenizer="falcon")
    >>> bytes_apart(falcon).hex(" ")
    'b2 b3 b9 bc bd be'
    """
    if base.pretokenizer.cut != "falcon" or base.base != "bytes":
        return b""
    made = (base.vocab[id] for id in base.table.made)
    joined = any(0 < len(token.translate(None, _NUMBERS)) < len(token) for token in made)
    return b"" if joined else _NUMBERS


def spell_in_bytes(base: Tokenizer, id: int) -> tuple[int, ...]:
    """Return the ids of the bytes of a character, of a base that has bytes for characters.

    >>> vocab = {**{byte: bytes([byte]) for byte in range(256)}, 256: "é".encode()}
    >>> base = Tokenizer(
    ...     vocab=vocab, merges=[], pretokenizer="none", base="characters", byte_fallback=range(256)
    ... )
    >>> spell_in_bytes(base, 256)
    (195, 169)
    """
    return tuple(base.table.byte_ids[bytes([byte])] for byte in base.vocab[id])


def spelled_by(
    merges: Iterable[Merge], characters: Mapping[int, tuple[int, ...]] = MappingProxyType({})
) -> dict[int, tuple[int, ...]]:
    """Return each id that the merges make, with the older ids that spell it.

    If several merges make an id, the first one spells it. `characters` are new too, and come first.

    >>> spelled_by([Merge(0, 1, 2, 3, count=9), Merge(1, 3, 3, 4, count=5)])
    {3: (1, 2), 4: (1, 2, 1, 2)}
    """
    spelled = dict(characters)
    for merge in merges:
        left, right = (spelled.get(id, (id,)) for id in merge.pair)
        spelled.setdefault(merge.id, left + right)
    return spelled


class Fairness(NamedTuple):
    """How evenly texts in several languages are cut."""

    gini: float
    """The Gini coefficient of their numbers of tokens: 0 if all are equal."""
    longest_to_shortest: float
    """The tokens of the longest divided by those of the shortest."""

    @classmethod
    def of(cls, lengths: Sequence[int]) -> Fairness:
        """Return the fairness of numbers of tokens.

        >>> Fairness.of([2, 2, 4]).longest_to_shortest
        2.0
        """
        from bpe_core.comparison import gini  # here, because opening a tokenizer compares nothing

        return cls(gini(lengths), max(lengths) / max(min(lengths), 1))


@dataclass(frozen=True, slots=True, eq=False)
class ParityHistory:
    """The languages of a parity-aware run, and what each merge did to them.

    >>> lengths = np.array([[3, 3, 2], [4, 2, 2]])
    >>> history = ParityHistory(("en", "xx"), np.array([1, 0], np.int32), lengths)
    >>> history.picked_by.tolist(), history.lengths_of("en").tolist()
    (['xx', 'en'], [3, 3, 2])
    """

    languages: tuple[str, ...]
    picked: NDArray[np.int32]
    """int32[n_merges]: the number of the language that picked each merge, or TOGETHER."""
    lengths: NDArray[np.int64]
    """int64[n_languages, n_merges + 1]: the tokens of each language's text after so many merges."""
    hybrid_merges: int = 0
    window: int | None = None
    alpha: float = 2.0
    has_development: bool = False
    """Whether other texts than those trained on were measured."""
    plain: tuple[int, ...] = ()
    """The tokens of each language's text under plain BPE of the same size; empty if not counted."""

    @property
    def picked_by(self) -> NDArray[np.str_]:
        """The language that picked each merge; "" for those that all chose together."""
        return read_only(np.array([*self.languages, ""])[self.picked])

    def lengths_of(self, language: str) -> NDArray[np.int64]:
        """Return int64[n_merges + 1]: the tokens of a language's text after so many merges."""
        return read_only(self.lengths[self.languages.index(language)])

    def fairness(self) -> Fairness:
        """Return how evenly the languages' texts are cut after the last merge."""
        return Fairness.of(self.lengths[:, -1].tolist())

    def fairness_of_plain(self) -> Fairness | None:
        """Return how evenly plain BPE cuts the same texts; None if that was not counted."""
        return Fairness.of(self.plain) if self.plain else None

    def sentence(self) -> str:
        """Return how evenly the languages are served, next to plain BPE if that was counted.

        >>> lengths = np.array([[9, 9, 6], [8, 6, 6]])
        >>> history = ParityHistory(("en", "xx"), np.array([1, 0]), lengths, plain=(5, 8))
        >>> print(history.sentence().replace("; ", "\\n"))
        The longest text takes 1.00 times the tokens of the shortest, Gini coefficient 0.000
        under plain BPE of the same size, 1.60 times and 0.115.
        """
        after, plain = self.fairness(), self.fairness_of_plain()
        found = (
            f"The longest text takes {after.longest_to_shortest:.2f} times the tokens of the "
            f"shortest, Gini coefficient {after.gini:.3f}"
        )
        if plain is None:
            return f"{found}."
        return (
            f"{found}; under plain BPE of the same size, {plain.longest_to_shortest:.2f} times and "
            f"{plain.gini:.3f}."
        )

    def picks(self, most: int) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
        """Return who picked when, in at most so many stretches of the run.

        These are the languages that picked, the busiest first; for each, float64[n_stretches], its
        share of the merges of each stretch; and the stretches' ends, float64[n_stretches + 1].

        >>> history = ParityHistory(("en", "xx"), np.array([1, 0, 1, 1]), np.zeros((2, 5)))
        >>> names, shares, edges = history.picks(2)
        >>> names, shares.tolist(), edges.tolist()
        (['xx', 'en'], [[0.5, 1.0], [0.5, 0.0]], [0.0, 2.0, 4.0])
        """
        n = self.picked.size
        edges = np.linspace(0, n, min(most, max(n, 1)) + 1)
        names = [*self.languages, "all together"]
        numbers = np.where(self.picked == TOGETHER, len(self.languages), self.picked)
        bins = (np.arange(len(names) + 1) - 0.5, edges)
        found, _, _ = np.histogram2d(numbers, np.arange(n) + 0.5, bins)
        order = [each for each in np.argsort(-found.sum(1), kind="stable") if found[each].any()]
        shares = found[order] / np.maximum(found.sum(0), 1)
        return [names[each] for each in order], shares, edges

    def rows(self) -> list[tuple[str, int, int | None, int, int]]:
        """Return for each language its tokens before any merge, under plain BPE and with parity.

        The last figure is how many merges it picked.
        """
        picked = np.bincount(self.picked[self.picked >= 0], minlength=len(self.languages)).tolist()
        plain = self.plain or [None] * len(self.languages)
        before, after = self.lengths[:, 0].tolist(), self.lengths[:, -1].tolist()
        return list(zip(self.languages, before, plain, after, picked, strict=True))

    def cut(self, n_merges: int) -> ParityHistory:
        """Return the history of the first merges; plain BPE of that size is not known."""
        lengths = self.lengths[:, : n_merges + 1]
        return replace(self, picked=self.picked[:n_merges], lengths=lengths, plain=())

    def to_dict(self) -> dict[str, Any]:
        """Return all but the arrays as JSON values."""
        return {
            "languages": [*self.languages],
            "hybrid_merges": self.hybrid_merges,
            "window": self.window,
            "alpha": self.alpha,
            "has_development": self.has_development,
            "plain": [*self.plain],
        }


def parse_history(
    found: Mapping[str, Any], picked: NDArray[np.int32], lengths: NDArray[np.int64], n_merges: int
) -> ParityHistory:
    """Return what `ParityHistory.to_dict` described; raise FormatError if it is damaged.

    >>> described = {"languages": ["en", "xx"], "hybrid_merges": 0, "window": None, "alpha": 2.0,
    ...     "has_development": False, "plain": []}
    >>> picked, lengths = np.array([1], np.int32), np.array([3, 3, 4, 2])
    >>> parse_history(described, picked, lengths, 1).lengths.tolist()
    [[3, 3], [4, 2]]
    """
    match found:
        case {
            "languages": [*languages],
            "hybrid_merges": int(hybrid),
            "window": int() | None as window,
            "alpha": int() | float() as alpha,
            "has_development": bool(has_development),
            "plain": [*plain],
        }:
            pass
        case _:
            raise FormatError(f"Expected the settings of a parity-aware run, got {found!r:.60}.")
    n = len(languages)
    if not all(isinstance(name, str) for name in languages) or len(set(languages)) != n or n < 2:
        raise FormatError(f"Expected two or more distinct languages, got {languages!r:.60}.")
    if not all(isinstance(each, int) and each >= 0 for each in plain) or len(plain) not in (0, n):
        raise FormatError("Expected the tokens of each language under plain BPE.")
    if picked.size != n_merges or (picked < TOGETHER).any() or (picked >= n).any():
        raise FormatError("Expected for each merge the number of the language that picked it.")
    if lengths.size != n * (n_merges + 1):
        raise FormatError("Expected each language's tokens after each merge.")
    lengths = lengths.reshape(n, -1)
    if (lengths < 0).any() or (np.diff(lengths) > 0).any():
        raise FormatError("A language's tokens rise from one merge to the next.")
    return ParityHistory(
        tuple(languages), picked, lengths, hybrid, window, alpha, has_development, tuple(plain)
    )
