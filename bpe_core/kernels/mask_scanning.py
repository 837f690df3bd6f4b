"""Scan 64 bytes at a time, with a mask for each kind of character: ASCII and letters of two bytes.

A window of 64 bytes begins where a pre-token does, so nothing before it matters. The starts of the
pre-tokens in it follow from the masks by shifts: `mask << 1` says of each character what the one
before it is, `mask >> 1` what the one after it is. The next window begins at the last start that
does not depend on what is outside of this one, usually 57 bytes on. Where there is none, as at
other characters or in a very long word, `scanning` goes on by the pattern's automaton.

Here, the named patterns differ only in the rules below. The patterns themselves specify this.

Some patterns cut before spaces and nowhere else: `scan_for_spaces` needs neither the classes of
other characters nor an automaton.

Such words are long in code, and few recur. Where no token of a tokenizer contains two adjacent
bytes, no merge joins them, so an encoder may cut there too: between letters and most signs, and
around new lines. The parts recur as GPT-2's words do.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.compiling.decorate import inlined, part
from bpe_core.kernels.intrinsics import (
    BYTES,
    bytes_between,
    count_ones,
    leading_zeros,
    trailing_zeros,
)

SPACE_BEFORE_NUMBERS = 1 << 0
SPACE_BEFORE_SIGNS = 1 << 1
"""A space joins the number, or the signs, after it. It always joins the letters after it."""
ANY_BEFORE_LETTERS = 1 << 2
"""Other white space but newlines joins the letters after it too, and so does a single sign."""
NEWLINES = 1 << 3
"""Newlines join the signs before them, and otherwise the white space before them."""
SLASHES = 1 << 4
"""Slashes among the newlines after signs join these too."""
CASES = 1 << 5
"""A capital letter after a small one begins a word."""
THREE_DIGITS = 1 << 6
ONE_DIGIT = 1 << 7
"""The longest number; without these, numbers are of any length."""
CONTRACTIONS = 1 << 8
CONTRACTIONS_AFTER_LETTERS = 1 << 9
"""'s, 't, 'll and such are words; or they join the word before them."""
CAPITAL_CONTRACTIONS = 1 << 10
"""They may be in capital letters."""
WHOLE_BEFORE_NUMBERS = 1 << 11
WHOLE_BEFORE_SIGNS = 1 << 12
"""The last of the white space before a number, or before signs, stays with the rest."""
WORDS = 1 << 13
"""Words of letters, numbers and `_`, and single signs; white space is dropped."""
WORDS_OF_ANYTHING = 1 << 14
"""Words of all that is not white space, which is dropped."""
BY_AUTOMATON = 1 << 19
"""No rule here describes the pattern, whose pre-tokens also cross a letter before a space."""
FROM_RIGHT = 1 << 20
"""Numbers are counted in threes from the right; `scanning` moves their ends once they are known."""
WIDE_LETTERS = 1 << 18
"""Letters beyond ASCII are like those of ASCII."""

_CONTRACTION = 3
"""The most bytes of a contraction."""
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_SMALL = np.uint8(32)
"""The bit that tells small letters from capital ones."""
_CAPITAL, _SMALL_LETTER, _LAST_LETTER = 6 << 2 | 2, 7 << 2 | 2, 9 << 2 | 2
"""Entries of the class table; what lies between is other letters. See `named_patterns`."""


@part
def scan_by_masks(text, begin, stop, rules, classes, ends):
    """Find ends in text[begin:stop] as far as possible; return how many, and the last or `begin`.

    classes: of each code point. ends: int64, with room for one end per byte of text[begin:stop].
    """
    n = 0
    at = begin
    while at + BYTES <= stop and not rules & BY_AUTOMATON:
        starts, spaces = _find_starts(text, at, rules, classes)
        if not starts:
            break
        left = starts
        k = n
        # Four at a time, as each turn may be mispredicted; what is too much is overwritten.
        while left:
            for j in range(4):
                ends[k + j] = at + trailing_zeros(left)
                left &= left - _ONE
            k += 4
        found = count_ones(starts)
        if rules & (WORDS | WORDS_OF_ANYTHING):
            for k in range(n, n + found):
                if spaces >> np.uint64(ends[k] - at - 1) & _ONE:
                    ends[k] = -ends[k]
        n += found
        at += BYTES - 1 - leading_zeros(starts)
    return n, at


