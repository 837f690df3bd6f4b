"""Place counted words in a row of slots.

The twin is `word_row.lay_out_pretokens`, in NumPy.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.unicode.utf8_states import AFTER_WORD

_ONE = np.uint64(1)


@kernel
def place_letters(letters, begin, end, word, id_of, in_slots, slots):
    """Write the ids and counts of letters begin to end - 1, the first of which is in word `word`.

    letters: uint8[n], AFTER_WORD after each word. id_of: int32[256], the id of each byte, -1 for
    AFTER_WORD. in_slots: int32[n_words], counts in the form that `row.Row` holds. slots: int32[2 *
    n], from the slot of the first letter on.
    """
    of_word = np.uint64(word)
    slot = np.uint64(begin) + np.uint64(begin)
    for i in range(np.uint64(begin), np.uint64(end)):
        letter = np.uint64(letters[i])
        slots[slot] = id_of[letter]
        if letter == AFTER_WORD:
            slots[slot + _ONE] = np.int32(0)
            of_word += _ONE
        else:
            slots[slot + _ONE] = in_slots[of_word]
        slot += _ONE + _ONE
