"""Scanners: find where the pre-tokens of a UTF-8 text end.

A scanner writes the byte offset of each pre-token's end to `ends`, as far as its buffers reach,
and returns how many it wrote; the last is where the next call begins. A negative entry is the end
of a piece that the pattern drops (white space). If it returns 0, the buffers are too small for one
whole pre-token, and the caller doubles them.

GPT-2's pattern has its own scanner; the others run by the automaton that
`pretokenizers.automaton` compiles from the pattern. Their twins are the patterns in
`pretokenizers.named_patterns`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.hashing import eight_bytes

OTHER, SPACE, LETTER, NUMBER = 0, 1, 2, 3
"""The character kinds of GPT-2's pattern; the two lowest bits in a class table."""
AFTER_A_WORD = 3 << 2
"""The first entry of a class table that is not of a class that ends a word; see `shadows`."""

ENDS, STOPS, DROPS, BACK = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)
"""As in `pretokenizers.automaton`, whose tables the scanners of most patterns follow."""

_MARGIN = (
    8  # the furthest that a decision looks ahead, in bytes: a wide character and a contraction
)
_NOTHING = np.uint8(255)
_APOSTROPHES = np.uint64(0x2727272727272727)
_LOW_BITS = np.uint64(0x0101010101010101)
_HIGH_BITS = np.uint64(0x8080808080808080)


class Scanner(NamedTuple):
    """The tables of a pattern."""

    classes: NDArray[np.uint8]
    """uint8[0x110000]: the kind of each code point, and the number of its class << 2."""
    columns: NDArray[np.uint8]
    """uint8[256 + n_classes + 1]: the column of each character of ASCII, of each class, and of the
    end of the text."""
    rows: NDArray[np.int32]
    """int32[n_states * n_columns]: where in this array the row of the next state begins. Empty for
    GPT-2's pattern, which has its own scanner."""
    flags: NDArray[np.uint8]
    """uint8[n_states * n_columns]: ENDS, STOPS, DROPS or BACK of each transition."""


@part
def scan(text, begin, end, scanner, block_class, is_start, ends):
    """Find pre-token ends in text[begin:end] with a pattern's scanner.

    text: uint8[n] UTF-8. block_class, is_start: uint8 scratch of one size; ends: int64 of the same.
    """
    if scanner.rows.size == 0:
        return _scan_gpt2(text, begin, end, scanner.classes, block_class, is_start, ends)
    return _scan_by_automaton(text, begin, end, scanner, ends)


@part
def _code_point(text, i, end):
    """Return the code point at byte i; bytes past the end read as 0."""
    lead = np.int64(text[i])
    if lead < 0x80:
        return lead
    second = np.int64(text[i + 1]) & 63 if i + 1 < end else 0
    if lead < 0xE0:
        return (lead & 31) << 6 | second
    third = np.int64(text[i + 2]) & 63 if i + 2 < end else 0
    if lead < 0xF0:
        return (lead & 15) << 12 | second << 6 | third
    fourth = np.int64(text[i + 3]) & 63 if i + 3 < end else 0
    return (lead & 7) << 18 | second << 12 | third << 6 | fourth


@part
def _width(lead):
    """Return the number of bytes of a character, given its first byte."""
    if lead < 0x80:
        return 1
    if lead < 0xE0:
        return 2
    return 3 if lead < 0xF0 else 4


@part
def _contraction(text, i, end):
    """Return the byte length of 's 't 'd 'm 'll 've 're at an apostrophe, 0 for anything else."""
    if i + 1 >= end:
        return 0
    a = text[i + 1]
    if a == 115 or a == 116 or a == 100 or a == 109:
        return 2
    if i + 2 >= end:
        return 0
    b = text[i + 2]
    if (a == 108 and b == 108) or (a == 118 and b == 101) or (a == 114 and b == 101):
        return 3
    return 0


