"""Figures of a run, as records: curves over merges; pairs at a step, by rank and neighbour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bpe_core.errors import ConfigError, OutOfRangeError
from bpe_core.trainers.pair_tables import PairCount
from bpe_core.types import Pair, read_only


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """The counts of pairs of several left symbols and several right symbols."""

    left: tuple[int, ...]
    """The ids of the rows, most frequent first."""
    right: tuple[int, ...]
    """The ids of the columns, most frequent first."""
    counts: NDArray[np.int64]
    """int64[n_left, n_right]: 0 if the two are never adjacent."""

    def find_cell(self, pair: Pair) -> tuple[int, int] | None:
        """Return the row and column of a pair, or None if it is not in the matrix.

        >>> matrix = PairMatrix((7, 8), (9,), np.array([[5], [2]]))
        >>> matrix.find_cell((8, 9)), matrix.find_cell((9, 8))
        ((1, 0), None)
        """
        left, right = pair
        if left not in self.left or right not in self.right:
            return None
        return self.left.index(left), self.right.index(right)


@dataclass(frozen=True, slots=True)
class RankFrequency:
    """The counts of all pairs, highest first, reduced to the corners of their curve."""

    ranks: NDArray[np.int64]
    """int64[n]: from 1; the first and the last rank of each run of equal counts."""
    counts: NDArray[np.int64]
    """int64[n]: the count of the pair at that rank."""
    n_pairs: int
    n_once: int
    """The number of pairs that occur exactly once."""


@dataclass(frozen=True, slots=True)
class PairPicture:
    """The pairs of a run after `step` merges."""

    step: int
    top: tuple[PairCount, ...]
    """The most frequent pairs; the one that merges next comes first."""
    merged_at: Mapping[Pair, int]
    """The rank of the merge of each of these pairs, without those that never merge."""
    matrix: PairMatrix
    next_cell: tuple[int, int] | None
    """The row and column of the first pair in the matrix; None if there is no pair."""
    curve: RankFrequency


@dataclass(frozen=True, slots=True)
class RunCurves:
    """The figures of a run after each merge: arrays of n_merges + 1, read-only."""

    vocab_size: NDArray[np.int64]
    training: NDArray[np.float64]
    """float64[n_merges + 1]: bytes per token of the training text."""
    held_out: NDArray[np.float64] | None
    """The same for text that training has not seen; None without tokens of one."""
    winner_counts: NDArray[np.int64]
    """int64[n_merges]: the number of occurrences of the pair that each merge joined."""
    elbow: int | None
    """The number of merges at which the curve of corpus tokens bends; None if it does not."""
    enough_merges: int
    """The fewest merges that save 95% of the tokens that all save, on the held-out text if any."""
    drawn: NDArray[np.int64]
    """int64[n]: the steps at which curves are drawn."""
    drawn_winners: NDArray[np.int64]
    """int64[m]: the ranks at which the curve of winners is drawn."""

    @property
    def gap(self) -> float | None:
        """How much better the bytes per token are on the training text than on held-out text.

        None without held-out text; 0.5 if a token spells 50% more of the training text.
        """
        return None if self.held_out is None else self.training[-1] / self.held_out[-1] - 1

    def further_gain(self, n_merges: int, further: int = 1_000) -> tuple[int, float]:
        """Return a number of merges beyond `n_merges`, and the bytes per token gained by them.

        The number is `further`, or less if the run ends sooner; the gain is on the held-out text,
        if there is any.

        >>> from bpe_core.trainers import train
        >>> train(["aaaa"], vocab_size=259).curves().further_gain(0)
        (2, 3.0)
        """
        curve = self.training if self.held_out is None else self.held_out
        if not 0 <= n_merges < len(curve):
            raise OutOfRangeError(f"Expected n_merges from 0 to {len(curve) - 1}, got {n_merges}.")
        end = min(n_merges + further, len(curve) - 1)
        return end - n_merges, float(curve[end] - curve[n_merges])


def pair_matrix(
    pair_counts: Mapping[Pair, int], size: int = 12, *, including: Pair | None = None
) -> PairMatrix:
    """Tabulate how often the most frequent left symbols precede the most frequent right ones.

    Rows are the symbols that most often have a right neighbour, columns those that are most often
    that neighbour; both are sorted by count, then by id. The pair `including` always gets a row and
    a column, the last ones if its counts are too low.

    >>> matrix = pair_matrix({(1, 2): 5, (1, 3): 2, (4, 2): 1, (6, 7): 1}, size=2)
    >>> matrix.left, matrix.right, matrix.counts.tolist()
    ((1, 4), (2, 3), [[5, 2], [1, 0]])
    """
    if size < 1:
        raise ConfigError(f"Expected a pair matrix of size 1 or more, got {size}.")
    as_left: Counter[int] = Counter()
    for (left, _), count in pair_counts.items():
        as_left[left] += count
    rows = _most_frequent(as_left, size, None if including is None else including[0])
    # Right symbols are ranked within the rows: late in a run, those most frequent everywhere
    # almost never follow the rows, and the table would be nearly empty.
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
    """Sort the counts of all pairs, highest first, and keep the corners of the curve.

    Nothing is lost, because all pairs between two corners of equal count have that count.

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


def steps_to_draw(n_merges: int, most: int = 800) -> NDArray[np.int64]:
    """Choose the steps at which to draw a curve over a run: int64[n], ascending.

    All steps if there are few; otherwise at most `most`, always including 0 and `n_merges`. Half
    are spaced linearly and half logarithmically, because the curves bend near their start. If
    `n_merges` is -1 there are none.

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


def elbow(values: ArrayLike) -> int | None:
    """Return the index of a curve's bend: the point furthest from the line between its ends.

    Both axes are scaled to the curve's extent, so units don't matter; among equal points, the first
    is returned. Returns None if the curve has fewer than three points or level ends. This is the
    knee of "Finding a 'Kneedle' in a Haystack" (Satopää et al., 2011), without smoothing:
    https://doi.org/10.1109/ICDCSW.2011.20

    >>> elbow([100, 60, 40, 35, 32, 30])
    2
    """
    curve = np.asarray(values, dtype=np.float64)
    if len(curve) < 3 or curve[0] == curve[-1]:
        return None
    along = np.linspace(0.0, 1.0, len(curve))
    height = (curve - curve[0]) / (curve[-1] - curve[0])
    return int(np.argmax(np.abs(height - along)))


def bytes_per_token(n_bytes: int, tokens: ArrayLike) -> NDArray[np.float64]:
    """Return bytes per token for each number of tokens of a text, nan for none; read-only.

    >>> bytes_per_token(12, [12, 8, 6]).tolist()
    [1.0, 1.5, 2.0]
    """
    numbers = np.asarray(tokens, dtype=np.float64)
    ratios = np.full(numbers.shape, np.nan)
    np.divide(float(n_bytes), numbers, out=ratios, where=numbers > 0)
    return read_only(ratios)


def merges_that_save(tokens_after: ArrayLike, share: float = 0.95) -> int:
    """Return the fewest merges that save a share of the tokens that the whole run saves on a text.

    `tokens_after` is the tokens of the text after each number of merges, from none.

    >>> merges_that_save([100, 60, 40, 35, 32, 30])
    4
    """
    saved = np.asarray(tokens_after, dtype=np.int64)
    saved = saved[0] - saved
    return int(np.argmax(saved >= share * saved.max()))
