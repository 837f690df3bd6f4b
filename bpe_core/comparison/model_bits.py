"""Bits per byte: how well a small model of a tokenizer's tokens predicts held-out text.

Bytes per token say how short a text gets, not how predictable it stays. The model answers the
second question in seconds: it predicts each token from the two before it, by interpolated
Kneser-Ney with a fixed discount, and its bits are divided by the *bytes* of the text, so that
tokenizers can be compared. All have the same memory: one table of counts, from which the rarest are
left out once it is full.

In detail, with D = 0.75 and c the counts of the training text:

    p(w | u v) = (max(c(u v w) - D, 0) + D n(u v ·) p(w | v)) / c(u v ·)
    p(w | v)   = (max(n(· v w) - D, 0) + D n(· v ·) p(w)) / Σ n(· v w)
    p(w)       = (max(n(· w) - D, 0) + D n(·) / V) / Σ n(· w)

where n counts distinct symbols at the place of the dot, and V symbols are possible: the
vocabulary, the end of a document, and text without a token. Each document begins with two symbols
that are not predicted. Each byte without a token costs 8 bits more, since nothing else tells it.

Source: Chen and Goodman 1998, "An empirical study of smoothing techniques for language modeling",
sections 2.7 and 2.8.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.checks import check_whole
from bpe_core.comparison.intervals import Blocks, TextPart
from bpe_core.comparison.measurement import IdTable, encoded, renyi_efficiency
from bpe_core.corpus import Corpus, to_corpus
from bpe_core.errors import ConfigError, EmptyCorpusError
from bpe_core.kernels import NgramModel
from bpe_core.tokenizer import Encoder, Trained, to_encoder

MAX_ENTRIES: Final = 1 << 23
"""The places in the table of counts, which takes 20 bytes for each: 168 MB."""
_END, _UNKNOWN, _FIRST = 2, 3, 4
"""The symbols for the end of a document, for text without a token, and for the first token."""
_BATCH: Final = 1 << 18
"""Tokens that are counted at once."""
_BITS_OF_A_BYTE: Final = 8
_BYTES_BETWEEN_LOOKS: Final = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class ModelBits:
    """The bits that a small model of a tokenizer's tokens needs for a held-out text."""

    by_unit: NDArray[np.float64]
    """float64[n_units]: the bits of each unit of the held-out text."""
    bytes_by_unit: NDArray[np.int64]
    tokens_by_unit: NDArray[np.int64]
    stratum_of_unit: NDArray[np.int64]
    bytes_lost: int
    """The bytes of the held-out text that are in no token; each costs 8 bits."""
    widened: float
    """How much wider its intervals are than those over units; see `training_factor`."""
    n_entries: int
    """How many counts the model holds."""
    floor: int
    """Three tokens that occurred at most this often are left out; 0 if the table had room for all.
    """
    used: frozenset[int]
    """The ids that the training text uses."""
    id_counts: NDArray[np.int64]
    """int64[n_ids]: how often the held-out text uses each id, in ascending order of the ids."""

    @property
    def n_bytes(self) -> int:
        """The bytes of the held-out text."""
        return int(self.bytes_by_unit.sum())

    @property
    def bits_per_byte(self) -> float:
        """All bits divided by all bytes."""
        return float(self.by_unit.sum()) / self.n_bytes

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of `bits_per_byte`; nan for fewer than 20 units."""
        units = self.by_unit, self.bytes_by_unit, self.stratum_of_unit
        return TextPart.of(*units, self.widened).ratio_interval

    def renyi_efficiency(self, vocab_size: int, alpha: float) -> float:
        """Return the Rényi efficiency of the tokens of the held-out text; see `bpe.renyi`."""
        return renyi_efficiency(self.id_counts, vocab_size=vocab_size, alpha=alpha)

    def against(self, other: ModelBits) -> TextPart:
        """Return how many fewer bits this takes than another on the same text, in per cent.

        The interval is over units, paired: both are measured on the same drawn units.

        >>> texts = [f"the bare bytes {n}" for n in range(40)]
        >>> mine = bits_per_byte("gpt2", texts, texts)
        >>> mine.against(mine).way
        'unclear'
        """
        return TextPart.of(self.by_unit, other.by_unit, self.stratum_of_unit, self.widened)


def bits_per_byte(
    tokenizer: Encoder | Trained | str | os.PathLike[str],
    training: Corpus | Iterable[str],
    held_out: Corpus | Iterable[str],
    *,
    max_entries: int = MAX_ENTRIES,
    should_stop: Callable[[], bool] | None = None,
) -> ModelBits:
    """Measure how predictable held-out text stays, cut by a tokenizer: bits for each byte.

    A model of three tokens learns from the training text, and predicts the held-out text; fewer
    bits are better. It scores the tokenizer's own ids alone: the text could be spelled by other
    ids too, so the figure is an upper bound of the text's bits. It says how much a tokenizer leaves
    to two tokens of context, not what a transformer, which sees thousands, makes of it.

    `max_entries` is the size of the table of counts, the same for every tokenizer. `should_stop` is
    called now and then; once it returns True, `concurrent.futures.CancelledError` is raised. Both
    texts need documents: words with counts have no order. The tokenizer may be given by its path or
    name, as for `open_encoder`.

    Raises ConfigError for words with counts and for more than two million tokens, and
    EmptyCorpusError without held-out text.

    >>> texts = [f"the bare bytes of the text, {number} bytes in all" for number in range(40)]
    >>> found = bits_per_byte("gpt2", texts[:20], texts[20:])
    >>> round(found.bits_per_byte, 2), found.floor
    (0.45, 0)
    """
    encoder = to_encoder(tokenizer)
    training, held_out = to_corpus(training), to_corpus(held_out)
    check_whole("max_entries", max_entries, 2)
    for corpus in (training, held_out):
        if corpus.word_counts is not None:
            raise ConfigError(
                "Words with counts have no order, so no model can predict them. Give documents."
            )
    if not held_out.n_bytes:
        raise EmptyCorpusError("There is no held-out text to predict. Give some documents.")
    table = IdTable(encoder)
    if len(table.ids) + _FIRST > NgramModel.MAX_SYMBOL:
        raise ConfigError(
            f"The model holds {NgramModel.MAX_SYMBOL:,} tokens, and the vocabulary has "
            f"{len(table.ids):,}."
        )
    model = NgramModel(len(table.ids) + _FIRST, max_entries)
    for batch in _batches(training, encoder, table, should_stop):
        model.count(batch.symbols)
    model.finish()
    used = model.used()
    blocks = Blocks.of(held_out)
    by_unit = np.zeros(blocks.n_units)
    bytes_by_unit, tokens_by_unit = (np.zeros(blocks.n_units, np.int64) for _ in range(2))
    symbol_counts = np.zeros(len(table.ids) + _FIRST, np.int64)
    bytes_lost = 0
    units = blocks.unit_of_block[blocks.block_of_text]
    for batch in _batches(held_out, encoder, table, should_stop):
        bits = -np.log2(model.probabilities(batch.symbols))
        of_document = np.add.reduceat(bits, batch.starts)
        at = units[batch.first : batch.first + len(batch.starts)]
        np.add.at(by_unit, at, of_document + _BITS_OF_A_BYTE * batch.n_lost)
        np.add.at(bytes_by_unit, at, batch.n_bytes)
        np.add.at(
            tokens_by_unit,
            at,
            np.add.reduceat(batch.symbols >= _FIRST, batch.starts, dtype=np.int64),
        )
        bytes_lost += int(batch.n_lost.sum())
        symbol_counts += np.bincount(batch.symbols, minlength=len(symbol_counts))
    return ModelBits(
        by_unit,
        bytes_by_unit,
        tokens_by_unit,
        blocks.stratum_of_unit,
        bytes_lost,
        training_factor(training.n_bytes, held_out.n_bytes),
        model.n_entries,
        model.floor,
        frozenset(table.ids[used[used >= _FIRST] - _FIRST].tolist()),
        symbol_counts[_FIRST:],
    )


def training_factor(n_training: int, n_held_out: int) -> float:
    """Return how much wider an interval is where a model was trained for it, than over units alone.

    Another draw of the training text would make another model, which adds to the uncertainty.

    Source: Nadeau and Bengio 2003, "Inference for the generalization error", section 5: the
    variance grows by the ratio of the two sizes.

    >>> training_factor(80, 20)
    1.118033988749895
    """
    return (1 + n_held_out / max(n_training, 1)) ** 0.5


class _Batch(NamedTuple):
    """The symbols of some whole documents, one after another."""

    first: int
    """The number of the first document."""
    symbols: NDArray[np.int32]
    starts: NDArray[np.int64]
    """Where each document begins among the symbols."""
    n_bytes: NDArray[np.int64]
    n_lost: NDArray[np.int64]
    """The bytes of each document that have no token."""


def _batches(
    corpus: Corpus, encoder: Encoder, table: IdTable, should_stop: Callable[[], bool] | None
) -> Iterator[_Batch]:
    """Encode the documents, and yield their symbols."""
    begin = np.array([NgramModel.BEGIN, NgramModel.BEGIN], np.int32)
    end = np.array([_END], np.int32)
    rows: list[NDArray[np.int32]] = []
    starts: list[int] = []
    n_bytes: list[int] = []
    n_lost: list[int] = []
    first = size = since = 0

    def batch() -> _Batch:
        rows.append(end)
        columns = (np.array(each, np.int64) for each in (starts, n_bytes, n_lost))
        return _Batch(first, np.concatenate(rows), *columns)

    for text, is_new, spans in encoded(corpus.documents, encoder):
        if is_new:
            if size >= _BATCH:
                yield batch()
                first += len(starts)
                rows, starts, n_bytes, n_lost, size = [], [], [], [], 0
            if starts:
                rows.append(end)
                size += 1
            starts.append(size)
            n_bytes.append(0)
            n_lost.append(0)
            rows.append(begin)
            size += 2
        stands = spans.ids >= 0
        unknown = encoder.unknown_id
        lost = ~stands if unknown is None else ~stands | (spans.ids == unknown)
        symbols = np.full(len(spans.ids), _UNKNOWN, np.int32)
        symbols[stands] = table.places(spans.ids[stands]) + _FIRST
        n_lost[-1] += int((spans.ends[lost] - spans.starts[lost]).sum())
        n = len(text.encode())
        n_bytes[-1] += n
        since += n
        rows.append(symbols)
        size += len(symbols)
        if should_stop is not None and since > _BYTES_BETWEEN_LOOKS:
            since = 0
            if should_stop():
                raise CancelledError
    if starts:
        yield batch()


def compile_all() -> None:
    """Compile every kernel of this module by calling it."""
    model = NgramModel(6, max_entries=8)
    text = np.array([NgramModel.BEGIN, NgramModel.BEGIN, 4, 5, 4, 4, 5, 5, 4, 5, 2], np.int32)
    model.count(text)
    model.finish()
    model.probabilities(text)
