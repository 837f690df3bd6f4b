"""Compare tokenizers on the same text: figures for each, and where they split it differently.

What they cost, too: tokens in money, text in a context window, rows of an embedding. Prices, widths
and windows are a visitor's own; none is built in.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, counted, describe, is_a, several
from bpe_core.comparison.intervals import BlockCounts, Blocks, TokenSaving, compute_gain
from bpe_core.comparison.measurement import (
    Measured,
    Measuring,
    ShouldStop,
    TokenizerMetrics,
    measure_together,
)
from bpe_core.comparison.text_map import TextMap
from bpe_core.corpus import Corpus, percent, to_corpus
from bpe_core.errors import (
    ArgumentTypeError,
    ConfigError,
    EmptyCorpusError,
    OutOfRangeError,
    TokenizationError,
)
from bpe_core.extras import to_frame
from bpe_core.lazy import from_above
from bpe_core.tokenizer import Encoder, NamedEncoder, Tokenizer, Trained, to_encoder
from bpe_core.types import Segment
from bpe_core.unicode import CodePoints

if TYPE_CHECKING:
    from bpe_core.view import View


@dataclass(frozen=True, slots=True)
class Verdict:
    """One tokenizer against another; negative figures mean that the first is worse."""

    percent_fewer_tokens: float
    """100 × (1 - first's tokens / second's); nan if the second has none."""
    vocabulary_ratio: float
    """The second vocabulary size divided by the first: 12 if the first is a twelfth the size."""
    fewer_word_tokens: int
    """How many tokens with a letter or number the first saves."""
    fewer_punctuation_tokens: int
    fewer_white_space_tokens: int
    share_of_words_whole: tuple[float, float]
    """The first's and the second's share, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Several tokenizers on the same text; `rows` are in the order of the tokenizers."""

    rows: tuple[TokenizerMetrics, ...]
    n_documents: int
    """0 where words and their counts were compared."""
    n_bytes: int
    n_characters: int
    n_words: int
    n_shared: int
    """Tokens common to all vocabularies, by their bytes, without special tokens."""
    names: tuple[str, ...] = field(default=(), compare=False)
    """A distinct name for each tokenizer: the end of its path, its title, or "Tokenizer 1"."""
    shares_trained_on: tuple[float | None, ...] = field(default=(), compare=False)
    """For each tokenizer, the share of the text, by bytes, in documents that its training saw, at
    least in part: figures on them are better than on new text. None if that is not known."""
    segments: tuple[tuple[Segment, ...], ...] = field(default=(), repr=False)
    """Each tokenizer's segments if a text was compared; empty for a corpus."""
    disagreements: tuple[tuple[Disagreement, ...], ...] = field(default=(), repr=False)
    """The first tokenizer against each of the others, if a text was compared."""
    blocks: Blocks | None = field(default=None, repr=False, compare=False)
    """The blocks and units of the corpus, over which `gain` draws the intervals."""
    by_block: tuple[BlockCounts, ...] = field(default=(), repr=False, compare=False)
    """Each tokenizer's tokens in those blocks."""
    text: str = field(default="", repr=False, compare=False)
    """The text that was compared; empty for a corpus."""
    encoders: tuple[NamedEncoder, ...] = field(default=(), repr=False, compare=False)
    """The tokenizers, with their names, if a text was compared."""

    def __repr__(self) -> str:
        counts = ", ".join(f"{row.n_tokens:,}" for row in self.rows)
        n = len(self.rows)
        return f"<Comparison of {n} tokenizers on {counted(self.n_bytes, 'byte')}: {counts} tokens>"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values, with a dict for each tokenizer in "rows".

        >>> row = compare("the bare bytes", ["gpt2"]).to_dict()["rows"][0]
        >>> row["tokenizer"], row["bytes_per_token"]
        ('GPT-2', 4.666666666666667)
        """
        return {
            "n_documents": self.n_documents,
            "n_bytes": self.n_bytes,
            "n_characters": self.n_characters,
            "n_words": self.n_words,
            "n_shared": self.n_shared,
            "rows": self._named_rows(),
        }

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row of figures for each tokenizer, in their order.

        >>> from bpe_core.tokenizer import gpt2
        >>> frame = compare("the bare bytes", ["gpt2", gpt2().truncated(0)]).to_frame()
        >>> frame[["tokenizer", "n_tokens"]].values.tolist()
        [['GPT-2', 3], ['Tokenizer 2', 14]]
        """
        return to_frame(self._named_rows())

    def _named_rows(self) -> list[dict[str, Any]]:
        each = zip(self.names, self.shares_trained_on, self.rows, strict=True)
        return [
            {"tokenizer": name, **row.to_dict(), "share_trained_on": share}
            for name, share, row in each
        ]

    def view(self) -> View:
        """Return a view of the text under each tokenizer that shows itself in a notebook.

        Raises `ConfigError` for the comparison of a corpus, whose text is not kept.

        >>> compare("the bare bytes", ["gpt2", "gpt2"]).view()
        <View of 14 characters under 2 tokenizers>
        """
        if not self.text:
            raise ConfigError(
                "This is a comparison on a corpus, whose text is not kept. Compare one text, a "
                "str: bpe.compare(text, tokenizers).view()"
            )
        return from_above("bpe_core.views", "view_comparison")(self.text, self.encoders)

    def verdict(self, first: int = 0, second: int = 1) -> Verdict:
        """Return the figures of one tokenizer against another, by their indices in `rows`.

        Raises `OutOfRangeError` for an invalid index.

        >>> from bpe_core.tokenizer import gpt2
        >>> comparison = compare("the bare bytes", [gpt2(), gpt2().truncated(0)])
        >>> verdict = comparison.verdict()
        >>> round(verdict.percent_fewer_tokens), verdict.share_of_words_whole
        (79, (1.0, 0.0))
        """
        self._check_places(first, second)
        a, b = self.rows[first], self.rows[second]
        return Verdict(
            percent_fewer_tokens=(
                100 * (1 - a.n_tokens / b.n_tokens) if b.n_tokens else float("nan")
            ),
            vocabulary_ratio=b.vocab_size / a.vocab_size,
            fewer_word_tokens=b.kinds.words_and_numbers - a.kinds.words_and_numbers,
            fewer_punctuation_tokens=b.kinds.punctuation - a.kinds.punctuation,
            fewer_white_space_tokens=b.kinds.white_space - a.kinds.white_space,
            share_of_words_whole=(a.share_of_words_whole, b.share_of_words_whole),
        )

    def gain(self, first: int = 0, second: int = 1) -> TokenSaving:
        """Return the tokens that one tokenizer saves against another, with intervals and by part.

        Raises OutOfRangeError for an invalid index, and ConfigError for a comparison made without
        `compare`.

        >>> from bpe_core.tokenizer import gpt2
        >>> comparison = compare("the bare bytes\\n" * 200, [gpt2(), gpt2().truncated(0)])
        >>> gain = comparison.gain()
        >>> gain.whole.own, gain.whole.theirs, round(gain.whole.percent_fewer, 1)
        (800, 3000, 73.3)
        >>> [(part.name, part.own, part.theirs) for part in dict(gain.divisions)["kind"]]
        [('words', 600, 2400), ('white space', 200, 600)]
        """
        self._check_places(first, second)
        if self.blocks is None:
            raise ConfigError(
                f"Expected a comparison made by `compare`, got {describe(self)} without blocks."
            )
        return compute_gain(self.blocks, self.by_block[first], self.by_block[second])

    def interval_words(self, saving: TokenSaving) -> IntervalWords:
        """Return how sure a saving is; `saving` is what `gain` returned.

        >>> from bpe_core.tokenizer import gpt2
        >>> texts = [f"the bare bytes {n}\\n" for n in range(20)]
        >>> found = compare(texts, [gpt2(), gpt2().truncated(0)])
        >>> found.interval_words(found.gain()).interval
        '95% interval 71.0–71.8%'
        >>> found = compare("the bare bytes", [gpt2(), gpt2().truncated(0)])
        >>> found.interval_words(found.gain()).method
        'No interval: it takes 20 documents, and there is 1.'
        """
        method = "" if self.blocks is None else self.blocks.method
        return IntervalWords(saving.whole.interval_words, method)

    @property
    def trained_on_words(self) -> list[str]:
        """A sentence for each tokenizer whose training saw the text that was compared.

        >>> from bpe_core.trainers import train
        >>> compare("hug hugs", [train(["hug hugs"], vocab_size=258), "gpt2"]).trained_on_words
        ['Tokenizer 1 was trained on this text: its figures are better here than on new text.']
        """
        each = zip(self.names, self.shares_trained_on, strict=True)
        return [self.seen_sentence(name, share) for name, share in each if share]

    @staticmethod
    def seen_sentence(name: str, share: float) -> str:
        """Return a sentence on a tokenizer whose training saw this share of a text.

        >>> Comparison.seen_sentence("mine.json", 0.8)
        'mine.json was trained on 80% of this text: its figures are better here than on new text.'
        """
        of = "" if share == 1 else f"{percent(share)} of "
        return f"{name} was trained on {of}this text: its figures are better here than on new text."

    def _check_places(self, *places: int) -> None:
        for place in places:
            check_whole("the index of a tokenizer", place, 0, len(self.rows) - 1, OutOfRangeError)

    @classmethod
    def combine(
        cls,
        corpus: Corpus,
        encoders: Sequence[Encoder],
        measured: Sequence[Measured],
        blocks: Blocks,
    ) -> Self:
        """Compare tokenizers, each measured on the corpus by `Measured.of`.

        >>> from bpe_core.tokenizer import gpt2
        >>> corpus, encoders = Corpus.from_text("the bare bytes"), [gpt2(), gpt2().truncated(0)]
        >>> blocks = Blocks.of(corpus)
        >>> measured = [Measured.of(corpus, encoder, blocks) for encoder in encoders]
        >>> Comparison.combine(corpus, encoders, measured, blocks) == compare(corpus, encoders)
        True
        """
        overlap = vocabulary_overlap([_ordinary_tokens(encoder) for encoder in encoders])
        each_one = zip(measured, overlap.exclusive, encoders, strict=True)
        rows = tuple(one.metrics_among(exclusive, encoder) for one, exclusive, encoder in each_one)
        return cls(
            rows=rows,
            n_documents=corpus.n_sources,
            n_bytes=corpus.n_bytes,
            n_characters=corpus.n_characters,
            n_words=rows[0].words.n_words,
            n_shared=len(overlap.shared),
            names=tuple(f"Tokenizer {number}" for number in range(1, len(encoders) + 1)),
            shares_trained_on=(None,) * len(encoders),
            blocks=blocks,
            by_block=tuple(one.by_block for one in measured),
        )


