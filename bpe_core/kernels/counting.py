"""Count distinct pre-tokens, record where each first occurs, and lay them out in a row.

The twins are `Counter(pretokenizer.split(text))`, and what `counting.word_row` does in NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel
from bpe_core.kernels.hashing import LONG, same_bytes, spread_word, word_key, word_width
from bpe_core.kernels.scanning import AFTER_A_WORD, LETTER, OTHER, SPACE, scan
from bpe_core.unicode import AFTER_WORD

DONE, SMALL_BUFFERS, SMALL_TABLE = 0, 1, 2

ENTRY = 4
"""uint64 numbers per entry of a word table: key, key, count, number. An entry is free if its second
number is 0, which no word's is.

The 32 bytes lie within one cache line: 100 MB take about 20 million lookups, which are bound by
memory latency. With separate arrays for key, count and place, each lookup waited for four lines,
which was three quarters of the time of counting.
"""

_ENTRY = np.uint64(ENTRY)
_HIGH = np.uint64(1)
_COUNT = np.uint64(2)
_NUMBER = np.uint64(3)
_FREE = np.uint64(0)
_ONE = np.uint64(1)


class WordTable(NamedTuple):
    """Words seen so far: an open-addressing table, and lists by the words' numbers."""

    entries: NDArray[np.uint64]
    """uint64[ENTRY * n], n a power of two."""
    starts: NDArray[np.int64]
    """int64[n], at least `word_capacity` the entries: where a word's bytes start in letters."""
    firsts: NDArray[np.int64]
    """int64[n], as many: the offset of its first occurrence in everything counted."""
    letters: NDArray[np.uint8]
    """uint8[n]: the words, AFTER_WORD after each."""
    used: NDArray[np.int64]
    """int64[2]: the number of words, and of bytes of letters."""


class Batch(NamedTuple):
    """Words that are looked up together."""

    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    """uint64[n]: keys, see hashing.word_key."""
    starts: NDArray[np.uint64]
    """uint64[n]: where each starts in the text."""
    places: NDArray[np.uint64]
    """uint64[n]: where the search for each in the table begins."""
    fetched: NDArray[np.uint64]
    """uint64[n]: what was there; see `_look_up`."""


@inlined
def word_capacity(entries):
    """Return how many words fit among the entries before lookups become slow."""
    return entries.size // ENTRY * 3 // 4


@inlined
def _has_room(words, n_words, n_bytes):
    """Return True if more words, of `n_bytes` bytes in all, fit into a table."""
    return (
        words.used[0] + n_words <= word_capacity(words.entries)
        and words.used[1] + n_bytes + n_words <= words.letters.size
    )


