"""Compare tokenizers on the same text: figures for each, and where they split it differently."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import describe, is_a, is_whole, several
from bpe_core.comparison.alignment import Disagreement, Stretch, differing_stretches, disagreements
from bpe_core.comparison.metrics import (
    KindCounts,
    TextMap,
    WordCounts,
    bytes_per_token,
    characters_per_token,
    renyi_efficiency,
    vocabulary_overlap,
)
from bpe_core.corpus.corpus import Corpus
from bpe_core.errors import ConfigError, EmptyCorpusError, UnknownSymbolError
from bpe_core.tokenizer.protocol import Encoder
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.types import Segment
from bpe_core.unicode.kinds import WHITE_SPACE

_PIECE = 1 << 18
"""The bytes of text that are mapped at once; larger pieces are not faster."""
# bool[256]: the bytes that are a whole character outside words.
_NO_WORD = np.array([byte < 0x80 and not chr(byte).isalnum() for byte in range(256)])


@dataclass(frozen=True, slots=True)
class TokenizerMetrics:
    """The figures of one tokenizer on a text: counts, and ratios computed from them.

    A ratio is nan if its denominator is 0.
    """

    n_bytes: int
    n_characters: int
    vocab_size: int
    n_tokens: int
    words: WordCounts
    kinds: KindCounts
    n_exclusive: int
    """Tokens in this vocabulary only, by their bytes, without special tokens."""
    n_tokens_exclusive: int
    """How many tokens of the text are among those."""
    unknown_bytes: int
    """Bytes missing from the alphabet: without a token, or with one that means "unknown"."""
    dropped_bytes: int
    """Bytes of white space that the pre-tokenizer drops, so that no token covers them."""
    uncovered_characters: int
    """Characters that begin with an unknown or dropped byte."""
    renyi_efficiency: float
    """At alpha = 2.5: see `metrics.renyi_efficiency`."""

    @property
    def uncovered_bytes(self) -> int:
        """Bytes of the text without a token, unknown or dropped."""
        return self.unknown_bytes + self.dropped_bytes

    @property
    def bytes_per_token(self) -> float:
        """Bytes divided by tokens, not counting uncovered bytes."""
        return bytes_per_token(self.n_bytes - self.uncovered_bytes, self.n_tokens)

    @property
    def characters_per_token(self) -> float:
        """Characters divided by tokens, not counting uncovered characters."""
        return characters_per_token(self.n_characters - self.uncovered_characters, self.n_tokens)

    @property
    def tokens_per_word(self) -> float:
        """Fertility: see `WordCounts.tokens_per_word`."""
        return self.words.tokens_per_word

    @property
    def share_of_words_whole(self) -> float:
        """From 0 to 1: see `WordCounts.share_of_words_whole`."""
        return self.words.share_of_words_whole


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
    segments: tuple[tuple[Segment, ...], ...] = field(default=(), repr=False)
    """Each tokenizer's segments if a text was compared; empty for a corpus."""
    disagreements: tuple[tuple[Disagreement, ...], ...] = field(default=(), repr=False)
    """The first tokenizer against each of the others, if a text was compared."""
    differing: tuple[Stretch, ...] = field(default=(), repr=False)
    """The stretches not split alike by all tokenizers, if a text was compared."""

    def verdict(self, first: int = 0, second: int = 1) -> Verdict:
        """Return the figures of one tokenizer against another, by their indices in `rows`.

        Raises `ConfigError` for an invalid index.

        >>> from bpe_core.tokenizer.gpt2 import gpt2
        >>> comparison = compare("the bare bytes", [gpt2(), gpt2().truncated(0)])
        >>> verdict = comparison.verdict()
        >>> round(verdict.percent_fewer_tokens), verdict.share_of_words_whole
        (79, (1.0, 0.0))
        """
        for place in (first, second):
            if not is_whole(place) or not 0 <= place < len(self.rows):
                raise ConfigError(
                    f"{len(self.rows)} tokenizers were compared, so expected an index from "
                    f"0 to {len(self.rows) - 1}; got {describe(place)}."
                )
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