class IntervalWords(NamedTuple):
    """How sure it is that one tokenizer needs fewer tokens than another, or more.

    Both are empty if it was not measured.
    """

    interval: str = ""
    """As in `TextPart.interval_words`."""
    method: str = ""
    """As in `Blocks.method`."""

    @classmethod
    def measure(cls, corpus: Corpus, own: Encoder, theirs: Encoder) -> IntervalWords:
        """Measure how sure the difference between two tokenizers is on a text."""
        compared = compare(corpus, [own, theirs])
        return compared.interval_words(compared.gain())

    @property
    def in_brackets(self) -> str:
        """The interval in brackets after a space; empty without one."""
        return f" ({self.interval})" if self.interval else ""


def compare(
    text_or_corpus: str | Corpus | Iterable[str],
    tokenizers: Iterable[Encoder | Trained | str | os.PathLike[str]],
    should_stop: ShouldStop | None = None,
) -> Comparison:
    """Compare tokenizers on a text, including where they split it differently, or on a corpus.

    A tokenizer may be given by its path or name, as for `open_encoder`, or as the run that trained
    it. Of a run, and of a file that says what it was trained on, `shares_trained_on` has how much
    of this text training saw. Special tokens are treated
    as ordinary text. A token that means "unknown" counts as a token, and
    the text that it replaces as unknown, because it cannot be decoded. Each document is encoded
    separately, and so is each weighted word, multiplied by its count. If the segments of a long
    text are not needed, comparing `Corpus.from_text(text)` is several times as fast.

    `should_stop` is called from time to time with the bytes of text compared so far and their
    total; once it returns True, `concurrent.futures.CancelledError` is raised.

    Raises ConfigError without tokenizers, EmptyCorpusError without text, and InvalidTextError if
    the text is not a str or contains a lone surrogate.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_text("hug hugs hugging")
    >>> small, large = (train(corpus, TrainingConfig(size)).tokenizer for size in (258, 262))
    >>> comparison = compare("hug hugs", [small, large])
    >>> [row.n_tokens for row in comparison.rows]
    [6, 3]
    >>> [(d.start, d.end) for d in comparison.disagreements[0]]
    [(0, 3), (3, 7)]
    """
    named = name_encoders(tokenizers)
    # The encoder itself may take many texts at once, or return its tokens without an object for
    # each.
    encoders = [each.encoder for each in named]
    corpus = text_or_corpus
    segments: list[tuple[Segment, ...]] = []
    text = ""
    if not isinstance(corpus, str):
        corpus = to_corpus(corpus)
    else:
        text, corpus = corpus, Corpus.from_text(corpus)
        segments = [tuple(encoder.segments(text)) for encoder in encoders]
    if not corpus.n_bytes:
        raise EmptyCorpusError(
            "There is no text to compare tokenizers on. Give at least one character."
        )
    blocks = Blocks.of(corpus)
    # Most tokenizers get the same pieces of text, in turn.
    map_text = lru_cache(2)(TextMap)
    measurings = [
        Measuring(corpus, encoder, blocks=blocks, map_text=map_text) for encoder in encoders
    ]
    measure_together(measurings, corpus.n_bytes, should_stop)
    found = Comparison.combine(corpus, encoders, [each.measured() for each in measurings], blocks)
    shares = (each.trained_on and each.trained_on.share_of(corpus) for each in named)
    found = replace(
        found, names=tuple(each.name for each in named), shares_trained_on=tuple(shares)
    )
    if not segments:
        return found
    return replace(
        found,
        segments=tuple(segments),
        disagreements=tuple(
            tuple(disagreements(segments[0], other, text)) for other in segments[1:]
        ),
        text=text,
        encoders=tuple(named),
    )


