"""Deal documents to shards by their place in the corpus, whoever encoded them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

SPLITS: Final = ("train", "val")


class Slice(NamedTuple):
    """Some of the documents of an encoded stretch: those of a shard's split in a range of rows."""

    stretch: int
    """The place of the stretch in the corpus."""
    begin: int
    end: int
    is_head_held_out: bool
    """Whether the document that the stretch begins within is held out."""


class Shard(NamedTuple):
    """The documents of one output file."""

    split: str
    number: int
    slices: tuple[Slice, ...]
    n_documents: int
    n_tokens: int


def find_held_out(documents: NDArray[Any], *, is_head_held_out: bool) -> NDArray[np.bool_]:
    """Return which of the `DOCUMENT` rows of a stretch are held out, as bool[n]."""
    # The rest of a document goes where its beginning went.
    return np.where(documents["begins"], documents["is_held_out"], is_head_held_out)


def deal(stretches: Iterable[NDArray[Any]], shard_tokens: int) -> list[Shard]:
    """Return the shards of a corpus, whose stretches have these `DOCUMENT` rows.

    The tokens of a split, in order, are cut every `shard_tokens`, and a document is whole in the
    shard in which it begins. A shard in which none begins is left out.

    >>> from bpe_core.training_data.stretch_ids import DOCUMENT
    >>> rows = np.array([(4, True, False), (9, True, False), (2, True, True)], DOCUMENT)
    >>> [(shard.split, shard.number, shard.n_tokens) for shard in deal([rows], 4)]
    [('train', 0, 4), ('train', 1, 9), ('val', 0, 2)]
    """
    dealt: dict[tuple[int, int], list[tuple[Slice, int, int]]] = {}
    reached = [0, 0]
    head = (0, 0)
    for stretch, documents in enumerate(stretches):
        is_held_out = find_held_out(documents, is_head_held_out=bool(head[0]))
        next_head = head
        for split in (0, 1):
            rows = np.flatnonzero(is_held_out == split)
            if not rows.size:
                continue
            begins, n_tokens = documents["begins"][rows], documents["n_tokens"][rows]
            ends = reached[split] + np.cumsum(n_tokens)
            shards = np.where(begins, (ends - n_tokens) // shard_tokens, head[1])
            reached[split] = int(ends[-1])
            firsts = np.flatnonzero(np.diff(shards, prepend=-1)).tolist()
            for first, after in pairwise([*firsts, len(rows)]):
                these = slice(first, after)
                found = Slice(stretch, int(rows[first]), int(rows[after - 1]) + 1, bool(head[0]))
                dealt.setdefault((split, int(shards[first])), []).append(
                    (found, int(begins[these].sum()), int(n_tokens[these].sum()))
                )
            if rows[-1] == len(documents) - 1:
                next_head = (split, int(shards[-1]))
        head = next_head
    numbers = [count(), count()]
    return [
        Shard(
            SPLITS[split],
            next(numbers[split]),
            tuple(found for found, _, _ in dealt[split, shard]),
            sum(n_documents for _, n_documents, _ in dealt[split, shard]),
            sum(n_tokens for _, _, n_tokens in dealt[split, shard]),
        )
        for split, shard in sorted(dealt)
    ]
