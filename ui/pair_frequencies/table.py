"""Format the page's figures as tables, on the page and as CSV downloads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bpe_core.runs.pair_lives import PairLife
from bpe_core.runs.sample_check import SampleFigures
from bpe_core.types import Pair, PairCount
from ui.look.csv_table import Cell, csv_table
from ui.look.labels import token_label
from ui.run.results import RunCurves

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