def name_encoders(
    tokenizers: Iterable[Encoder | Trained | str | os.PathLike[str]],
) -> list[NamedEncoder]:
    """Open tokenizers as `compare` does, and give each a distinct name.

    Raises ConfigError for none, ArgumentTypeError for what is not a tokenizer, and what
    `open_encoder` raises.

    >>> from bpe_core.tokenizer import gpt2
    >>> [each.name for each in name_encoders(["gpt2", gpt2(), "gpt2"])]
    ['GPT-2', 'Tokenizer 2', 'GPT-2 (2)']
    """
    remedy = "give a list of tokenizers, even for one"
    given = several(tokenizers, "tokenizers", remedy)
    if not given:
        raise ConfigError("There is no tokenizer to compare. Give at least one.")
    paths: dict[int, str] = {}
    named: list[NamedEncoder] = []
    for number, (each, encoder) in enumerate(zip(given, map(to_encoder, given), strict=True), 1):
        if isinstance(encoder, NamedEncoder):
            named.append(replace(encoder, name=encoder.name or f"Tokenizer {number}"))
            if is_a(each, str, os.PathLike) and Path(each).exists():
                paths[number - 1] = os.fspath(each)
            continue
        # Check the protocol last, because that reads every property, even the fingerprint.
        if not is_a(encoder, Tokenizer) and not is_a(encoder, Encoder):
            raise ArgumentTypeError(
                f"Number {number} of the tokenizers is {describe(encoder)}: give a path or a name, "
                "or what bpe.load, bpe.gpt2 or bpe.train(...).tokenizer returns."
            )
        named.append(NamedEncoder(f"Tokenizer {number}", encoder))
    ends = dict(zip(paths, distinct_ends([*paths.values()]), strict=True))
    names = numbered([ends.get(place, each.name) for place, each in enumerate(named)])
    return [replace(each, name=name) for each, name in zip(named, names, strict=True)]