@inlined
def _find_starts(text, at, rules, classes):
    """Return masks of the known starts of pre-tokens in text[at + 1 : at + 64], and of white space.

    A pre-token starts at `at`.
    """
    capitals = bytes_between(text, at, 65, 90)
    letters = capitals | bytes_between(text, at, 97, 122)
    numbers = bytes_between(text, at, 48, 57)
    space = bytes_between(text, at, 32, 32)
    spaces = space | bytes_between(text, at, 9, 13)
    printed = bytes_between(text, at, 33, 126)
    signs = printed & ~(letters | numbers)
    # Controls are rare, and some patterns tell them from other signs.
    others = ~(printed | spaces)
    if others and rules & WIDE_LETTERS:
        wide, wide_capitals = _find_wide_letters(text, at, others, rules, classes)
        letters |= wide
        capitals |= wide_capitals
        others &= ~wide
    n_known = trailing_zeros(others)
    last = n_known - _CONTRACTION - 1
    if last <= 0:
        return np.uint64(0), spaces
    # Where white space ends is decisive, but at the end of the window that is not known.
    last = min(last, BYTES - leading_zeros(~spaces & _ALL >> np.uint64(BYTES - n_known)))
    known = _ALL >> np.uint64(BYTES - 1 - last)
    if rules & WORDS_OF_ANYTHING:
        starts = spaces ^ spaces << _ONE
    elif rules & WORDS:
        words = letters | numbers | bytes_between(text, at, 95, 95)
        starts = _firsts(spaces) | _firsts(words) | printed & ~words
    else:
        newlines = np.uint64(0)
        starts = np.uint64(0)
        kept = spaces  # all white space that does not join the signs before it
        if rules & NEWLINES:
            newlines = bytes_between(text, at, 10, 10) | bytes_between(text, at, 13, 13)
            joining = newlines
            if rules & SLASHES:
                joining |= bytes_between(text, at, 47, 47)
            joined = _flood(newlines & signs << _ONE, joining)
            kept = spaces & ~joined
            signs &= ~joined
            starts = _starts_after_newlines(kept, newlines)
        before_others = ~newlines & ~(spaces >> _ONE)
        if rules & WHOLE_BEFORE_NUMBERS:
            before_others &= ~(numbers >> _ONE)
        if rules & WHOLE_BEFORE_SIGNS:
            before_others &= ~(signs >> _ONE)
        starts |= _firsts(kept) | spaces & before_others
        sign_starts = _firsts(signs)
        if rules & SPACE_BEFORE_SIGNS:
            sign_starts &= ~(space << _ONE)
        before_letters = space
        if rules & ANY_BEFORE_LETTERS:
            before_letters = spaces & ~newlines | sign_starts
        starts |= sign_starts | _firsts(letters) & ~(before_letters << _ONE)
        if rules & CASES:
            starts |= capitals & (letters & ~capitals) << _ONE
        if rules & ONE_DIGIT:
            starts |= numbers
        elif rules & THREE_DIGITS:
            starts |= _every_third(numbers)
        else:
            starts |= _firsts(numbers) & ~(space << _ONE)
        if rules & CONTRACTIONS:
            quotes = bytes_between(text, at, 39, 39) & starts & known
            starts = _cut_contractions(text, at, quotes, starts, _ONE, rules)
        if rules & CONTRACTIONS_AFTER_LETTERS:
            quotes = bytes_between(text, at, 39, 39) & letters << _ONE & known
            starts = _cut_contractions(text, at, quotes, starts, np.uint64(0), rules)
    return starts & known & ~_ONE, spaces


@part
def _find_wide_letters(text, at, others, rules, classes):
    """Return masks of the letters of two bytes before any other, and of the capital ones."""
    letters = np.uint64(0)
    capitals = np.uint64(0)
    while others:
        i = trailing_zeros(others)
        lead = np.int64(text[at + i])
        if i == BYTES - 1 or lead < 0xC0 or lead >= 0xE0:
            break
        kind = classes[(lead & 31) << 6 | np.int64(text[at + i + 1]) & 63]
        both = _THREE << np.uint64(i)
        if kind == _CAPITAL:
            capitals |= both
        elif kind != _SMALL_LETTER and (kind < _CAPITAL or kind > _LAST_LETTER or rules & CASES):
            break
        letters |= both
        others &= ~both
    return letters, capitals


@inlined
def _firsts(mask):
    """Return the first of each run of ones."""
    return mask & ~(mask << _ONE)


@inlined
def _flood(seeds, mask):
    """Return, of each run of ones in a mask, what is above its lowest seed, and that seed."""
    return mask & (~(mask + seeds) | seeds)


@inlined
def _starts_after_newlines(spaces, newlines):
    """Return where white space begins that follows a newline and is not followed by another."""
    others = spaces & ~newlines
    firsts = _firsts(others)
    starts = firsts
    # What a newline follows begins no pre-token, unless all white space begins there.
    followed = (others + firsts) & ~others & newlines
    while followed:
        below = firsts & ((followed & ~followed + _ONE) - _ONE)
        starts &= ~(_ONE << np.uint64(BYTES - 1 - leading_zeros(below)))
        followed &= followed - _ONE
    return starts


@inlined
def _every_third(numbers):
    """Return every third digit of each run, from the first on."""
    starts = _firsts(numbers)
    after_three = numbers & numbers << _ONE & numbers << _TWO
    more = starts << _THREE & after_three
    while more:
        starts |= more
        more = more << _THREE & after_three
    return starts


@inlined
def _cut_contractions(text, at, quotes, starts, n_kept, rules):
    """Let each contraction at one of these quotes end a pre-token.

    n_kept: 1 if it also begins one, 0 if it joins what is before it.
    """
    end = -1
    while quotes:
        i = trailing_zeros(quotes)
        quotes &= quotes - _ONE
        width = _contraction(text, at + i, rules)
        if width and i != end:
            after = _ONE << np.uint64(i + width)
            starts = starts & ~(after - (_ONE << np.uint64(i) + n_kept)) | after
            end = i + width if not n_kept else -1
    return starts


@part
def _contraction(text, i, rules):
    """Return the byte length of 's 't 'd 'm 'll 've 're at an apostrophe, 0 for anything else."""
    a, b = text[i + 1], text[i + 2]
    if rules & CAPITAL_CONTRACTIONS:
        a |= _SMALL
        b |= _SMALL
    if a == 115 or a == 116 or a == 100 or a == 109:
        return 2
    if (a == 108 and b == 108) or (a == 118 and b == 101) or (a == 114 and b == 101):
        return 3
    return 0


BEFORE_SPACES = 1 << 15
"""A text is cut before each run of spaces; the other rules add to this, or change it."""
EACH_SPACE = 1 << 16
"""It is cut before each space of a run."""
NOT_AFTER_GREATER = 1 << 17
"""It is not cut before a space that follows >."""

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

    joined: as in `word_merging.MergeTable`, to cut where no token is too, or empty. ends: int64,
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
