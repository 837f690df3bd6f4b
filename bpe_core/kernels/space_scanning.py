"""Scan for spaces alone, where a pattern cuts before them and nowhere else.

All other characters are alike, so it needs neither their classes nor an automaton. The patterns in
`pretokenizers.named_patterns` specify this.

Such words are long in code, and few recur. Where no token of a tokenizer contains two adjacent
bytes, no merge joins them, so an encoder may cut there too: between letters and most signs, and
around new lines. The parts recur as GPT-2's words do.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.intrinsics import BYTES, bytes_between, count_ones, trailing_zeros

BEFORE_SPACES = 1 << 15
"""A text is cut before each run of spaces; the other rules add to this, or change it."""
EACH_SPACE = 1 << 16
"""It is cut before each space of a run."""
NOT_AFTER_GREATER = 1 << 17
"""It is not cut before a space that follows >."""

_ONE = np.uint64(1)
_EIGHT = np.uint64(8)
_NEW_LINE, _SPACE, _GREATER = 10, 32, 62


@inlined
def _find_cuts(text, at, rules):
    """Return a mask of the cuts in text[at + 1 : at + 64]."""
    spaces = bytes_between(text, at, _SPACE, _SPACE)
    cuts = spaces & ~_ONE
    if not rules & EACH_SPACE:
        cuts &= ~(spaces << _ONE)
    if rules & NOT_AFTER_GREATER:
        cuts &= ~(bytes_between(text, at, _GREATER, _GREATER) << _ONE)
    return cuts


@inlined
def _find_changes(text, at):
    """Return a mask of text[at + 1 : at + 64]: where letters, digits, signs and new lines meet.

    A space is as a letter, because tokens begin with it.
    """
    small, capital = bytes_between(text, at, 97, 122), bytes_between(text, at, 65, 90)
    wide, space = bytes_between(text, at, 128, 255), bytes_between(text, at, _SPACE, _SPACE)
    letters = small | capital | wide | space
    digits = bytes_between(text, at, 48, 57)
    lines = bytes_between(text, at, _NEW_LINE, _NEW_LINE)
    changes = letters ^ letters << _ONE | digits ^ digits << _ONE | lines ^ lines << _ONE
    return changes & ~_ONE


@inlined
def _are_apart(joined, before, byte):
    """Return 1 if no token contains two bytes side by side."""
    return _ONE - np.uint64(joined[np.uint64(before) << _EIGHT | np.uint64(byte)])


@inlined
def _is_cut(before, byte, rules):
    """Return True if there is a cut before a byte, given the one before it."""
    return (
        byte == _SPACE
        and (rules & EACH_SPACE or before != _SPACE)
        and not (rules & NOT_AFTER_GREATER and before == _GREATER)
    )


@part
def scan_for_spaces(text, begin, stop, end, rules, joined, ends):
    """Find all ends in text[begin:stop], of a text that ends at `end`; return their number.

    joined: as in `rank_merging.MergeTable`, to cut where no token is too, or empty. ends: int64,
    with room for one end per byte of text[begin:stop].
    """
    n = np.int64(0)
    at = np.int64(begin)
    while at + BYTES <= stop:
        cuts = _find_cuts(text, at, rules)
        if joined.size:
            changes = _find_changes(text, at) & ~cuts
            while changes:
                place = trailing_zeros(changes)
                i = np.uint64(at + place)
                cuts |= _are_apart(joined, text[i - _ONE], text[i]) << np.uint64(place)
                changes &= changes - _ONE
        k = n
        # Four at a time, as each turn may be mispredicted; what is too much is overwritten.
        n += count_ones(cuts)
        while cuts:
            for j in range(4):
                ends[k + j] = at + trailing_zeros(cuts)
                cuts &= cuts - _ONE
            k += 4
        at += BYTES - 1
    for i in range(at + 1, stop):
        if _is_cut(text[i - 1], text[i], rules) or (
            joined.size and _are_apart(joined, text[i - 1], text[i])
        ):
            ends[n] = i
            n += 1
    if stop == end:
        ends[n] = end
        n += 1
    return n