def distinct_ends(paths: Sequence[str]) -> list[str]:
    """Return the shortest end of each path that no other path has; equal paths are numbered.

    >>> distinct_ends(["x/a/tokenizer.json", "x/b/tokenizer.json", "gpt2", "gpt2"])
    ['a/tokenizer.json', 'b/tokenizer.json', 'gpt2', 'gpt2 (2)']
    """
    parts = [PurePath(path).parts or (path,) for path in paths]
    lengths = [1] * len(paths)
    while True:
        ends = [str(PurePath(*own[-n:])) for own, n in zip(parts, lengths, strict=True)]
        times = Counter(ends)
        longer = [i for i, n in enumerate(lengths) if times[ends[i]] > 1 and n < len(parts[i])]
        if not longer:
            return numbered(ends)
        for i in longer:
            lengths[i] += 1


def numbered(names: Iterable[str]) -> list[str]:
    """Return names of which those that come again have a number.

    >>> numbered(["mine", "tokenizer.json", "tokenizer.json"])
    ['mine', 'tokenizer.json', 'tokenizer.json (2)']
    """
    found: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in found:
            number += 1
            unique = f"{name} ({number})"
        found.append(unique)
    return found


def _ordinary_tokens(tokenizer: Encoder) -> frozenset[bytes]:
    left_out = set(tokenizer.special_tokens.values())
    if tokenizer.merged_by is not None:
        left_out |= tokenizer.merged_by.table.removed
    return frozenset(token for id_, token in tokenizer.vocab.items() if id_ not in left_out)


