"""Keys of pairs and words for hash tables with open addressing."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import inlined, part

EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
"""Marks a free place in a table of pair keys; no pair has this key, as ids are below 2**31."""

LONG = np.uint64(255) << np.uint64(56)
"""Flags a word of 16 or more bytes in its key's high half; the key holds hash and length."""

# 2**64 divided by the golden ratio, and the first constant of MurmurHash3's finalizer: a bit of a
# product with them depends on all lower bits of the other factor.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SPREAD = np.uint64(0xFF51AFD7ED558CCD)
_SEVEN = np.uint64(7)
_EIGHT = np.uint64(8)
_HALF = np.uint64(32)

# For each width up to 15, masks of the bits that the bytes occupy in the two halves of a key.
_LOW_BYTES = np.array([(1 << 8 * min(width, 8)) - 1 for width in range(16)], np.uint64)
_HIGH_BYTES = np.array([(1 << 8 * max(width - 8, 0)) - 1 for width in range(16)], np.uint64)


@part
def pair_key(left, right):
    """Return two ids as one uint64 that sorts like the pair."""
    return np.uint64(left) << np.uint64(32) | np.uint64(right)


@part
def pair_ids(key):
    """Return the two ids of a pair key."""
    return np.int64(key >> np.uint64(32)), np.int64(key & np.uint64(0xFFFFFFFF))


@inlined
def spread_pair(key):
    """Hash a pair key to a uint64 whose low bits serve as a table's index."""
    return key * _GOLDEN >> np.uint64(24)


@part
def find_pair(keys, key):
    """Return the place of a pair key, or the free place for it; the size is a power of two."""
    mask = np.uint64(keys.size - 1)
    place = spread_pair(key) & mask
    while keys[place] != key and keys[place] != EMPTY:
        place = (place + np.uint64(1)) & mask
    return place


@inlined
def eight_bytes(text, i):
    """Return text[i:i+8] as a little-endian uint64; LLVM turns this into one load."""
    value = np.uint64(text[i])
    value |= np.uint64(text[i + np.uint64(1)]) << np.uint64(8)
    value |= np.uint64(text[i + np.uint64(2)]) << np.uint64(16)
    value |= np.uint64(text[i + np.uint64(3)]) << np.uint64(24)
    value |= np.uint64(text[i + np.uint64(4)]) << np.uint64(32)
    value |= np.uint64(text[i + np.uint64(5)]) << np.uint64(40)
    value |= np.uint64(text[i + np.uint64(6)]) << np.uint64(48)
    value |= np.uint64(text[i + np.uint64(7)]) << np.uint64(56)
    return value


@inlined
def _mixed(value):
    value *= _SPREAD
    return value ^ value >> np.uint64(29)


@inlined
def short_key(text, start, width):
    """Return the key of a word of up to 15 bytes: its bytes and the width."""
    if start + np.uint64(16) <= np.uint64(text.size):
        low = eight_bytes(text, start) & _LOW_BYTES[width]
        high = eight_bytes(text, start + _EIGHT) & _HIGH_BYTES[width]
    else:
        low = np.uint64(0)
        high = np.uint64(0)
        for i in range(width):
            byte = np.uint64(text[start + np.uint64(i)])
            if i < 8:
                low |= byte << np.uint64(8 * i)
            else:
                high |= byte << np.uint64(8 * i - 64)
    return low, high | width << np.uint64(56)


@inlined
def narrow_key(text, start, width):
    """Return the key of a word of up to 7 bytes as one uint64.

    The key of a longer word has another top byte than any of these. start and width: uint64.
    """
    width = min(width, _EIGHT)
    if start + _EIGHT <= np.uint64(text.size):
        bytes = eight_bytes(text, start) & _LOW_BYTES[width]
    else:
        bytes = np.uint64(0)
        for i in range(width & _SEVEN):  # no narrow word has eight
            bytes |= np.uint64(text[start + np.uint64(i)]) << np.uint64(8 * i)
    return bytes | width << np.uint64(56)


@inlined
def word_key(text, start, width):
    """Return a word's key as two uint64: up to 15 bytes plus the width, or a hash if longer.

    start and width: uint64. Distinct short words have distinct keys, so comparing keys is enough;
    for long words with equal keys, the bytes must still be compared.
    """
    if width < np.uint64(16):
        return short_key(text, start, width)
    # Eight bytes at a time; the last eight may overlap those before them.
    low = width
    at = start
    last = start + width - _EIGHT
    while at < last:
        low = _mixed(low ^ eight_bytes(text, at))
        at += _EIGHT
    return _mixed(low ^ eight_bytes(text, last)), LONG | width


@inlined
def same_bytes(one, i, other, j, width):
    """Return True if two words of equal length, eight bytes or more, are equal; all uint64."""
    at = np.uint64(0)
    last = width - _EIGHT
    while at < last:
        if eight_bytes(one, i + at) != eight_bytes(other, j + at):
            return False
        at += _EIGHT
    return eight_bytes(one, i + last) == eight_bytes(other, j + last)


@inlined
def spread_narrow(key):
    """Hash a narrow word's key to 32 bits, the low ones of which serve as a table's index."""
    return (key ^ key >> _HALF) * _SPREAD >> _HALF


@inlined
def spread_word(low, high):
    """Hash a word key to 32 bits, the low ones of which serve as a table's index.

    The upper half is folded into the lower one first. Without that, 676 words that differ only in
    the seventh and eighth byte shared 26 places of a table of 8,192.
    """
    mixed = low ^ high * _GOLDEN
    return (mixed ^ mixed >> _HALF) * _SPREAD >> _HALF


@part
def word_width(high):
    """Return a word's length in bytes, from the high half of its key."""
    if high >= LONG:
        return high & ~LONG
    return high >> np.uint64(56)
