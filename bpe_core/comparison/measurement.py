"""Measure one tokenizer on a corpus: counts, and ratios computed from them.

Texts are encoded, and the byte spans of their tokens given, in pieces of suitable size.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole, describe, is_a, several
from bpe_core.comparison.intervals import BlockCounts, Blocks
from bpe_core.comparison.text_map import (
    TOKEN_KINDS,
    KindCounts,
    TextMap,
    WordTotals,
    count_kinds,
    ratio,
)
from bpe_core.corpus import Corpus, to_corpus
from bpe_core.errors import ArgumentTypeError, ConfigError
from bpe_core.tokenizer import Encoder, Trained, find_own, to_encoder
from bpe_core.unicode import SCRIPT_GROUPS, CodePoints

ShouldStop = Callable[[int, int], bool]
"""Called with the work done and its total; returns True to stop."""

_ALPHA: Final = 2.5
_LARGE_ALPHA: Final = 32

_PIECE = 1 << 18
"""The bytes of text that are mapped at once; larger pieces are not faster."""
_BATCH = 1 << 16
"""The characters that are encoded at once, where a text can be cut: work can be cancelled in
between, and the tokens of a part take about 20 times the memory of its text."""
_NO_BLOCKS = np.empty(0, np.int64)
# bool[256]: the bytes that are a whole character outside words.
_NO_WORD = np.array([byte < 0x80 and not chr(byte).isalnum() for byte in range(256)])
_WORDS_IN_STEP = 512


@dataclass(frozen=True, slots=True)
class Spans:
    """The byte spans of a tokenizer's tokens in a text, in arrays of equal length."""

    ids: NDArray[np.int32 | np.int64]
    """-1 where there is no token."""
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    blocks: NDArray[np.int64]
    """The block of each token; empty if blocks are not counted."""