class VocabularyOverlap(NamedTuple):
    """The common tokens of two or more vocabularies, by their bytes."""

    shared: frozenset[bytes]
    """Tokens in every vocabulary."""
    exclusive: tuple[frozenset[bytes], ...]
    """One set per vocabulary: the tokens that no other has."""


def vocabulary_overlap(vocabularies: Sequence[frozenset[bytes]]) -> VocabularyOverlap:
    """Compare vocabularies by their tokens' bytes; ids do not matter.

    >>> overlap = vocabulary_overlap([frozenset({b"a", b"b"}), frozenset({b"b", b"c", b"d"})])
    >>> len(overlap.shared), [len(own) for own in overlap.exclusive]
    (1, [1, 2])
    """
    if not vocabularies:
        raise ConfigError("There is no vocabulary to compare. Give at least one.")
    exclusive: list[frozenset[bytes]] = []
    shared = vocabularies[0].intersection(*vocabularies[1:])
    for i, own in enumerate(vocabularies):
        others = [other for j, other in enumerate(vocabularies) if j != i]
        exclusive.append(own.difference(*others))
    return VocabularyOverlap(shared, tuple(exclusive))


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A stretch of text between two common cuts of two tokenizations, split differently within.

    It is as short as possible: no cut inside it is common to both. Ids are not compared, because
    the same token has different ids in different vocabularies.
    """

    byte_start: int
    byte_end: int
    start: int
    """In characters, with the whole of a character that the stretch cuts."""
    end: int
    a: slice
    """The first tokenization's segments in it."""
    b: slice
    has_word: bool
    """True if it contains a letter, mark or number; else it is punctuation and white space."""


