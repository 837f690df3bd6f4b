"""Place counted words in one row, and look at their characters.

The twins are `word_row.lay_out_pretokens` and the functions of `metaspace_words`, in NumPy.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import inlined, kernel
from bpe_core.unicode import AFTER_WORD

_ONE, _TWO, _THREE, _FOUR = (np.uint64(n) for n in (1, 2, 3, 4))
_SPACE = 32
_META_1, _META_2, _META_3 = 0xE2, 0x96, 0x81  # the bytes of ▁


@kernel
def place_letters(letters, begin, end, id_of, ids):
    """Write the ids of letters begin to end - 1.

    letters: uint8[n]. id_of: int32[256], the id of each byte. ids: int32[n].
    """
    for i in range(np.uint64(begin), np.uint64(end)):
        ids[i] = id_of[np.uint64(letters[i])]


@inlined
def _read_character(letters, i):
    """Return the code point that begins at a byte, and its width."""
    lead = np.uint64(letters[i])
    if lead < np.uint64(0x80):
        return lead, _ONE
    second = np.uint64(letters[i + _ONE]) & np.uint64(63)
    if lead < np.uint64(0xE0):
        return (lead & np.uint64(31)) << np.uint64(6) | second, _TWO
    third = np.uint64(letters[i + _TWO]) & np.uint64(63)
    if lead < np.uint64(0xF0):
        return (lead & np.uint64(15)) << np.uint64(12) | second << np.uint64(6) | third, _THREE
    fourth = np.uint64(letters[i + _THREE]) & np.uint64(63)
    above = (lead & np.uint64(7)) << np.uint64(18) | second << np.uint64(12)
    return above | third << np.uint64(6) | fourth, _FOUR


@kernel
def place_characters(letters, id_of, between, ids):
    """Write the id of each character, and `between` after each word; return how many were written.

    letters: uint8[n], AFTER_WORD after each word. id_of: int32[0x110000]. ids: int32, with room.
    """
    n = np.uint64(0)
    i = np.uint64(0)
    end = np.uint64(letters.size)
    while i < end:
        if letters[i] == AFTER_WORD:
            ids[n] = between
            i += _ONE
        else:
            code, width = _read_character(letters, i)
            ids[n] = id_of[code]
            i += width
        n += _ONE
    return np.int64(n)


@kernel
def count_characters(letters, counts, n_uses):
    """Add to n_uses how often each character occurs, given how often each word does.

    counts: int64[n_words]. n_uses: int64[0x110000].
    """
    word = np.uint64(0)
    i = np.uint64(0)
    end = np.uint64(letters.size)
    while i < end:
        if letters[i] == AFTER_WORD:
            word += _ONE
            i += _ONE
        else:
            code, width = _read_character(letters, i)
            n_uses[code] += counts[word]
            i += width


@kernel
def list_words_with(letters, is_wanted, found):
    """Write the number of each word that has a wanted character; return how many there are.

    is_wanted: uint8[0x110000], 1 for those. found: int64[n_words].
    """
    n = np.int64(0)
    word = np.int64(0)
    has_one = np.int64(0)
    i = np.uint64(0)
    end = np.uint64(letters.size)
    while i < end:
        if letters[i] == AFTER_WORD:
            found[n] = word
            n += has_one
            has_one = np.int64(0)
            word += 1
            i += _ONE
        else:
            code, width = _read_character(letters, i)
            has_one |= np.int64(is_wanted[code])
            i += width
    return n


@kernel
def list_unwritten(letters, found):
    """Write the number of each word that does not begin with a space, or has another, or a ▁.

    found: int64[n_words]. Returns how many there are.
    """
    n = np.int64(0)
    word = np.int64(0)
    begins, is_other = True, False
    for i in range(np.uint64(letters.size)):
        byte = letters[i]
        if byte == AFTER_WORD:
            found[n] = word
            n += np.int64(is_other)
            begins, is_other = True, False
            word += 1
        else:
            is_other |= (byte == _SPACE) != begins
            # A word follows these bytes at least with the AFTER_WORD behind it.
            is_other |= (
                byte == _META_1 and letters[i + _ONE] == _META_2 and letters[i + _TWO] == _META_3
            )
            begins = False
    return n
