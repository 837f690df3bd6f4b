"""Lay words out with a kernel: the slots of `word_row.lay_out_pretokens`, faster for many words."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.compiling.threads import n_threads, together
from bpe_core.kernels.laying_out import place_letters
from bpe_core.unicode.utf8_states import AFTER_WORD

_FEWEST_LETTERS: Final = 1 << 19


def slots_of(
    letters: NDArray[np.uint8], id_of: NDArray[np.int32], in_slots: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the slots of words, int32[1 + n_letters, 2]: those of a gap, then of each letter.

    Each thread takes a part. Most of the time is spent touching new memory for the first time,
    which threads share. `letters` is uint8[n_letters], AFTER_WORD after each word; `id_of`
    int32[256], -1 for AFTER_WORD; `in_slots` int32[n_words], the form of each count in a slot.

    >>> id_of = np.arange(256, dtype=np.int32)
    >>> id_of[AFTER_WORD] = -1
    >>> letters = np.frombuffer(b"ab\\xff", np.uint8)
    >>> slots_of(letters, id_of, np.array([5], np.int32)).tolist()
    [[-1, 0], [97, 5], [98, 5], [-1, 0]]
    """
    slots = np.empty((1 + letters.size, 2), np.int32)
    slots[0] = -1, 0
    n_parts = max(1, min(n_threads(), letters.size // _FEWEST_LETTERS))
    bounds = [part * letters.size // n_parts for part in range(n_parts + 1)]

    def place_part(begin: int, end: int) -> None:
        word = int(np.count_nonzero(letters[:begin] == AFTER_WORD))
        place_letters(letters, begin, end, word, id_of, in_slots, slots[1:].reshape(-1))

    together([partial(place_part, begin, end) for begin, end in pairwise(bounds)])
    return slots


def compile_all() -> None:
    """Compile the kernel of this module by calling it."""
    letters = np.array([AFTER_WORD], np.uint8)
    letters.flags.writeable = False  # as those of counted words are
    slots_of(letters, np.full(256, -1, np.int32), np.zeros(1, np.int32))