class IdTable:
    """A tokenizer's ids, which may be sparse.

    >>> from bpe_core.tokenizer import gpt2
    >>> IdTable(gpt2()).places(np.array([464])).tolist()
    [464]
    """

    __slots__ = ("ids",)

    def __init__(self, tokenizer: Encoder) -> None:
        self.ids: NDArray[np.int64] = np.array(sorted(tokenizer.vocab), np.int64)

    def places(self, ids: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the index of each id among the sorted ids."""
        if self.ids[-1] == len(self.ids) - 1:
            return ids
        return np.searchsorted(self.ids, ids)


def pieces(
    texts: Iterable[str],
    tokenizer: Encoder,
    *,
    blocks: Blocks | None = None,
    first: int = 0,
) -> Iterator[tuple[str, Spans]]:
    """Yield texts and their tokens in pieces of suitable size: short texts joined, long ones cut.

    `first` is the number of the first text among those of `blocks`.

    A text map takes 80 bytes per byte of text, and one map per short text would be slow.
    """
    joined: list[str] = []
    parts: list[Spans] = []
    offset = 0
    number = first - 1
    for text, is_new, spans in encoded(texts, tokenizer):
        number += is_new
        if blocks is not None:
            block = blocks.block_of_text[number]
            spans = replace(spans, blocks=np.full(len(spans.ids), block))
        utf8 = text.encode()
        if len(utf8) > _PIECE:
            yield from _cut(utf8, spans)
            continue
        joined.append(text)
        parts.append(replace(spans, starts=spans.starts + offset, ends=spans.ends + offset))
        # The line end between two texts belongs to neither, and keeps their words apart.
        offset += len(utf8) + 1
        if offset > _PIECE:
            yield "\n".join(joined), _chained(parts)
            joined, parts, offset = [], [], 0
    if joined:
        yield "\n".join(joined), _chained(parts)


def _chained(parts: Sequence[Spans]) -> Spans:
    return Spans(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.starts for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.blocks for part in parts]),
    )


def _cut(utf8: bytes, spans: Spans) -> Iterator[tuple[str, Spans]]:
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
            Spans(
                spans.ids[first:last],
                spans.starts[first:last] - start,
                spans.ends[first:last] - start,
                spans.blocks[first:last],
            ),
        )
        first = last


def encoded(texts: Iterable[str], tokenizer: Encoder) -> Iterator[tuple[str, bool, Spans]]:
    """Yield the texts with the spans of their tokens, and whether each begins a new text.

    A long text is encoded in parts if its ids don't change; each begins and ends between words.
    """
    for batch in _batches(texts, tokenizer):
        columns = tokenizer.place_tokens([part for part, _ in batch])
        for (part, is_new), found in zip(batch, columns, strict=True):
            yield part, is_new, Spans(*found, _NO_BLOCKS)


def _batches(texts: Iterable[str], tokenizer: Encoder) -> Iterator[list[tuple[str, bool]]]:
    batch: list[tuple[str, bool]] = []
    n_characters = 0
    for text in texts:
        parts = tokenizer.parts(text, _BATCH) if len(text) > _BATCH else (text,)
        for place, part in enumerate(parts):
            batch.append((part, place == 0))
            n_characters += len(part)
            if n_characters >= _BATCH:
                yield batch
                batch, n_characters = [], 0
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class TokenizerMetrics:
    """The figures of one tokenizer on a text: counts, and ratios computed from them.

    A ratio is nan if its denominator is 0.
    """

    n_bytes: int
    n_characters: int
    vocab_size: int
    n_tokens: int
    words: WordTotals
    kinds: KindCounts
    n_exclusive: int
    """Tokens in this vocabulary only, by their bytes, without special tokens."""
    n_tokens_exclusive: int
    """How many tokens of the text are among those."""
    unknown_bytes: int
    """Bytes missing from the alphabet: without a token, or with one that means "unknown"."""
    dropped_bytes: int
    """Bytes of white space that the pre-tokenizer drops, so no token covers them."""
    uncovered_characters: int
    """CodePoints that begin with an unknown or dropped byte."""
    renyi_efficiency: float
    """At alpha = 2.5: see `renyi_efficiency`."""

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as one flat dict of numbers."""
        own = asdict(self)
        words, kinds = own.pop("words"), own.pop("kinds")._asdict()
        ratios = ("bytes_per_token", "characters_per_token", "tokens_per_word")
        return {
            **own,
            **words,
            **kinds,
            **{name: getattr(self, name) for name in (*ratios, "share_of_words_whole")},
        }

    @property
    def uncovered_bytes(self) -> int:
        """Bytes of the text without a token, unknown or dropped."""
        return self.unknown_bytes + self.dropped_bytes

    @property
    def bytes_per_token(self) -> float:
        """All bytes of the text divided by tokens, as everywhere in this package."""
        return ratio(self.n_bytes, self.n_tokens)

    @property
    def covered_bytes_per_token(self) -> float:
        """Bytes in tokens divided by tokens: the same, unless some of the text is uncovered."""
        return ratio(self.n_bytes - self.uncovered_bytes, self.n_tokens)

    @property
    def characters_per_token(self) -> float:
        """All characters of the text divided by tokens."""
        return ratio(self.n_characters, self.n_tokens)

    @property
    def covered_characters_per_token(self) -> float:
        """CodePoints in tokens divided by tokens."""
        return ratio(self.n_characters - self.uncovered_characters, self.n_tokens)

    @property
    def tokens_per_word(self) -> float:
        """Fertility: see `WordTotals.tokens_per_word`."""
        return self.words.tokens_per_word

    @property
    def share_of_words_whole(self) -> float:
        """From 0 to 1: see `WordTotals.share_of_words_whole`."""
        return self.words.share_of_words_whole


class Measured(NamedTuple):
    """One tokenizer on a corpus, whichever others it is compared with."""

    metrics: TokenizerMetrics
    """Its figures; none of its tokens counts as exclusive."""
    by_block: BlockCounts
    ids: NDArray[np.int64]
    """int64[n]: the ids in use."""
    counts: NDArray[np.int64]
    """int64[n]: how often each of them occurs."""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        encoder: Encoder,
        blocks: Blocks,
        should_stop: ShouldStop | None = None,
    ) -> Measured:
        """Measure one tokenizer on a corpus with text; `should_stop` as for `compare`.

        What it returns does not depend on other tokenizers, so it can be kept.
        """
        measuring = Measuring(corpus, encoder, blocks=blocks)
        measure_together([measuring], corpus.n_bytes, should_stop)
        return measuring.measured()

    def metrics_among(self, exclusive: frozenset[bytes], tokenizer: Encoder) -> TokenizerMetrics:
        """Return the figures next to those of tokenizers that lack the `exclusive` tokens."""
        if not exclusive:
            return self.metrics
        uses = zip(self.ids.tolist(), self.counts.tolist(), strict=True)
        return replace(
            self.metrics,
            n_exclusive=len(exclusive),
            n_tokens_exclusive=sum(n for id_, n in uses if tokenizer.vocab[id_] in exclusive),
        )


