"""Place counted words in one row.

The twin is `word_row.lay_out_pretokens`, in NumPy.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import kernel


@kernel
def place_letters(letters, begin, end, id_of, ids):
    """Write the ids of letters begin to end - 1.

    letters: uint8[n]. id_of: int32[256], the id of each byte. ids: int32[n].
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        ids[i] = id_of[np.uint64(letters[i])]
