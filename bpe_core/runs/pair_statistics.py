"""What a training run says about its counts: pairs by rank, by neighbour, and bytes per token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bpe_core.errors import ConfigError
from bpe_core.types import Merge, Pair

if TYPE_CHECKING:
    from bpe_core.runs.run import TrainingRun


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """How often each of some left symbols stands before each of some right symbols."""

    left: tuple[int, ...]
    """The ids of the rows, the most frequent first."""
    right: tuple[int, ...]
    """The ids of the columns, the most frequent first."""
    counts: NDArray[np.int64]
    """int64[n_left, n_right]: 0 where the two are never neighbours."""

    def cell_of(self, pair: Pair) -> tuple[int, int] | None:
        """Find the row and column of a pair; None where it has none.

        >>> matrix = PairMatrix((7, 8), (9,), np.array([[5], [2]]))
        >>> matrix.cell_of((8, 9)), matrix.cell_of((9, 8))
        ((1, 0), None)
        """
        left, right = pair
        if left not in self.left or right not in self.right:
            return None
        return self.left.index(left), self.right.index(right)


@dataclass(frozen=True, slots=True)
class RankFrequency:
    """The counts of all pairs, highest first, by the corners of the curve they draw."""

    ranks: NDArray[np.int64]
    """int64[n]: from 1; the first and the last rank of each run of equal counts."""
    counts: NDArray[np.int64]
    """int64[n]: the count of the pair at that rank."""
    n_pairs: int
    n_once: int
    """How many pairs occur a single time."""


def pair_matrix(
    pair_counts: Mapping[Pair, int], size: int = 12, *, including: Pair | None = None
) -> PairMatrix:
    """Lay out as a table how often the most frequent left symbols stand before which others.

    Rows are the symbols that most often have a neighbour at their right; columns the ones that
    stand there most often; both most frequent first, then by id. The pair `including` always has
    a row and a column, in the last place if its count gives it none.

    >>> matrix = pair_matrix({(1, 2): 5, (1, 3): 2, (4, 2): 1, (6, 7): 1}, size=2)
    >>> matrix.left, matrix.right, matrix.counts.tolist()
    ((1, 4), (2, 3), [[5, 2], [1, 0]])
    """
    if size < 1:
        raise ConfigError(f"A pair matrix of size {size} has no cell. Ask for 1 or more.")
    as_left: Counter[int] = Counter()
    for (left, _), count in pair_counts.items():
        as_left[left] += count
    rows = _most_frequent(as_left, size, None if including is None else including[0])
    # Right symbols are ranked within the rows: late in a run, those most frequent everywhere
    # hardly ever follow the rows, and the table would be empty.
    row_of = {left: row for row, left in enumerate(rows)}
    as_right: Counter[int] = Counter()
    for (left, right), count in pair_counts.items():
        if left in row_of:
            as_right[right] += count
    columns = _most_frequent(as_right, size, None if including is None else including[1])
    column_of = {right: column for column, right in enumerate(columns)}
    counts = np.zeros((len(rows), len(columns)), dtype=np.int64)
    for (left, right), count in pair_counts.items():
        if left in row_of and right in column_of:
            counts[row_of[left], column_of[right]] = count
    return PairMatrix(rows, columns, counts)


def _most_frequent(counts: Mapping[int, int], size: int, including: int | None) -> tuple[int, ...]:
    ordered = sorted(counts, key=lambda symbol: (-counts[symbol], symbol))[:size]
    if including is not None and including in counts and including not in ordered:
        ordered[-1] = including
    return tuple(ordered)


def rank_frequency(pair_counts: Mapping[Pair, int]) -> RankFrequency:
    """Order the counts of all pairs, highest first, and keep the corners of their curve.

    Between two corners of equal count lie only pairs of that count, so nothing is lost.

    >>> curve = rank_frequency({(1, 2): 9, (2, 3): 4, (3, 4): 4, (4, 5): 4, (5, 6): 1})
    >>> curve.ranks.tolist(), curve.counts.tolist(), curve.n_once
    ([1, 2, 4, 5], [9, 4, 4, 1], 1)
    """
    counts = np.sort(np.fromiter(pair_counts.values(), np.int64, len(pair_counts)))[::-1]
    starts = np.ones(len(counts), dtype=np.bool_)
    starts[1:] = counts[1:] != counts[:-1]
    ends = np.roll(starts, -1)
    corners = np.flatnonzero(starts | ends)
    return RankFrequency(
        ranks=(corners + 1).astype(np.int64),
        counts=counts[corners],
        n_pairs=len(counts),
        n_once=int(np.count_nonzero(counts == 1)),
    )


def bytes_per_token_after(n_bytes: int, tokens_after: ArrayLike) -> NDArray[np.float64]:
    """Divide a corpus' bytes by its tokens after each number of merges.

    Returns float64[n_merges + 1]; nan where the corpus has no token.

    >>> bytes_per_token_after(12, [12, 8, 6]).tolist()
    [1.0, 1.5, 2.0]
    """
    tokens = np.asarray(tokens_after, dtype=np.float64)
    ratios = np.full(tokens.shape, np.nan)
    np.divide(float(n_bytes), tokens, out=ratios, where=tokens > 0)
    return ratios


def vocab_size_after(run: TrainingRun) -> NDArray[np.int64]:
    """Size the vocabulary as it was after each number of merges.

    Returns int64[n_merges + 1]. A merge that spells an older token again adds nothing to it.

    >>> from bpe_core.corpus.corpus import Corpus
    >>> from bpe_core.runs.train import train
    >>> from bpe_core.types import TrainingConfig
    >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(vocab_size=260))
    >>> vocab_size_after(run).tolist()
    [257, 258, 259, 260]
    """
    tokenizer = run.tokenizer
    known = {token_id for token_id in tokenizer.vocab if tokenizer.parts(token_id) is None}
    sizes = [len(known)]
    for merge in run.merges:
        known.add(merge.id)
        sizes.append(len(known))
    return np.array(sizes, dtype=np.int64)


def steps_to_draw(n_merges: int, most: int = 800) -> NDArray[np.int64]:
    """Choose the numbers of merges at which a curve over a run is drawn.

    All of them if they are few. Else at most `most`: half spread evenly, half by ratio, since such
    curves bend at their start; 0 and `n_merges` are always among them. Before 0, at -1, there is
    no step. Returns int64[n], rising.

    >>> steps_to_draw(3).tolist()
    [0, 1, 2, 3]
    >>> len(steps_to_draw(50_000)) <= 800
    True
    """
    if n_merges < most:
        return np.arange(n_merges + 1, dtype=np.int64)
    evenly = np.linspace(0, n_merges, most // 2)
    by_ratio = np.geomspace(1, n_merges, most - most // 2)
    return np.unique(np.rint(np.concatenate([evenly, by_ratio])).astype(np.int64))


def corners(values: ArrayLike, most: int = 1_500) -> NDArray[np.int64]:
    """Choose where to draw a curve of steps: the places where it changes, and its two ends.

    All of them, if they are few; else `most` of them, spread evenly. Returns int64[n], rising.

    >>> corners([5, 5, 5, 4, 4, 2, 2]).tolist()
    [0, 3, 5, 6]
    """
    curve = np.asarray(values)
    changes = np.flatnonzero(curve[1:] != curve[:-1]) + 1
    places = np.unique(np.concatenate([changes, [0, max(len(curve) - 1, 0)]]).astype(np.int64))
    if len(places) > most:
        places = places[np.linspace(0, len(places) - 1, most).astype(np.int64)]
    return places


def elbow(values: ArrayLike) -> int | None:
    """Find where a curve bends: the point furthest from the straight line between its ends.

    Both axes are scaled to the curve's own extent, so that units don't matter; the first of equal
    points is taken. None where the curve has less than three points, or its ends are level. The
    rule is that of the knee in "Finding a 'Kneedle' in a Haystack" (Satopää et al., 2011), without
    its smoothing: https://doi.org/10.1109/ICDCSW.2011.20

    >>> elbow([100, 60, 40, 35, 32, 30])
    2
    """
    curve = np.asarray(values, dtype=np.float64)
    if len(curve) < 3 or curve[0] == curve[-1]:
        return None
    along = np.linspace(0.0, 1.0, len(curve))
    height = (curve - curve[0]) / (curve[-1] - curve[0])
    return int(np.argmax(np.abs(height - along)))


def next_merges(merges: Sequence[Merge], start: int = 0) -> dict[Pair, int]:
    """Find the rank of each pair's first merge, from rank `start` on.

    A pair that is not in the answer never merges from there on.

    >>> merges = [Merge(0, 32, 116, 256), Merge(1, 104, 101, 257)]
    >>> next_merges(merges, start=1)
    {(104, 101): 1}
    """
    return {merges[rank].pair: rank for rank in range(len(merges) - 1, start - 1, -1)}


def gain_of_further(values: ArrayLike, n_merges: int, further: int = 1_000) -> tuple[int, float]:
    """Subtract a curve's value after `n_merges` from the one `further` merges later.

    Where the run ends sooner, its end is taken; the number of further merges comes first.

    >>> gain_of_further([1.0, 1.5, 2.0], 1, further=1_000)
    (1, 0.5)
    """
    curve = np.asarray(values, dtype=np.float64)
    if not 0 <= n_merges < len(curve):
        raise ConfigError(f"{n_merges} merges are outside this run. Ask for 0 to {len(curve) - 1}.")
    end = min(n_merges + further, len(curve) - 1)
    return end - n_merges, float(curve[end] - curve[n_merges])
