"""Lay words out with a kernel: the ids of `word_row.lay_out_pretokens`, faster for many words."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.laying_out import place_letters
from bpe_core.kernels.threads import n_threads, together
from bpe_core.unicode.utf8_states import AFTER_WORD

_MIN_LETTERS: Final = 1 << 19


def row_ids(letters: NDArray[np.uint8], id_of: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the ids of words in one row, int32[1 + n_letters]: of a gap, then of each letter.

    Each thread takes a part. Most of the time is spent touching new memory for the first time,
    which threads share. `letters` is uint8[n_letters], AFTER_WORD after each word; `id_of` is
    int32[256].

    >>> id_of = np.arange(256, dtype=np.int32)
    >>> id_of[AFTER_WORD] = -1
    >>> row_ids(np.frombuffer(b"ab\\xff", np.uint8), id_of).tolist()
    [-1, 97, 98, -1]
    """
    ids = np.empty(1 + letters.size, np.int32)
    ids[0] = id_of[AFTER_WORD]
    n_parts = max(1, min(n_threads(), letters.size // _MIN_LETTERS))
    bounds = [part * letters.size // n_parts for part in range(n_parts + 1)]

    together(
        [
            partial(place_letters, letters, begin, end, id_of, ids[1:])
            for begin, end in pairwise(bounds)
        ]
    )
    return ids


def compile_all() -> None:
    """Compile the kernel of this module by calling it."""
    letters = np.array([AFTER_WORD], np.uint8)
    letters.flags.writeable = False  # as those of counted words are
    row_ids(letters, np.zeros(256, np.int32))
