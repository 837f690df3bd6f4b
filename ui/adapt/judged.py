"""Name the texts that an adapted tokenizer is judged by: held-out text if any, and general ones."""

from __future__ import annotations

from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from bpe_core.corpus.corpus import Corpus
from bpe_core.corpus.samples import samples

GENERAL_TEXTS: Final = ("python-reference", "multilingual", "python-library")
"""The ids of the samples."""
HELD_OUT: Final = "held-out text"
TRAINING: Final = "training text"
_MAX_TIMES: Final = 1.01

_Text = TypeVar("_Text", Corpus, NDArray[np.int64])


def general_titles() -> dict[str, str]:
    """Return the ids of the samples that serve as general texts, with their titles."""
    titles = {sample.id: sample.title for sample in samples()}
    return {id: titles[id] for id in GENERAL_TEXTS}


def judged(held_out: _Text | None, training: _Text) -> tuple[str, _Text]:
    """Return the name of the text to judge by, and the text or its numbers of tokens.

    It is the training text if nothing was held out: None, an empty corpus, or one of no tokens.

    >>> judged(np.array([9, 7]), np.array([99, 70]))
    ('held-out text', array([9, 7]))
    >>> judged(None, np.array([99, 70]))
    ('training text', array([99, 70]))
    """
    if held_out is None:
        return TRAINING, training
    size = held_out.n_bytes if isinstance(held_out, Corpus) else held_out[0]
    return (HELD_OUT, held_out) if size > 0 else (TRAINING, training)


def max_removed(tokens: NDArray[np.int64]) -> int:
    """Return how many tokens can go, one after another, before a text takes 1% more tokens.

    `tokens` is int64[n + 1], the text's tokens after each removal. It may fall too: without a
    token, merges may find a shorter way.

    >>> max_removed(np.array([100, 99, 103, 100])), max_removed(np.array([9]))
    (1, 0)
    """
    above = tokens > _MAX_TIMES * float(tokens[0])
    return int(np.argmax(above)) - 1 if above.any() else len(tokens) - 1