class Measuring:
    """The measurement of one tokenizer on a corpus, in steps.

    >>> from bpe_core.tokenizer import gpt2
    >>> measuring = Measuring(Corpus.from_documents(["the quick", "fox!"]), gpt2())
    >>> list(measuring.steps()), measuring.measured().metrics.n_tokens
    ([13], 4)
    """

    def __init__(
        self,
        corpus: Corpus,
        tokenizer: Encoder,
        *,
        table: IdTable | None = None,
        blocks: Blocks | None = None,
        map_text: Callable[[str], TextMap] = TextMap,
    ) -> None:
        self._corpus = corpus
        self._tokenizer = tokenizer
        self._table = IdTable(tokenizer) if table is None else table
        self._blocks = blocks
        self._map_text = map_text
        self._id_counts = np.zeros(len(self._table.ids), np.int64)
        self._words = WordTotals()
        self._kinds = KindCounts()
        self._unknown_bytes = self._dropped_bytes = self._uncovered_characters = 0
        n_blocks = 0 if blocks is None else blocks.n_blocks
        self._by_block = BlockCounts(
            np.zeros((n_blocks, len(TOKEN_KINDS)), np.int64),
            np.zeros((n_blocks, len(SCRIPT_GROUPS)), np.int64),
        )

    def steps(self) -> Iterator[int]:
        """Count the tokens piece by piece, and yield the bytes of text counted so far."""
        done = 0
        if self._corpus.word_counts is None:
            for n_bytes in self._count(self._corpus.documents, times=1):
                done += n_bytes
                # Pieces of joined documents have line ends between them.
                yield min(done, self._corpus.n_bytes)
        else:
            for number, (word, times) in enumerate(self._corpus.word_counts.items()):
                for n_bytes in self._count((word,), times=times, first=number):
                    done += n_bytes * times
                if number % _WORDS_IN_STEP == 0:
                    yield done
        if not done:
            yield 0

    def measured(self) -> Measured:
        """Return the figures, once all steps are done."""
        corpus, tokenizer, id_counts = self._corpus, self._tokenizer, self._id_counts
        used = np.flatnonzero(id_counts)
        metrics = TokenizerMetrics(
            n_bytes=corpus.n_bytes,
            n_characters=corpus.n_characters,
            vocab_size=tokenizer.vocab_size,
            n_tokens=int(id_counts.sum()),
            words=self._words,
            kinds=self._kinds,
            n_exclusive=0,
            n_tokens_exclusive=0,
            unknown_bytes=self._unknown_bytes,
            dropped_bytes=self._dropped_bytes,
            uncovered_characters=self._uncovered_characters,
            renyi_efficiency=_renyi_efficiency(id_counts, tokenizer),
        )
        return Measured(metrics, self._by_block, self._table.ids[used], id_counts[used])

    def _count(self, texts: Iterable[str], *, times: int, first: int = 0) -> Iterator[int]:
        """Count the tokens of texts, and yield the bytes of each piece."""
        tokenizer, table = self._tokenizer, self._table
        for text, spans in pieces(texts, tokenizer, blocks=self._blocks, first=first):
            text_map = self._map_text(text)
            ids, starts, ends = spans.ids, spans.starts, spans.ends
            stands = ids >= 0
            self._id_counts += (
                np.bincount(table.places(ids[stands]), minlength=len(self._id_counts)) * times
            )
            unknown = tokenizer.unknown_id
            lost = ~stands if unknown is None else ~stands | (ids == unknown)
            gaps = starts[lost], ends[lost]
            self._words += text_map.word_counts(ends[ends > starts], gaps) * times
            kinds = text_map.token_kinds(starts[stands], ends[stands])
            self._kinds = KindCounts(
                *(a + b * times for a, b in zip(self._kinds, count_kinds(kinds), strict=True))
            )
            if self._blocks is not None:
                scripts = text_map.token_scripts(starts[stands], ends[stands])
                within = spans.blocks[stands]
                _tally(self._by_block.kinds, within, kinds, times)
                _tally(self._by_block.scripts, within, scripts, times)
            n_bytes = int((gaps[1] - gaps[0]).sum())
            dropped = 0
            if tokenizer.drops_text:
                white_space = text_map.count_kind_bytes(
                    CodePoints.SPACE, starts[~stands], ends[~stands]
                )
                dropped = int(white_space.sum())
            self._uncovered_characters += text_map.n_characters_begun(*gaps) * times
            self._dropped_bytes += dropped * times
            self._unknown_bytes += (n_bytes - dropped) * times
            yield text_map.n_bytes


