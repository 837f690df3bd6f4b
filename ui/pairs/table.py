"""The figures of the page as tables: on the page, and as files to take home."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_core.pair_lives import PairLife
from bpe_core.types import Pair, PairCount
from ui.labels import token_label
from ui.results import RunCurves

COLUMNS = ("place", "left", "right", "count", "tie", "merge", "left id", "right id")
LIFE_COLUMNS = ("merges done", "count", "rank", "tied with")
RUN_COLUMNS = (
    *("merges done", "vocabulary", "tokens in the corpus", "bytes per token on training text"),
    *("bytes per token on held-out text", "count of the next winner"),
)
_READ_AS_FORMULA = ("=", "+", "-", "@")


def pair_rows(
    pairs: Iterable[PairCount], vocab: Mapping[int, bytes], merged_at: Mapping[Pair, int]
) -> dict[str, list[object]]:
    """The columns of the table, one value a pair; `merge` is None where a pair never merges.

    >>> rows = pair_rows([PairCount(0, 1, 9)], {0: b" ", 1: b"t"}, {(0, 1): 45})
    >>> rows["left"], rows["right"], rows["count"], rows["merge"]
    (['·'], ['t'], [9], [46])
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
) -> str:
    r"""The same as CSV, with the bytes of both tokens in hex, which say exactly what they are.

    A label that a spreadsheet would run as a formula gets an apostrophe in front.

    >>> pairs_csv([PairCount(0, 1, 9)], {0: b"=", 1: b"t"}, {}).splitlines()[1]
    "1,'=,t,9,False,,0,1,3d,74"
    """
    pairs = list(pairs)
    columns = pair_rows(pairs, vocab, merged_at)
    for side in ("left", "right"):
        columns[side] = [
            f"'{label}" if str(label).startswith(_READ_AS_FORMULA) else label
            for label in columns[side]
        ]
    columns["left bytes"] = [vocab[pair.left].hex() for pair in pairs]
    columns["right bytes"] = [vocab[pair.right].hex() for pair in pairs]
    return _csv(columns)


def life_csv(life: PairLife) -> str:
    r"""A pair's life as CSV: a line for each number of merges at which one of its figures changes.

    >>> one = np.array([1, 1, 2, 0])
    >>> life_csv(PairLife(np.array([9, 9, 4, 0]), one, np.array([0, 0, 0, 0]))).splitlines()
    ['merges done,count,rank,tied with', '0,9,1,0', '2,4,2,0', '3,0,0,0']
    """
    figures = np.stack([life.counts, life.ranks, life.n_tied])
    changed = np.any(figures[:, 1:] != figures[:, :-1], axis=0)
    steps = np.append(0, np.flatnonzero(changed) + 1)
    return _csv(
        dict(zip(LIFE_COLUMNS, np.vstack([steps, figures[:, steps]]).tolist(), strict=True))
    )


def run_csv(curves: RunCurves, tokens_after: NDArray[np.int64]) -> str:
    """A whole run as CSV: a line for each number of merges, the winner's count that of the next.

    `tokens_after` is int64[n_merges + 1]. The first line names the columns; what is not known, as
    the winner after the last merge, stays empty.
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


def _csv(columns: Mapping[str, Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
