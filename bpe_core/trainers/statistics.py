"""Statistics of a run: pairs by rank and by neighbour, bytes per token, sizes, why it stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bpe_core.checks import counted
from bpe_core.errors import ConfigError, OutOfRangeError
from bpe_core.trainers.run import TrainingRun
from bpe_core.types import Merge, Pair, StopReason

if TYPE_CHECKING:
    from bpe_core.trainers.run import TrainingRun


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


def bytes_per_token_after(n_bytes: int, tokens_after: ArrayLike) -> NDArray[np.float64]:
    """Return float64[n_merges + 1]: bytes per token of a corpus after each merge.

    A value is nan if the corpus has no token.

    >>> bytes_per_token_after(12, [12, 8, 6]).tolist()
    [1.0, 1.5, 2.0]
    """
    tokens = np.asarray(tokens_after, dtype=np.float64)
    ratios = np.full(tokens.shape, np.nan)
    np.divide(float(n_bytes), tokens, out=ratios, where=tokens > 0)
    return ratios


def vocab_size_after(run: TrainingRun) -> NDArray[np.int64]:
    """Return int64[n_merges + 1]: the vocabulary size after each merge.

    A merge that makes an older token again adds nothing, and a removal takes one away.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> run = train(Corpus.from_text("hug hugs"), TrainingConfig(vocab_size=260))
    >>> vocab_size_after(run).tolist()
    [257, 258, 259, 260]
    """
    tokenizer = run.tokenizer
    if run.base is not None:
        known = set(run.base.vocab)
    else:
        known = tokenizer.vocab.keys() - tokenizer.table.parts.keys()
    sizes = [len(known)]
    for n_merges, merge in enumerate(run.merges, start=1):
        known.add(merge.id)
        known.difference_update(run.removed_after(n_merges))
        sizes.append(len(known))
    return np.array(sizes, dtype=np.int64)


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


def corners(values: ArrayLike, most: int = 1_500) -> NDArray[np.int64]:
    """Choose the points that draw a step curve: int64[n], ascending.

    These are both ends and the points where the curve changes, or if there are too many, `most`
    of them, evenly spread.

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


def next_merges(merges: Sequence[Merge], start: int = 0) -> dict[Pair, int]:
    """Map each pair that is merged at rank `start` or later to the rank of its next merge.

    >>> merges = [Merge(0, 32, 116, 256), Merge(1, 104, 101, 257)]
    >>> next_merges(merges, start=1)
    {(104, 101): 1}
    """
    return {merges[rank].pair: rank for rank in range(len(merges) - 1, start - 1, -1)}


def further_gain(values: ArrayLike, n_merges: int, further: int = 1_000) -> tuple[int, float]:
    """Return a number of further merges, and how much a curve gains over them.

    The number is `further`, or less if the run ends sooner.

    >>> further_gain([1.0, 1.5, 2.0], 1, further=1_000)
    (1, 0.5)
    """
    curve = np.asarray(values, dtype=np.float64)
    if not 0 <= n_merges < len(curve):
        raise OutOfRangeError(f"Expected n_merges from 0 to {len(curve) - 1}, got {n_merges}.")
    end = min(n_merges + further, len(curve) - 1)
    return end - n_merges, float(curve[end] - curve[n_merges])


def enough_merges(tokens_after: ArrayLike, share: float = 0.95) -> int:
    """Return the fewest merges that save a share of the tokens that the whole run saves on a text.

    `tokens_after` is the tokens of the text after each number of merges, from none.

    >>> enough_merges([100, 60, 40, 35, 32, 30])
    4
    """
    saved = np.asarray(tokens_after, dtype=np.int64)
    saved = saved[0] - saved
    return int(np.argmax(saved >= share * saved.max()))


MIN_GAP: Final = 0.25
"""A text of 100 KB has half of this against held-out text of its kind, and one of 10 KB three times
as much if it is learned to the end: see the table in docs/decide.md."""
MIN_SHARE_ONCE: Final = 0.25


def stop_sentence(run: TrainingRun) -> str:
    """Return the reason why training stopped, as a sentence.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.trainers import train
    >>> from bpe_core.types import TrainingConfig
    >>> stop_sentence(train(Corpus.from_text("hug hug"), TrainingConfig(300)))
    'It stopped because no pair was left to merge.'
    """
    longest = run.config.max_token_bytes
    limit = "" if longest is None else f" into a token of at most {counted(longest, 'byte')}"
    reasons: dict[StopReason, str] = {
        "vocab-size": f"It stopped because the vocabulary reached {run.tokenizer.vocab_size:,}.",
        "no-pairs": f"It stopped because no pair was left to merge{limit}.",
        "min-frequency": "It stopped because no pair occurs "
        f"{times(run.config.min_frequency)} any longer.",
        "cancelled": "It was cancelled.",
    }
    return reasons[run.stop_reason]


def count_once(run: TrainingRun) -> int:
    """Return how many merges join a pair that occurred only once.

    >>> from bpe_core.trainers import train
    >>> count_once(train(["hug hugs"], vocab_size=300))
    2
    """
    return sum(merge.count == 1 for merge in run.merges)


def by_heart_sentence(run: TrainingRun, gap: float | None) -> str:
    """Return a sentence on a run that fits its own text far better than new text; may be empty.

    `gap` is how much better its bytes per token are on that text than on held-out text, such as
    0.5; None without held-out text.

    >>> from bpe_core.trainers import train
    >>> run = train(["hug hugs"], vocab_size=300)
    >>> by_heart_sentence(run, 0.5)
    'Learned by heart: a token spells 50% more of the training text than of held-out text, and 2 \
of 4 merges join a pair that occurred only once. Train on more text, or to fewer tokens.'
    >>> by_heart_sentence(run, 0.1)
    ''
    """
    fits = "" if gap is None or gap < MIN_GAP else f"spells {gap:.0%} more of the training text"
    n_once, n = count_once(run), len(run.merges)
    once = ""
    if n_once and n_once >= MIN_SHARE_ONCE * n:
        once = f"{n_once:,} of {n:,} merges join a pair that occurred only once"
    if gap is None and once:
        found = f"Learned by heart: {once}."
    elif fits and once:
        found = f"Learned by heart: a token {fits} than of held-out text, and {once}."
    elif fits:
        found = (
            f"A token {fits} than of held-out text: that was learned by heart in part, or the "
            "held-out text is of another kind."
        )
    else:
        return ""
    return f"{found} Train on more text, or to fewer tokens."


def times(n: int) -> str:
    """Return a number of times in words.

    >>> times(1), times(2), times(1_200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")