@part
def _scan_gpt2(text, begin, end, classes, block_class, is_start, ends):
    """Scan for GPT-2's pattern a block at a time, comparing each byte's class with its neighbours'.

    A pre-token starts where the class changes, except that one U+0020 joins what follows it, and at
    the last white space of a run followed by something else. LLVM vectorizes each loop below, which
    reaches 1.1 GB/s; a state machine reached 56 MB/s.
    """
    n = min(end - begin, block_class.size - 2 * _MARGIN)
    at_end = begin + n == end
    block = text[begin : begin + n]
    any_wide = np.uint8(0)
    any_apostrophe = np.uint8(0)
    for i in range(n):
        b = block[i]
        letter = np.uint8(((b | np.uint8(32)) - np.uint8(97)) & np.uint8(0xFF)) < np.uint8(26)
        digit = np.uint8((b - np.uint8(48)) & np.uint8(0xFF)) < np.uint8(10)
        space = (b == np.uint8(32)) | (np.uint8((b - np.uint8(9)) & np.uint8(0xFF)) < np.uint8(5))
        block_class[i + 1] = (
            np.uint8(letter) * np.uint8(LETTER)
            + np.uint8(digit) * np.uint8(NUMBER)
            + np.uint8(space)
        )
        any_wide |= b & np.uint8(0x80)
        any_apostrophe |= np.uint8(b == np.uint8(39))
    block_class[0] = _NOTHING
    # The end of the text counts as white space: a run there stays whole.
    block_class[n + 1] = np.uint8(SPACE) if at_end else _NOTHING
    any_wide_space = False
    if any_wide:
        any_wide_space = _classify_wide(block, n, classes, block_class)
    is_start[0] = 1
    for i in range(1, n):
        here, before, after = block_class[i + 1], block_class[i], block_class[i + 2]
        change = (here != before) & (block[i - 1] != np.uint8(32))
        last_space = (here == np.uint8(SPACE)) & (after != np.uint8(SPACE))
        is_start[i] = np.uint8(change | last_space)
    if any_wide_space:
        _move_wide_space_starts(block, n, block_class, is_start)
    if any_apostrophe:
        _cut_contractions(block, n, is_start)
    limit = n if at_end else n - _MARGIN
    written = 0
    for i in range(1, limit):
        ends[written] = begin + i
        written += np.int64(is_start[i])
    if at_end:
        ends[written] = end
        written += 1
    return written


@part
def _classify_wide(block, n, classes, block_class):
    """Set the class of all bytes of non-ASCII characters; return True if one is white space."""
    any_space = False
    i = np.int64(0)
    while i < n:
        if i + 8 <= n and not eight_bytes(block, np.uint64(i)) & _HIGH_BITS:
            i += 8
            continue
        if block[i] < 0x80:
            i += 1
            continue
        width = _width(block[i])
        found = classes[_code_point(block, i, n)] & np.uint8(3)
        any_space |= found == SPACE
        for j in range(i, min(i + width, n)):
            block_class[j + 1] = found
        i += width
    return any_space


@part
def _move_wide_space_starts(block, n, block_class, is_start):
    """Move the start marks of multi-byte white space from its last byte to its first."""
    i = 0
    while i < n:
        width = _width(block[i])
        if width > 1 and block_class[i + 1] == SPACE:
            last = i + width - 1
            if last < n and is_start[last]:
                is_start[i] = 1
            for j in range(i + 1, min(last + 1, n)):
                is_start[j] = 0
        i += width


@part
def _cut_contractions(block, n, is_start):
    """Mark the end of each pre-token that starts with 's, 't, 'll ..., even within a word."""
    for begin in range(0, n, 8):
        end = min(begin + 8, n)
        if end - begin == 8:
            others = eight_bytes(block, np.uint64(begin)) ^ _APOSTROPHES
            # True if no byte is zero.
            if not (others - _LOW_BITS) & ~others & _HIGH_BITS:
                continue
        for i in range(begin, end):
            if block[i] == 39 and is_start[i]:
                size = _contraction(block, i, n)
                if size:
                    for j in range(i + 1, i + size):
                        is_start[j] = 0
                    if i + size < n:
                        is_start[i + size] = 1