def compare(text_or_corpus: str | Corpus, tokenizers: Iterable[Encoder]) -> Comparison:
    """Compare tokenizers on a text, including where they split it differently, or on a corpus.

    Special tokens are treated as ordinary text. A token that means "unknown" counts as a token, and
    the text that it replaces as unknown, because it cannot be decoded. Each document is encoded
    separately, and so is each weighted word, multiplied by its count. If the segments of a long
    text are not needed, comparing `Corpus.from_text(text)` is several times as fast.

    Raises ConfigError without tokenizers, EmptyCorpusError without text, and InvalidTextError if
    the text is not a str or contains a lone surrogate.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> corpus = Corpus.from_text("hug hugs hugging")
    >>> small, large = (train(corpus, TrainingConfig(size)).tokenizer for size in (258, 262))
    >>> comparison = compare("hug hugs", [small, large])
    >>> [row.n_tokens for row in comparison.rows]
    [6, 3]
    >>> [(d.start, d.end) for d in comparison.disagreements[0]]
    [(0, 3), (3, 7)]
    """
    encoders = _encoders(tokenizers)
    corpus = text_or_corpus
    segments: list[tuple[Segment, ...]] = []
    text = ""
    if not isinstance(corpus, Corpus):
        text, corpus = corpus, Corpus.from_text(corpus)
        segments = [tuple(encoder.segments(text)) for encoder in encoders]
    if not corpus.n_bytes:
        raise EmptyCorpusError(
            "There is no text to compare tokenizers on. Give at least one character."
        )
    overlap = vocabulary_overlap([_ordinary_tokens(encoder) for encoder in encoders])
    rows = tuple(
        measure([corpus], encoder, exclusive)[0]
        for encoder, exclusive in zip(encoders, overlap.exclusive, strict=True)
    )
    return Comparison(
        rows=rows,
        n_documents=corpus.n_sources,
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        n_words=rows[0].words.n_words,
        n_shared=len(overlap.shared),
        segments=tuple(segments),
        disagreements=tuple(
            tuple(disagreements(segments[0], other, text)) for other in segments[1:]
        ),
        differing=tuple(differing_stretches(segments, text)) if segments else (),
    )