@inlined
def _free_place(entries, low, high):
    """Return where a word's entry starts if no other word is there."""
    return (spread_word(low, high) & np.uint64(entries.size // ENTRY - 1)) * _ENTRY


@inlined
def _find_entry(words, low, high, place, text, start):
    """Search from `place` on; return where the word's entry, or the free one for it, starts."""
    entries = words.entries
    last = np.uint64(entries.size - 1)
    while entries[place + _HIGH] != _FREE:
        if entries[place] == low and entries[place + _HIGH] == high:
            if high < LONG:
                break
            known = np.uint64(words.starts[np.int64(entries[place + _NUMBER])])
            if same_bytes(words.letters, known, text, start, word_width(high)):
                break
        place = (place + _ENTRY) & last
    return place


@inlined
def _enter(words, place, low, high, text, start, first):
    """Enter a new word with a count of 0; there must be room for it."""
    number = words.used[0]
    offset = np.uint64(words.used[1])
    width = word_width(high)
    words.entries[place] = low
    words.entries[place + _HIGH] = high
    words.entries[place + _COUNT] = np.uint64(0)
    words.entries[place + _NUMBER] = np.uint64(number)
    words.starts[number] = np.int64(offset)
    words.firsts[number] = first
    for k in range(width):
        words.letters[offset + np.uint64(k)] = text[start + np.uint64(k)]
    words.letters[offset + width] = np.uint8(AFTER_WORD)
    words.used[0] = number + 1
    words.used[1] = np.int64(offset + width + _ONE)


@inlined
def _look_up(text, begin, ends, i, n_ends, entries, batch):
    """Find where the search for the words that end at ends[i : i + n_ends] begins.

    Returns the number of words, which excludes pieces that the pattern drops, and of their bytes.
    The second loop only fetches, so that the processor waits for about twenty entries at a time.
    """
    n = np.int64(0)
    n_bytes = np.int64(0)
    start = np.uint64(begin)
    for j in range(i, i + n_ends):
        stop = np.uint64(abs(ends[j]))
        width = stop - start
        low, high = word_key(text, start, width)
        batch.low[n] = low
        batch.high[n] = high
        batch.starts[n] = start
        batch.places[n] = _free_place(entries, low, high)
        kept = np.int64(ends[j] > 0)
        n += kept
        n_bytes += kept * np.int64(width)
        start = stop
    for j in range(n):
        batch.fetched[j] = entries[batch.places[j]]
    return n, n_bytes


@kernel
def count_ends(text, begin, ends, n_ends, words, batch, base):
    """Count the words between a scanner's ends; return how many ends fitted into the table.

    base: the offset of the text in everything counted.
    """
    entries = words.entries
    start = begin
    size = batch.low.size
    for i in range(0, n_ends, size):
        n = min(size, n_ends - i)
        n_words, n_bytes = _look_up(text, start, ends, i, n, entries, batch)
        # Check for room once per batch, as if all its words were new.
        if not _has_room(words, n_words, n_bytes):
            return i
        for j in range(n_words):
            low, high, at = batch.low[j], batch.high[j], batch.starts[j]
            place = _find_entry(words, low, high, batch.places[j], text, at)
            if entries[place + _HIGH] == _FREE:
                _enter(words, place, low, high, text, at, base + np.int64(at))
            entries[place + _COUNT] += _ONE
        start = abs(ends[i + n - 1])
    return n_ends


@kernel
def count_words(scanner, text, bounds, ends, words, batch, base, reached):
    """Count the pre-tokens of each section of a text; return why counting stopped.

    bounds: int64[n + 1], where the sections start, and where the last ends. reached: int64[2], the
    section and the byte to start at; updated, so that the call can be repeated with more room.
    """
    section = reached[0]
    position = reached[1]
    status = DONE
    while section < bounds.size - 1 and status == DONE:
        end = bounds[section + 1]
        while position < end:
            n_ends = scan(text, position, end, scanner, ends)
            if n_ends == 0:
                status = SMALL_BUFFERS
                break
            taken = count_ends(text, position, ends, n_ends, words, batch, base)
            if taken:
                position = abs(ends[taken - 1])
            if taken < n_ends:
                status = SMALL_TABLE
                break
        if status == DONE:
            section += 1
    reached[0] = section
    reached[1] = position
    return status


@kernel
def fold_words(source, counts, taken, words, batch):
    """Add the words of a table, given their counts by number, to another, from number `taken` on.

    Words are taken by number, so that the source is read from front to back, and new words stay in
    the order they were first seen. Return how many are taken when the other table is full.
    """
    entries = words.entries
    n_words = source.used[0]
    size = batch.low.size
    for begin in range(taken, n_words, size):
        n = min(size, n_words - begin)
        stop = source.starts[begin + n] if begin + n < n_words else source.used[1]
        # As if all of them were new.
        if not _has_room(words, n, stop - source.starts[begin] - n):
            return begin
        for j in range(n):
            after = begin + j + 1
            start = np.uint64(source.starts[after - 1])
            end = np.uint64(source.starts[after] if after < n_words else source.used[1])
            low, high = word_key(source.letters, start, end - start - _ONE)
            batch.low[j] = low
            batch.high[j] = high
            batch.starts[j] = start
            batch.places[j] = _free_place(entries, low, high)
        for j in range(n):
            batch.fetched[j] = entries[batch.places[j]]
        for j in range(n):
            low, high, start = batch.low[j], batch.high[j], batch.starts[j]
            first = source.firsts[begin + j]
            place = _find_entry(words, low, high, batch.places[j], source.letters, start)
            if entries[place + _HIGH] == _FREE:
                _enter(words, place, low, high, source.letters, start, first)
            known = np.int64(entries[place + _NUMBER])
            words.firsts[known] = min(words.firsts[known], first)
            entries[place + _COUNT] += np.uint64(counts[begin + j])
    return n_words


@kernel
def spread_entries(entries):
    """Spread the entries of a word table, which fill its first half, over all of it.

    entries: uint64[ENTRY * n], n a power of two; at least one entry of the first half is free, and
    the second half is overwritten. No other memory is needed. Entries move in the order in which
    lookups try places, from a free one on, so that none is left in the way of one that has moved.
    """
    half = np.uint64(entries.size // 2)
    for i in range(half, np.uint64(entries.size)):
        entries[i] = _FREE
    last = np.uint64(entries.size - 1)
    begin = np.uint64(0)
    while entries[begin + _HIGH] != _FREE:
        begin += _ENTRY
    for i in range(_ONE, half // _ENTRY):
        at = (begin + i * _ENTRY) & (half - _ONE)
        low, high = entries[at], entries[at + _HIGH]
        if high != _FREE:
            count, number = entries[at + _COUNT], entries[at + _NUMBER]
            entries[at + _HIGH] = _FREE
            place = _free_place(entries, low, high)
            while entries[place + _HIGH] != _FREE:
                place = (place + _ENTRY) & last
            entries[place] = low
            entries[place + _HIGH] = high
            entries[place + _COUNT] = count
            entries[place + _NUMBER] = number


@kernel
def gather_counts(entries, counts):
    """Write each word's count to counts[its number]."""
    for entry in range(0, entries.size, ENTRY):
        at = np.uint64(entry)
        if entries[at + _HIGH] != _FREE:
            counts[np.int64(entries[at + _NUMBER])] = np.int64(entries[at + _COUNT])


@kernel
def copy_words(words, order, letters):
    """Write the words to `letters` in the given order of numbers, AFTER_WORD after each."""
    at = np.uint64(0)
    for i in range(order.size):
        known = np.uint64(words.starts[order[i]])
        letter = words.letters[known]
        while letter != AFTER_WORD:
            letters[at] = letter
            at += _ONE
            known += _ONE
            letter = words.letters[known]
        letters[at] = np.uint8(AFTER_WORD)
        at += _ONE


@kernel
def safe_split(text, near, end, classes, before_space_only):
    """Find a byte from `near` on where the text can be cut without changing any pre-token.

    Under every pattern, a run of letters ends before white space; unless the pattern takes whole
    words, also before punctuation other than apostrophes and marks. Returns `end` if there is none.
    """
    i = near
    while i < end and text[i] & 0xC0 == 0x80:
        i += 1
    after_letter = False
    while i < end:
        width = 1
        code = np.int64(text[i])
        if code >= 0x80:
            width = 2 if code < 0xE0 else 3 if code < 0xF0 else 4
            code &= 31 if width == 2 else 15 if width == 3 else 7
            for k in range(1, width):
                code = code << 6 | np.int64(text[i + k]) & 63
        kind = classes[code] & 3
        ends_word = kind == OTHER and classes[code] < AFTER_A_WORD and code != 39
        if after_letter and (kind == SPACE or (ends_word and not before_space_only)):
            return i
        after_letter = kind == LETTER
        i += width
    return end


_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
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