@part
def _scan_by_automaton(text, begin, end, scanner, ends):
    """Scan with a pattern's automaton, one transition per character, as far as the buffer reaches.

    A character waits for the state that the one before it led to, about ten processor cycles. So
    two halves are scanned in turns, which takes 60 % of the time. They are divided where a letter
    is before a space, because no pattern's pre-token crosses that.
    """
    stop = min(end, begin + ends.size)
    middle = _letter_before_space(text, begin + (stop - begin) // 2, stop)
    half = np.uint64(middle - begin)
    classes, columns = scanner.classes, scanner.columns
    rows, flags = scanner.rows, scanner.flags
    written, written2 = np.uint64(0), half
    state, state2 = np.uint64(0), np.uint64(0)
    last, last2 = np.int64(begin), np.int64(middle)
    i, j = np.int64(begin), np.int64(middle)
    # The same step, which `_scan_on` has too, is written out for both halves: the processor waits
    # for one half while it works on the other only if both are in one loop.
    while i < middle and j < stop:
        width, width2 = np.int64(1), np.int64(1)
        at = state + np.uint64(columns[text[i]])
        if text[i] >= np.uint8(0x80):
            width = np.int64(_width(text[i]))
            at = state + np.uint64(columns[_find_column(classes, _code_point(text, i, end))])
        at2 = state2 + np.uint64(columns[text[j]])
        if text[j] >= np.uint8(0x80):
            width2 = np.int64(_width(text[j]))
            at2 = state2 + np.uint64(columns[_find_column(classes, _code_point(text, j, end))])
        found, found2 = np.uint64(flags[at]), np.uint64(flags[at2])
        if (found | found2) & BACK:
            if found & BACK:
                ends[written] = last
                written += np.uint64(1)
                i, state = abs(last), np.uint64(0)
            if found2 & BACK:
                ends[written2] = last2
                written2 += np.uint64(1)
                j, state2 = abs(last2), np.uint64(0)
            continue
        here = -i if found & DROPS else i
        ends[written] = here
        written += found & ENDS
        last = here if found & STOPS else last
        state = np.uint64(rows[at])
        i += width
        here2 = -j if found2 & DROPS else j
        ends[written2] = here2
        written2 += found2 & ENDS
        last2 = here2 if found2 & STOPS else last2
        state2 = np.uint64(rows[at2])
        j += width2
    first_end = middle if middle < stop else end
    written = _scan_on(text, i, middle, first_end, state, last, scanner, ends, written)
    written2 = _scan_on(text, j, stop, end, state2, last2, scanner, ends, written2)
    for k in range(half, written2):
        ends[written] = ends[k]
        written += np.uint64(1)
    return np.int64(written)


@inlined
def _find_column(classes, code_point):
    """Return where in a scanner's columns the column of a character beyond ASCII is."""
    return np.int64(classes[code_point] >> np.uint8(2)) + 256


@part
def _letter_before_space(text, near, stop):
    """Return a space after an ASCII letter soon after `near`, or `stop` if there is none."""
    for i in range(near, min(near + 256, stop)):
        if text[i] == 32 and i > 0 and 97 <= text[i - 1] <= 122:
            return np.int64(i)
    return np.int64(stop)


@part
def _scan_on(text, i, stop, end, state, last, scanner, ends, written):
    """Scan text[i:stop] from a state on; return the number of ends, the text's own if stop is."""
    classes, columns = scanner.classes, scanner.columns
    rows, flags = scanner.rows, scanner.flags
    while True:
        found = np.uint64(0)
        while i < stop:
            width = np.int64(1)
            at = state + np.uint64(columns[text[i]])
            if text[i] >= np.uint8(0x80):
                width = np.int64(_width(text[i]))
                at = state + np.uint64(columns[_find_column(classes, _code_point(text, i, end))])
            found = np.uint64(flags[at])
            if found & BACK:
                break
            here = -i if found & DROPS else i
            ends[written] = here
            written += found & ENDS
            last = here if found & STOPS else last
            state = np.uint64(rows[at])
            i += width
        if not found & BACK:
            if stop < end or state == 0:
                return written
            at = state + np.uint64(columns[columns.size - 1])
            found = np.uint64(flags[at])
            if found & ENDS:
                ends[written] = -end if found & DROPS else end
                return written + np.uint64(1)
        ends[written] = last
        written += np.uint64(1)
        i = abs(last)
        state = np.uint64(0)
