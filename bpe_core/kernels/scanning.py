"""Scanners: find where the pre-tokens of a UTF-8 text end.

A scanner writes the byte offset of each pre-token's end to `ends`, as far as its buffers reach,
and returns how many it wrote; the last is where the next call begins. A negative entry is the end
of a piece that the pattern drops (white space). If it returns 0, the buffers are too small for one
whole pre-token, and the caller doubles them.

ASCII is scanned by masks (see `mask_scanning`), the rest by the automaton that
`pretokenizers.scanners` compiles from the pattern. For patterns that cut only before spaces,
masks of those are enough. The twins of all are the patterns in
`pretokenizers.named_patterns`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.intrinsics import BYTES
from bpe_core.kernels.mask_scanning import (
    BEFORE_SPACES,
    BY_AUTOMATON,
    FROM_RIGHT,
    scan_by_masks,
    scan_for_spaces,
)

OTHER, SPACE, LETTER, NUMBER = 0, 1, 2, 3
"""The character kinds of GPT-2's pattern; the two lowest bits in a class table."""
AFTER_A_WORD = 3 << 2
"""The first entry of a class table that is not of a class that ends a word."""

ENDS, STOPS, DROPS, BACK = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8)
"""As in `pretokenizers.scanners`, whose tables the scanners of most patterns follow."""


class Block(NamedTuple):
    """Sections of text, each pre-tokenized on its own."""

    text: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    """int64[n + 1]: the start of each section, and the end of the last."""


class Scanner(NamedTuple):
    """The tables of a pattern; those for an automaton are empty if it cuts only before spaces."""

    classes: NDArray[np.uint8]
    """uint8[0x110000]: the kind of each code point, and the number of its class << 2."""
    columns: NDArray[np.uint8]
    """uint8[256 + n_classes + 1]: the column of each character of ASCII, of each class, and of the
    end of the text."""
    rows: NDArray[np.int32]
    """int32[n_states * n_columns]: where in this array the row of the next state begins."""
    flags: NDArray[np.uint8]
    """uint8[n_states * n_columns]: ENDS, STOPS, DROPS or BACK of each transition."""
    rules: int
    """How to scan by masks: see `mask_scanning`."""
    joined: NDArray[np.uint8]
    """uint8[65536]: the pairs of bytes between which an encoder does not cut, if the pattern cuts
    only before spaces; empty for the pattern's own cuts."""


@part
def scan(text, begin, end, scanner, ends):
    """Find pre-token ends in text[begin:end] with a pattern's scanner.

    text: uint8[n] UTF-8. ends: int64[n], also the number of bytes scanned at a time.
    """
    stop = min(end, begin + ends.size)
    if scanner.rules & BEFORE_SPACES:
        return scan_for_spaces(text, begin, stop, end, scanner.rules, scanner.joined, ends)
    n = _scan_in_turns(text, begin, stop, end, scanner, ends)
    if scanner.rules & FROM_RIGHT:
        n = _cut_from_right(text, begin, end, scanner.classes, ends, n)
    return n


@part
def _scan_in_turns(text, begin, stop, end, scanner, ends):
    """Find pre-token ends in text[begin:stop] by masks and, where they don't suit, by automaton."""
    at = begin
    n = 0
    reach = BYTES
    while True:
        found, at = scan_by_masks(text, at, stop, scanner.rules, scanner.classes, ends[n:])
        n += found
        if found:
            reach = BYTES
            if stop < end and at + BYTES > stop:
                return n
        # The more there is in a row that masks don't suit, the longer the next stretch.
        until = min(stop, at + reach)
        found = _scan_by_automaton(text, at, until, end, scanner, ends[n:])
        n += found
        if until == stop:
            return n
        if found:
            at = abs(ends[n - 1])
        reach *= 2


@part
def _cut_from_right(text, begin, end, classes, ends, n):
    """Move the ends within numbers, which are cut in threes from the left; return how many stand.

    A number has as many parts from either side. If its end is not reached yet, neither are those.
    """
    start = begin
    i = 0
    while i < n:
        first = i
        after = start
        while i < n and classes[_code_point(text, after, end)] & 3 == NUMBER:
            after = ends[i]
            i += 1
        if i == first:
            start = ends[i]
            i += 1
            continue
        if i == n and after < end and classes[_code_point(text, after, end)] & 3 == NUMBER:
            return first
        at = after
        for k in range(i - 2, first - 1, -1):
            for _ in range(3):
                at -= 1
                while text[at] & 0xC0 == 0x80:
                    at -= 1
            ends[k] = at
        start = after
    return n


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
def _scan_by_automaton(text, begin, stop, end, scanner, ends):
    """Scan text[begin:stop] with a pattern's automaton, one transition per character.

    A character waits for the state that the one before it led to, about ten processor cycles. So
    two halves are scanned in turns, which takes 60 % of the time. They are divided where a letter
    is before a space, because no pattern's pre-token crosses that but those of superwords.
    """
    middle = np.int64(stop)
    if not scanner.rules & BY_AUTOMATON:
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