@dataclass(frozen=True, slots=True)
class _Spans:
    """The byte spans of a tokenizer's tokens in a text, in arrays of equal length."""

    ids: NDArray[np.int32 | np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class _IdTable:
    """A tokenizer's ids, which may be sparse, and the lengths of their tokens."""

    __slots__ = ("ids", "lengths")

    def __init__(self, tokenizer: Encoder) -> None:
        known = sorted(tokenizer.vocab)
        self.ids: NDArray[np.int64] = np.array(known, np.int64)
        self.lengths: NDArray[np.int32] = np.array(
            [len(tokenizer.vocab[id_]) for id_ in known], np.int32
        )

    def places(self, ids: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the index of each id among the sorted ids."""
        if self.ids[-1] == len(self.ids) - 1:
            return ids
        return np.searchsorted(self.ids, ids)


@dataclass(slots=True)
class _Counts:
    """Counts that are summed over documents or weighted words."""

    id_counts: NDArray[np.int64]
    """int64[vocab_size]: how often each token occurs, in the order of their ids."""
    words: WordCounts = field(default_factory=WordCounts)
    kinds: KindCounts = field(default_factory=KindCounts)
    unknown_bytes: int = 0
    dropped_bytes: int = 0
    uncovered_characters: int = 0


def _encoders(tokenizers: Iterable[Encoder]) -> list[Encoder]:
    remedy = "give a list of tokenizers, even for one"
    encoders: list[Encoder] = several(tokenizers, "tokenizers", remedy, ConfigError)
    if not encoders:
        raise ConfigError("There is no tokenizer to compare. Give at least one.")
    for number, encoder in enumerate(encoders, 1):
        # Check the protocol last, because that reads every property, even the fingerprint.
        if not is_a(encoder, Tokenizer) and not is_a(encoder, Encoder):
            raise ConfigError(
                f"Number {number} of the tokenizers is {describe(encoder)}: give what bpe.load, "
                "bpe.gpt2 or bpe.train(...).tokenizer returns."
            )
    return encoders


def _ordinary_tokens(tokenizer: Encoder) -> frozenset[bytes]:
    special = set(tokenizer.special_tokens.values())
    return frozenset(token for id_, token in tokenizer.vocab.items() if id_ not in special)


def measure(
    corpora: Iterable[Corpus], tokenizer: Encoder, exclusive: frozenset[bytes] = frozenset()
) -> list[TokenizerMetrics]:
    """Return the figures of one tokenizer on each of several corpora.

    `exclusive` are the tokens that only its vocabulary has.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> [row.n_tokens for row in measure([Corpus.from_text("the quick")], gpt2())]
    [2]
    """
    table = _IdTable(tokenizer)
    return [_metrics(corpus, tokenizer, table, exclusive) for corpus in corpora]


def _metrics(
    corpus: Corpus,
    tokenizer: Encoder,
    table: _IdTable,
    exclusive: frozenset[bytes],
) -> TokenizerMetrics:
    counts = _Counts(np.zeros(len(table.ids), np.int64))
    if corpus.word_counts is None:
        _add(counts, corpus.documents, tokenizer, table, times=1)
    else:
        for word, times in corpus.word_counts.items():
            _add(counts, (word,), tokenizer, table, times=times)
    used = np.flatnonzero(counts.id_counts)
    return TokenizerMetrics(
        n_bytes=corpus.n_bytes,
        n_characters=corpus.n_characters,
        vocab_size=tokenizer.vocab_size,
        n_tokens=int(counts.id_counts.sum()),
        words=counts.words,
        kinds=counts.kinds,
        n_exclusive=len(exclusive),
        n_tokens_exclusive=sum(
            count
            for id_, count in zip(
                table.ids[used].tolist(), counts.id_counts[used].tolist(), strict=True
            )
            if tokenizer.vocab[id_] in exclusive
        ),
        unknown_bytes=counts.unknown_bytes,
        dropped_bytes=counts.dropped_bytes,
        uncovered_characters=counts.uncovered_characters,
        renyi_efficiency=(
            renyi_efficiency(counts.id_counts, vocab_size=tokenizer.vocab_size)
            if tokenizer.vocab_size > 1
            else float("nan")
        ),
    )


def _add(
    counts: _Counts,
    texts: Iterable[str],
    tokenizer: Encoder,
    table: _IdTable,
    *,
    times: int,
) -> None:
    for text, spans in _pieces(texts, tokenizer, table):
        text_map = TextMap(text)
        ids, starts, ends = spans.ids, spans.starts, spans.ends
        stands = ids >= 0
        counts.id_counts += (
            np.bincount(table.places(ids[stands]), minlength=len(counts.id_counts)) * times
        )
        lost = ~stands if tokenizer.unknown_id is None else ~stands | (ids == tokenizer.unknown_id)
        gaps = starts[lost], ends[lost]
        counts.words += text_map.word_counts(ends[ends > starts], gaps) * times
        kinds = text_map.kind_counts(starts[stands], ends[stands])
        counts.kinds = KindCounts(
            *(a + b * times for a, b in zip(counts.kinds, kinds, strict=True))
        )
        n_bytes = int((gaps[1] - gaps[0]).sum())
        dropped = 0
        if tokenizer.drops_text:
            white_space = text_map.bytes_of_kind(WHITE_SPACE, starts[~stands], ends[~stands])
            dropped = int(white_space.sum())
        counts.uncovered_characters += text_map.n_characters_begun(*gaps) * times
        counts.dropped_bytes += dropped * times
        counts.unknown_bytes += (n_bytes - dropped) * times


def _pieces(
    texts: Iterable[str], tokenizer: Encoder, table: _IdTable
) -> Iterator[tuple[str, _Spans]]:
    """Yield texts and their tokens in pieces of suitable size: short texts joined, long ones cut.

    A text map takes 80 bytes per byte of text, and one map per short text would be slow.
    """
    joined: list[str] = []
    parts: list[_Spans] = []
    offset = 0
    for text in texts:
        spans = _spans(text, tokenizer, table)
        utf8 = text.encode()
        if len(utf8) > _PIECE:
            yield from _cut(utf8, spans)
            continue
        joined.append(text)
        parts.append(_Spans(spans.ids, spans.starts + offset, spans.ends + offset))
        # The line end between two texts belongs to neither, and keeps their words apart.
        offset += len(utf8) + 1
        if offset > _PIECE:
            yield "\n".join(joined), _chained(parts)
            joined, parts, offset = [], [], 0
    if joined:
        yield "\n".join(joined), _chained(parts)


def _chained(parts: Sequence[_Spans]) -> _Spans:
    return _Spans(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
    )


def _cut(utf8: bytes, spans: _Spans) -> Iterator[tuple[str, _Spans]]:
    """Cut a text and its tokens where a token ends between two words.

    If there is no such place, the piece is larger.
    """
    bytes_ = np.frombuffer(utf8, np.uint8)
    first, n_tokens = 0, len(spans.ids)
    while first < n_tokens:
        start, size, last = int(spans.starts[first]), _PIECE, first
        while last == first:
            # A token of length 0 ends where the token before it does, so it stays with that token.
            last = int(np.searchsorted(spans.ends, start + size, side="right"))
            if last < n_tokens:
                at = spans.ends[first:last]
                between = np.flatnonzero(_NO_WORD[bytes_[at - 1]] | _NO_WORD[bytes_[at]])
                last = first + int(between[-1]) + 1 if len(between) else first
            size *= 2
        yield (
            utf8[start : int(spans.ends[last - 1])].decode(),
            _Spans(
                spans.ids[first:last],
                spans.starts[first:last] - start,
                spans.ends[first:last] - start,
            ),
        )
        first = last


def _spans(text: str, tokenizer: Encoder, table: _IdTable) -> _Spans:
    """Return the spans of tokens; use only their lengths if they cover the text exactly."""
    if (
        isinstance(tokenizer, Tokenizer)
        and tokenizer.end_of_word is None
        and not tokenizer.drops_text
    ):
        try:
            ids = tokenizer.encode_to_numpy(text)
        except UnknownSymbolError:
            return _spans_of(tokenizer.segments(text))
        lengths = table.lengths[table.places(ids)]
        ends = np.cumsum(lengths, dtype=np.int64)
        return _Spans(ids, ends - lengths, ends)
    return _spans_of(tokenizer.segments(text))


def _spans_of(segments: Sequence[Segment]) -> _Spans:
    """Return the ids and spans of segments; the id is -1 if there is no token."""
    n = len(segments)
    return _Spans(
        np.fromiter((-1 if each.id is None else each.id for each in segments), np.int64, n),
        np.fromiter((each.byte_start for each in segments), np.int64, n),
        np.fromiter((each.byte_end for each in segments), np.int64, n),
    )
