"""Put the page's figures into words, tables and CSV downloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.runs import PairLife, SampleFigures, TrainingRun, times
from bpe_core.types import Pair, PairCount
from ui.look import counted, escape_markdown, isolated, token_label
from ui.run import Cell, LifePicture, RunCurves, csv_table

# A reader of the file has only the column names to go by.
COLUMNS = (
    "place",
    "left",
    "right",
    "count",
    "tied for highest count",
    "joined by merge",
    "left id",
    "right id",
)
PAIRS_CSV_SAYS = (
    "Every pair, the next merge first. “Tied for highest count” is true if several pairs "
    "share the highest count and this is one of them. “Joined by merge” is empty for a pair that "
    "never merges. In “left” and “right” a space is ␣; their bytes follow in hex."
)
LIFE_COLUMNS = ("merges done", "count", "rank", "other pairs with the same count")
LIFE_CSV_SAYS = (
    "One line per step at which a figure changes. The rank is empty while the pair does not occur."
)
RUN_COLUMNS = (
    "merges done",
    "vocabulary size",
    "tokens in the corpus",
    "bytes per token on training text",
    "bytes per token on held-out text",
    "count of the pair joined next",
)
RUN_CSV_SAYS = "One line per step. Unknown figures are empty."
SAMPLE_COLUMNS = (
    "part of the text",
    "bytes",
    "merges",
    "share of equal tokens",
    "weighted Jaccard",
    "bytes per token on held-out text",
)


def pair_rows(
    pairs: Iterable[PairCount], vocab: Mapping[int, bytes], merged_at: Mapping[Pair, int]
) -> dict[str, list[object]]:
    """Return the columns of the table, one value per pair; None for a pair that never merges.

    >>> rows = pair_rows([PairCount(0, 1, 9)], {0: b" ", 1: b"t"}, {(0, 1): 45})
    >>> rows["left"], rows["right"], rows["count"], rows["joined by merge"]
    (['␣'], ['t'], [9], [46])
    """
    rows: dict[str, list[object]] = {column: [] for column in COLUMNS}
    for place, pair in enumerate(pairs, start=1):
        rank = merged_at.get((pair.left, pair.right))
        values = (
            place,
            token_label(vocab[pair.left]),
            token_label(vocab[pair.right]),
            pair.count,
            pair.tied,
            None if rank is None else rank + 1,
            pair.left,
            pair.right,
        )
        for column, value in zip(COLUMNS, values, strict=True):
            rows[column].append(value)
    return rows


def pairs_csv(
    pairs: Iterable[PairCount], vocab: Mapping[int, bytes], merged_at: Mapping[Pair, int]
) -> bytes:
    r"""Return the same as CSV, with the exact bytes of both tokens in hex.

    A label that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> pairs_csv([PairCount(0, 1, 9)], {0: b"=", 1: b"t"}, {}).decode().splitlines()[1]
    "1,'=,t,9,false,,0,1,3d,74"
    """
    pairs = list(pairs)
    columns = pair_rows(pairs, vocab, merged_at)
    columns["tied for highest count"] = ["true" if pair.tied else "false" for pair in pairs]
    columns["left bytes in hex"] = [vocab[pair.left].hex() for pair in pairs]
    columns["right bytes in hex"] = [vocab[pair.right].hex() for pair in pairs]
    return _csv(columns)


def life_csv(life: PairLife) -> bytes:
    r"""Return a pair's life as CSV, one line per step at which a figure changes.

    >>> one = np.array([1, 1, 2, 0])
    >>> life = PairLife(np.array([9, 9, 4, 0]), one, np.array([1, 1, 0, 0]))
    >>> life_csv(life).decode("utf-8-sig").split()[-3:]
    ['0,9,1,1', '2,4,2,0', '3,0,,']
    """
    figures = np.stack([life.counts, life.ranks, life.n_tied])
    changed = np.any(figures[:, 1:] != figures[:, :-1], axis=0)
    steps = np.append(0, np.flatnonzero(changed) + 1)
    counts, ranks, n_tied = figures[:, steps].tolist()
    columns = (
        steps.tolist(),
        counts,
        *(
            [n if count else None for n, count in zip(row, counts, strict=True)]
            for row in (ranks, n_tied)
        ),
    )
    return _csv(dict(zip(LIFE_COLUMNS, columns, strict=True)))


def run_csv(curves: RunCurves, tokens_after: NDArray[np.int64]) -> bytes:
    """Return a whole run as CSV, one line per step, with the count of the next winner.

    `tokens_after` is int64[n_merges + 1]. Unknown figures, such as the winner after the last merge,
    stay empty.
    """
    held_out = [None] * len(tokens_after) if curves.held_out is None else curves.held_out.tolist()
    columns = (
        list(range(len(tokens_after))),
        curves.vocab_size.tolist(),
        tokens_after.tolist(),
        curves.training.tolist(),
        held_out,
        [*curves.winner_counts.tolist(), None],
    )
    return _csv(dict(zip(RUN_COLUMNS, columns, strict=True)))


def sample_csv(figures: Sequence[SampleFigures]) -> bytes:
    """Return how vocabularies of parts of a text compare with that of all of it, as CSV.

    >>> sample_csv([SampleFigures(0.5, 10, 3, 0.75, 0.8, 2.0)]).split()[-1]
    b'0.5,10,3,0.75,0.8,2'
    """
    return _csv(dict(zip(SAMPLE_COLUMNS, zip(*figures, strict=True), strict=True)))


def _csv(columns: Mapping[str, Sequence[object]]) -> bytes:
    return csv_table(
        list(columns), cast("Iterable[Sequence[Cell]]", zip(*columns.values(), strict=True))
    )


def moment(step: int, n_merges: int) -> str:
    """Name a step of a run.

    >>> moment(45, 3_839), moment(3_839, 3_839), moment(0, 0)
    ('before merge 46', 'after the last merge', 'before any merge')
    """
    if step < n_merges:
        return f"before merge {step + 1:,}"
    return "after the last merge" if n_merges else "before any merge"


def pair_name(run: TrainingRun, pair: Pair) -> str:
    """Return a pair as the labels of its two symbols, the left one on the left in any script.

    >>> from bpe_core.corpus import Corpus
    >>> from bpe_core.runs import train
    >>> from bpe_core.types import TrainingConfig
    >>> pair_name(train(Corpus.from_text("a b"), TrainingConfig(257)), (221, 66))
    '␣ + b'
    """
    labels = (token_label(run.tokenizer.vocab[id]) for id in pair)
    return " + ".join(isolated(label) for label in labels)


def life_sentence(picture: LifePicture, run: TrainingRun) -> str:
    """Describe in Markdown how a pair first appeared, its counts, and how it ended."""
    name = f"**{escape_markdown(pair_name(run, picture.pair))}**"
    life = picture.life
    if life.span is None:
        longest = run.config.max_token_bytes
        lengths = [len(run.tokenizer.vocab[id]) for id in picture.pair]
        if longest is not None and sum(lengths) > longest:
            return f"{name} cannot merge: tokens are limited to {counted(longest, 'byte')}."
        return f"{name}: its symbols are never neighbours in this run."
    first, last = life.span
    at_first, at_last = int(life.counts[first]), int(life.counts[last])
    came = "occurs from the start" if first == 0 else f"comes with merge {first:,}"
    born = f"{name} {came}, {times(at_first)}."
    if last in picture.merged_at:
        left_then = "" if at_first == at_last else f"; by then it occurs {times(at_last)}"
        return f"{born} Merge {last + 1:,} joins it{left_then}."
    if not run.merges:
        return f"{born} The run has no merges, so it stays as it is."
    if last == len(run.merges):
        left_then = "as often as at first" if at_first == at_last else times(at_last)
        return f"{born} It never merges: after the last merge it still occurs {left_then}."
    return f"{born} It never merges: other merges use up its symbols, the last merge {last + 1:,}."


def brief_sentence(life: PairLife) -> str:
    """List every point of a short life.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 9, 0]), np.array([2, 1, 0]), np.array([0, 0, 0]))
    >>> brief_sentence(life)
    'It occurs at only two points of the run: before any merge 9 times, rank 2; after 1 merge \
9 times, rank 1.'
    """
    points: list[str] = []
    for step in range(len(life.counts)):
        count, rank = int(life.counts[step]), int(life.ranks[step])
        if count:
            when = f"after {counted(step, 'merge')}" if step else "before any merge"
            points.append(f"{when} {times(count)}, rank {rank:,}")
    number = "one point" if len(points) == 1 else "two points"
    return f"It occurs at only {number} of the run: {'; '.join(points)}."


def standing_sentence(life: PairLife, step: int, n_merges: int) -> str:
    """Return a sentence on a pair's count and rank at a step.

    >>> import numpy as np
    >>> life = PairLife(np.array([9, 4]), np.array([1, 3]), np.array([0, 2]))
    >>> standing_sentence(life, 1, 1)
    'After the last merge: 4 times, rank 3, tied with 2 more.'
    """
    when = moment(step, n_merges).capitalize()
    count, rank, tied = (int(values[step]) for values in (life.counts, life.ranks, life.n_tied))
    if not count:
        return f"{when}: it does not occur."
    ties = f", tied with {tied:,} more" if tied else ""
    return f"{when}: {times(count)}, rank {rank:,}{ties}."