def disagreements(a: Sequence[Segment], b: Sequence[Segment], text: str) -> list[Disagreement]:
    """Return the stretches where two tokenizations of a text differ, in order.

    Segments of length 0, such as a separate end-of-word marker, belong to the stretch before them.
    Raises TokenizationError if one does not end where the text does.

    >>> def cut(*pieces):
    ...     ends = [sum(map(len, pieces[: n + 1])) for n in range(len(pieces))]
    ...     return [Segment(0, p.encode(), e - len(p), e, e - len(p), e)
    ...             for p, e in zip(pieces, ends)]
    >>> found = disagreements(cut("the", " i", "ter"), cut("the", " ", "it", "er"), "the iter")
    >>> [(d.byte_start, d.byte_end, d.a, d.b) for d in found]
    [(3, 8, slice(1, 3, None), slice(1, 4, None))]
    """
    ends = [np.array([segment.byte_end for segment in each], np.int64) for each in (a, b)]
    found = Stretches.between(ends, text)
    # From the token after the first cut to the last one that ends at the second.
    bounds = [
        np.searchsorted(each, cuts, side="right").tolist()
        for each in ends
        for cuts in (found.byte_starts, found.byte_ends)
    ]
    spans = (found.byte_starts, found.byte_ends, found.starts, found.ends)
    rows = zip(*map(np.ndarray.tolist, spans), *bounds, found.has_word.tolist(), strict=True)
    return [
        Disagreement(
            byte_start,
            byte_end,
            start,
            end,
            slice(a_first, a_stop),
            slice(b_first, b_stop),
            has_word,
        )
        for byte_start, byte_end, start, end, a_first, a_stop, b_first, b_stop, has_word in rows
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Stretches between two cuts common to all tokenizations, which not all split alike."""

    byte_starts: NDArray[np.int64]
    byte_ends: NDArray[np.int64]
    starts: NDArray[np.int64]
    """In characters, with the whole of a character that a stretch cuts."""
    ends: NDArray[np.int64]
    has_word: NDArray[np.bool_]
    """True if it contains a letter, mark or number."""

    @classmethod
    def between(cls, byte_ends: Sequence[NDArray[np.int64]], text: str) -> Self:
        """Return where tokenizations of a text differ, given the ends of their tokens, ascending.

        Raises TokenizationError if one does not end where the text does.

        >>> ends = [np.array(each, np.int64) for each in ([2, 4], [2, 3, 4], [1, 2, 4])]
        >>> found = Stretches.between(ends, "ab é"[:3])
        Traceback (most recent call last):
            ...
        bpe_core.errors.TokenizationError: A tokenization covers 4 bytes, but the text has 3. Give \
tokenizations of this text.
        >>> found = Stretches.between(ends, "abé")
        >>> found.byte_starts.tolist(), found.byte_ends.tolist(), found.starts.tolist()
        ([0, 2], [2, 4], [0, 2])
        """
        characters = CodePoints(text)
        at = characters.offsets
        n_bytes = int(at[-1])
        # The number of tokenizations that cut at each byte; tokens of length 0 must not count
        # twice.
        n_cuts = np.zeros(n_bytes + 1, np.int32)
        for ends in byte_ends:
            covered = int(ends[-1]) if len(ends) else 0
            if covered != n_bytes:
                raise TokenizationError(
                    f"A tokenization covers {covered:,} bytes, but the text has {n_bytes:,}. Give "
                    "tokenizations of this text."
                )
            is_cut = np.zeros(n_bytes + 1, np.bool_)
            is_cut[ends] = True
            n_cuts += is_cut
        n_cuts[[0, -1]] = len(byte_ends)
        common = np.flatnonzero(n_cuts == len(byte_ends))
        differing = np.flatnonzero((n_cuts > 0) & (n_cuts < len(byte_ends)))
        # Each stretch contains at least one cut that is not common to all.
        places = np.unique(np.searchsorted(common, differing))
        byte_starts, stops = common[places - 1], common[places]
        starts = np.searchsorted(at, byte_starts, side="right") - 1
        ends_in_characters = np.searchsorted(at, stops)
        words = np.concatenate([[0], np.cumsum(characters.kinds == CodePoints.WORD)])
        has_word = words[ends_in_characters] > words[starts]
        return cls(byte_starts, stops, starts, ends_in_characters, has_word)

    def longest_word(self, text: str, max_length: int) -> str:
        """Return the longest stretch with a word that is not longer than this; may be empty.

        >>> ends = [np.array(each, np.int64) for each in ([3, 7], [3, 4, 7])]
        >>> Stretches.between(ends, "the bee").longest_word("the bee", 9)
        ' bee'
        """
        lengths = self.ends - self.starts
        lengths[~self.has_word | (lengths > max_length)] = 0
        if not lengths.any():
            return ""
        place = int(np.argmax(lengths))
        return text[self.starts[place] : self.ends[place]]


_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Rates:
    """What a model charges and holds; None for a figure that is not known.

    Raises ConfigError for a figure that is out of range, infinite or not a number.

    >>> Rates(price=0.5, model_width=768).context_window is None
    True
    >>> Rates(context_window=0)
    Traceback (most recent call last):
    bpe_core.errors.ConfigError: Expected the context window as a whole number from 1 to \
1,000,000,000, got 0 (int).
    """

    MAX_PRICE: ClassVar = 1_000_000_000
    """Per million tokens: 1,000 for one token."""
    MAX_MODEL_WIDTH: ClassVar = 1_000_000
    MAX_WINDOW: ClassVar = 1_000_000_000

    price: float | None = None
    """The price of a million tokens, in any currency."""
    model_width: int | None = None
    """The length of the vector that stands for a token."""
    context_window: int | None = None
    """The number of tokens that the model reads at once."""

    def __post_init__(self) -> None:
        price = self.price
        # In this order nan is refused too, because every comparison with it is false.
        if price is not None and not (is_a(price, int, float) and 0 <= price <= self.MAX_PRICE):
            raise ConfigError(
                f"Expected a price from 0 to {self.MAX_PRICE:,}, got {describe(price)}."
            )
        if self.model_width is not None:
            check_whole("the model width", self.model_width, 1, self.MAX_MODEL_WIDTH)
        if self.context_window is not None:
            check_whole("the context window", self.context_window, 1, self.MAX_WINDOW)


class Usage(NamedTuple):
    """A text under a tokenizer."""

    n_tokens: int
    n_bytes: int
    embedding_rows: int

    @classmethod
    def of(cls, corpus: Corpus, encoder: Encoder) -> Self:
        """Count the tokens of a corpus as `compare` does.

        Special tokens are treated as ordinary text; weighted words count as often as they occur.
        Raises what `encoder.encode` raises.

        >>> from bpe_core.tokenizer import gpt2
        >>> Usage.of(Corpus.from_documents(["the quick", "fox!"]), gpt2())
        Usage(n_tokens=4, n_bytes=13, embedding_rows=50257)
        """
        if corpus.word_counts is None:
            n = sum(len(encoder.encode_to_numpy(document)) for document in corpus.documents)
        else:
            counts = corpus.word_counts.items()
            n = sum(times * len(encoder.encode_to_numpy(word)) for word, times in counts)
        return cls(n, corpus.n_bytes, embedding_rows(encoder))

    def estimate_tokens(self, n_bytes: int) -> int | None:
        """Estimate the tokens of `n_bytes` of text like this one; None if this one is empty.

        >>> Usage(80, 400, 1_000).estimate_tokens(10_000)
        2000
        """
        return round(self.n_tokens * n_bytes / self.n_bytes) if self.n_bytes else None

    def costs(self, rates: Rates, other: Usage | None = None) -> Costs:
        """Return what the text costs, and what it saves against another tokenizer.

        >>> own, other = Usage(80, 400, 1_000), Usage(100, 400, 50_257)
        >>> costs = own.costs(Rates(price=2.5, model_width=768, context_window=4_000), other)
        >>> costs.price, costs.bytes_in_window
        (0.0002, 20000.0)
        >>> round(costs.window_saved, 3), round(costs.tokens_saved)
        (0.2, 800)
        >>> costs.parameters_tied, costs.parameters_untied
        (768000, 1536000)
        """
        window, width = rates.context_window, rates.model_width
        saved = None
        if window is not None and other is not None and other.n_tokens:
            saved = 1 - self.n_tokens / other.n_tokens
        return Costs(
            price=None if rates.price is None else self.n_tokens * rates.price / _MILLION,
            bytes_in_window=(
                window * self.n_bytes / self.n_tokens if window and self.n_tokens else None
            ),
            window_saved=saved,
            tokens_saved=None if saved is None or window is None else window * saved,
            parameters_tied=None if width is None else self.embedding_rows * width,
            parameters_untied=None if width is None else 2 * self.embedding_rows * width,
        )


class Costs(NamedTuple):
    """The costs of a text under a tokenizer; None where a rate is missing."""

    price: float | None
    """The price of all tokens of the text, in the currency of the rates."""
    bytes_in_window: float | None
    """How much text like this fills the context window; None without tokens."""
    window_saved: float | None
    """The share of the window that stays free with text that would fill it under the other
    tokenizer.

    Negative if the text does not fit; None if the other has no tokens."""
    tokens_saved: float | None
    """The same in tokens."""
    parameters_tied: int | None
    """The parameters of one matrix for input and output: rows × width."""
    parameters_untied: int | None
    """The parameters of a matrix for the input and another for the output."""


def embedding_rows(encoder: Encoder) -> int:
    """Return the rows of an embedding for a tokenizer: the highest id plus 1, gaps included.

    >>> from bpe_core.tokenizer import gpt2
    >>> embedding_rows(gpt2())
    50257
    """
    return max(encoder.vocab, default=-1) + 1
