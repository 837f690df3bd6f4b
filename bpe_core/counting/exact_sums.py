"""Add up counts exactly, and refuse sums that exceed 64 bits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.word_counts import MAX_SUM, check_symbols
from bpe_core.errors import CorpusError
from bpe_core.types import PretokenCounts


def check_sum(counts: NDArray[np.int64], name: str) -> None:
    """Raise CorpusError if counts, all positive, together exceed 64 bits.

    >>> check_sum(np.array([2**62, 2**62]), "a.parquet")
    Traceback (most recent call last):
    bpe_core.errors.CorpusError: The counts of a.parquet add up to 9,223,372,036,854,775,808, \
more than 64 bits can hold. Divide all counts by the same number.
    """
    total = weighted_sum(np.ones(len(counts), np.int64), counts)
    if total > MAX_SUM:
        raise CorpusError(
            f"The counts of {name} add up to {total:,}, more than 64 bits can hold. Divide all "
            "counts by the same number."
        )


def check_pretokens(pretokens: PretokenCounts, name: str) -> None:
    """Raise CorpusError if the words together have more symbols than an int64 can count.

    Each word has one symbol more than bytes, because training may add an end-of-word marker.
    """
    n_symbols = weighted_sum(word_lengths(pretokens.words) + 1, pretokens.counts)
    check_symbols(n_symbols, f"The words of {name}")


def weighted_sum(weights: NDArray[np.int64], counts: NDArray[np.int64]) -> int:
    """Return the exact sum of products, which may exceed 64 bits.

    >>> weighted_sum(np.array([3, 1]), np.array([2**62, 2**62])) == 2**64
    True
    """
    # In halves of 32 bits, of 2**16 rows with weights below 2**15, no sum reaches 2**63.
    total = 0
    for start in range(0, len(counts), 1 << 16):
        part, of = weights[start : start + (1 << 16)], counts[start : start + (1 << 16)]
        if int(part.max(initial=0)) >= 1 << 15:
            total += sum(map(int.__mul__, part.tolist(), of.tolist()))
            continue
        high, low = int((part * (of >> 32)).sum()), int((part * (of & 0xFFFFFFFF)).sum())
        total += (high << 32) + low
    return total


def word_lengths(words: tuple[bytes, ...]) -> NDArray[np.int64]:
    """Return int64[n]: the number of bytes of each word.

    >>> word_lengths((b"hug", b"hugs")).tolist()
    [3, 4]
    """
    return np.fromiter(map(len, words), np.int64, len(words))