def measure_together(
    measurings: Sequence[Measuring], n_bytes: int, should_stop: ShouldStop | None
) -> None:
    """Take the steps of all measurements in turn, so progress is even; raises CancelledError."""
    going = dict(enumerate(measuring.steps() for measuring in measurings))
    done = [0] * len(measurings)
    while going:
        if should_stop is not None and should_stop(sum(done) // len(done), n_bytes):
            raise CancelledError
        behind = min(going, key=lambda place: done[place])
        step = next(going[behind], None)
        if step is None:
            del going[behind]
            done[behind] = n_bytes
        else:
            done[behind] = step


def measure(corpora: Iterable[Corpus], tokenizer: Encoder) -> list[Measured]:
    """Measure one tokenizer on each of several corpora.

    >>> from bpe_core.tokenizer import gpt2
    >>> [each.metrics.n_tokens for each in measure([Corpus.from_text("the quick")], gpt2())]
    [2]
    """
    table = IdTable(tokenizer)
    found: list[Measured] = []
    for corpus in corpora:
        measuring = Measuring(corpus, tokenizer, table=table)
        for _ in measuring.steps():
            pass
        found.append(measuring.measured())
    return found


def efficiency_together(measured: Iterable[Measured], tokenizer: Encoder) -> float:
    """Return the Rényi efficiency of a tokenizer over several corpora together.

    >>> from bpe_core.tokenizer import gpt2
    >>> parts = measure(map(Corpus.from_text, ["the quick", "quick fox"]), gpt2())
    >>> whole, = measure([Corpus.from_documents(["the quick", "quick fox"])], gpt2())
    >>> efficiency_together(parts, gpt2()) == whole.metrics.renyi_efficiency
    True
    """
    found = list(measured)
    ids = np.concatenate([each.ids for each in found])
    _, places = np.unique(ids, return_inverse=True)
    counts = np.zeros(len(ids), np.int64)
    np.add.at(counts, places, np.concatenate([each.counts for each in found]))
    return _renyi_efficiency(counts, tokenizer)


def _renyi_efficiency(counts: NDArray[np.int64], tokenizer: Encoder) -> float:
    if tokenizer.vocab_size < 2:
        return float("nan")
    return renyi_efficiency(counts, vocab_size=tokenizer.vocab_size)


def renyi(
    tokens: str | Iterable[Hashable], alpha: float = _ALPHA, vocab_size: int | None = None
) -> float:
    """Return how evenly tokens are used, from 0 to 1: their Rényi entropy divided by its maximum.

    The tokens are ids or texts in any order; a str is cut at white space. The entropy is
    log(Σ p^alpha) / (1 - alpha) over the share p of each distinct token: Shannon's at alpha = 1,
    and the higher alpha, the more frequent tokens count. Its maximum is log(`vocab_size`), by
    default the number of distinct tokens, as in the package tokenization-scorer, whose own default
    is an alpha of 3; `bpe.compare` gives the size of the tokenizer's vocabulary, so unused tokens
    count. Returns nan without tokens and 0 for a single distinct one.

    Raises ConfigError for an alpha below 0 and a vocabulary smaller than the distinct tokens.

    Source: Zouhar et al. 2023, "Tokenization and the noiseless channel"; alpha = 2.5 is the value
    that they found to predict translation quality best.

    >>> renyi("pick @@ed pick @@l @@ed pick @@les", alpha=3)
    0.8031528501359657
    >>> renyi([1, 2, 3, 4]), renyi([1, 2, 3, 4], vocab_size=16)
    (1.0, 0.5)
    """
    given = tokens.split() if isinstance(tokens, str) else several(tokens, "tokens", "give a list")
    if not is_a(alpha, int, float) or is_a(alpha, bool):
        raise ArgumentTypeError(f"Expected a number as alpha, got {describe(alpha)}.")
    for number, token in enumerate(given, 1):
        if not is_a(token, Hashable):
            raise ArgumentTypeError(
                f"Number {number:,} of {len(given):,} tokens is {describe(token)}. Expected ids or "
                "texts; join the lists of several documents first."
            )
    counts = np.array([*Counter(given).values()], np.int64)
    if vocab_size is None:
        if len(counts) < 2:
            return 0.0 if len(counts) else math.nan
        vocab_size = len(counts)
    check_whole("vocab_size", vocab_size, 2)
    return renyi_efficiency(counts, vocab_size=vocab_size, alpha=alpha)


def renyi_efficiency(
    token_counts: NDArray[np.int64], *, vocab_size: int, alpha: float = _ALPHA
) -> float:
    """Return `renyi` of tokens that are counted: int64[n_types]; zeros do not matter.

    Raises ConfigError for a vocabulary size below 2, or more types than the vocabulary has.

    >>> renyi_efficiency(np.array([5, 5, 5, 5]), vocab_size=4)
    1.0
    """
    counts = token_counts[token_counts > 0]
    if vocab_size < 2 or len(counts) > vocab_size:
        raise ConfigError(
            f"There is no Rényi efficiency for {len(counts):,} tokens in use and a vocabulary of "
            f"{vocab_size:,}. Use a vocabulary of at least 2 tokens that includes all tokens in "
            "use."
        )
    if not alpha >= 0:
        raise ConfigError(f"alpha is {alpha}. Use a number of at least 0, such as 2.5.")
    if not len(counts):
        return math.nan
    shares = counts / counts.sum()
    if alpha == 1:
        entropy = -float((shares * np.log(shares)).sum())
    elif math.isinf(alpha):
        entropy = -math.log(float(shares.max()))
    else:
        # At a large alpha, powers of shares underflow; those of their ratios to the largest do not.
        top = float(shares.max()) if alpha > _LARGE_ALPHA else 1.0
        powers = float(((shares / top) ** alpha).sum())
        entropy = (math.log(powers) + alpha * math.log(top)) / (1 - alpha)
    # Avoid -0.0, which the entropy of a single token can be.
    return max(0.0, entropy) / math.log(vocab_size)


def dead_tokens(
    tokenizer: Encoder | Trained | str | os.PathLike[str], corpus: Corpus | Iterable[str]
) -> tuple[int, ...]:
    """Return the ids that encoding a text never uses, in order, special tokens aside.

    Tokens that training removed again (PickyBPE) do not count: no text becomes one.
    They take up rows of a model's embedding, but training never updates these rows. Measured on the
    text that a model would be trained on: a short text leaves many tokens unused. The tokenizer may
    be given by its path or name, as for `open_encoder`.

    Source: Land and Bartolo 2024, "Fishing for Magikarp", section on unused tokens.

    >>> from bpe_core.trainers import train
    >>> run = train(["hug hugs"], vocab_size=258, special_tokens=())
    >>> [run.tokenizer.vocab[id] for id in range(256, 258)], dead_tokens(run, ["hug"])[-2:]
    ([b'hu', b'hug'], (255, 256))
    """
    encoder = to_encoder(tokenizer)
    (found,) = measure([to_corpus(corpus)], encoder)
    own = find_own(encoder)
    removed = () if own is None else own.table.removed
    others = {*found.ids.tolist(), *encoder.special_tokens.values(), *removed}
    return tuple(id_ for id_ in sorted(encoder.vocab) if id_ not in others)


def _tally(
    table: NDArray[np.int64], rows: NDArray[np.int64], columns: NDArray[np.uint8], times: int
) -> None:
    """Add `times` to a cell of the table for each row and column given."""
    cells = rows * table.shape[1] + columns
    if len(cells) < table.size:
        np.add.at(table.reshape(-1), cells, times)
    else:
        # This is several times as fast, but goes over the whole table.
        table += np.bincount(cells, minlength=table.size).reshape(table.shape) * times
