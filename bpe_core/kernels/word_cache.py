"""Remember the ids of the words of up to 255 bytes that one thread has encoded.

Narrow words, of up to 7 bytes and two ids as four in five are, have a table of their own, with less
to compare and to fetch. Each word has one row of its table, which holds four words; a new one takes
the place of any other in a full row. Tables that lose many are copied to some of twice the size: a
small table is faster while the words of a text fit into it.

The key of a word of up to 15 bytes is its bytes. That of a longer one is a hash, so its bytes are
kept too, and compared.

New words of a batch are merged together. To merge two tokens, a kernel must look up which pairs
that makes, in a table too large for the processor's nearer caches. If one word after another is
merged, that is most of the time that new text takes. So all words of a batch do one merge each, and
then the next: meanwhile the processor fetches the places of all their pairs.

The twin is `tokenizer.rank_merging.merge_by_scan`.

Whole words, the tokens that merges never make, have a table of their own: some tokenizers look
those up first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import inlined, kernel, part
from bpe_core.kernels.hashing import (
    LONG,
    same_bytes,
    spread_narrow,
    spread_word,
    word_key,
    word_width,
)
from bpe_core.kernels.intrinsics import (
    find_both_in_four,
    find_in_four,
    leading_zeros,
    lowest_of_sixteen,
    prefetch,
    store_pair,
    trailing_zeros,
)
from bpe_core.kernels.word_merging import find_rank, made_by, pair_row

NARROW_ROW = 8
"""uint64 numbers per row of narrow words, 64 bytes: four keys, then the ids of each.

There is room for two ids of 32 bits; their number is in the top byte of the first.
"""
WORD_ROW = 16
"""uint64 numbers per row of others, 128 bytes: the first halves of four keys, their second halves,
and as many of the ids, of which there are up to four.

If there are more, the second half of the ids holds their position in the arena. For a long word,
the first half is zero, and the second holds the positions of its letters and, in the arena, of the
number of its ids and these.
"""
SHORT_WORD = 15
"""The most bytes that a key can hold."""
LONG_WORD = 255
"""The most bytes of a word that is cached."""
SLACK = SHORT_WORD + 1
"""The most ids that are written for a short word, some of them past its last."""
ID_BITS = 24
"""An id and the number of a word's ids share 32 bits, so ids are below 2**24."""
MAX_ROWS = 1 << 16
"""12 MB. Source code of 10 MB was encoded 2 to 3 times as fast as with a quarter of it."""

FIRST, LAST = np.uint64(8), np.uint64(12)
"""Where in a row the two halves of ids are."""
_CACHED_IDS = np.int64(4)
_NARROW_IDS = np.int64(2)
_NARROW_HIGH = np.uint64(7 << 56)
_COUNT_AT = np.uint64(ID_BITS)
_ID = np.uint64((1 << ID_BITS) - 1)
_ID_COUNT = np.uint64(0xFF)
_IDS = np.uint64(0xFFFFFFFF << 32 | (1 << ID_BITS) - 1)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)
_EMPTY = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_INLINE = np.uint64(4)
_FOUR = np.uint64(4)
_SLACK = np.uint64(SLACK)


class CachedWords(NamedTuple):
    """The words that one thread has encoded."""

    narrow: NDArray[np.uint64]
    """uint64[n * NARROW_ROW], n a power of two."""
    others: NDArray[np.uint64]
    """uint64[n * WORD_ROW]"""
    arena: NDArray[np.int32]
    """int32: the ids of words with more ids than fit into an entry, one word after another. The
    last SLACK numbers are never written, so that sixteen can be read from any word on."""
    letters: NDArray[np.uint8]
    """uint8: the bytes of words too long for a key, one word after another."""
    used: NDArray[np.int64]
    """int64[3]: how much of the arena is used; how many words were pushed out, or not cached
    because the arena or the letters were full; how many letters are used."""


@inlined
def find_row(others, low, high):
    """Return where the row of a word's key starts."""
    return (spread_word(low, high) & np.uint64(others.size // WORD_ROW - 1)) * np.uint64(WORD_ROW)


@inlined
def find_narrow_row(narrow, key):
    """Return where the row of a narrow word's key starts."""
    return (spread_narrow(key) & np.uint64(narrow.size // NARROW_ROW - 1)) * np.uint64(NARROW_ROW)


@inlined
def append_found(first, last, j, n, arena, out, k):
    """Append the ids of entries from j on, up to n or to a word that was not found; return j and k.

    Always writing four or sixteen ids avoids mispredicted branches.
    """
    at, number, end = np.uint64(k), np.uint64(j), np.uint64(n)
    while number < end:
        entry, rest = first[number], last[number]
        count = entry >> _COUNT_AT & _ID_COUNT
        if count - _ONE < _INLINE:  # a count of 0 becomes very large
            store_pair(out, at, entry & _IDS)
            store_pair(out, at + _TWO, rest)
        elif count:
            for i in range(_SLACK):
                out[at + i] = arena[rest + i]
        else:
            break
        at += count
        number += _ONE
    return np.int64(number), np.int64(at)


@part
def remember(cache, low, high, ids, start, n):
    """Store a word and ids[start : start + n]; return what is stored.

    The latter is two zeros if there is no room.
    """
    arena, used = cache.arena, cache.used
    if n > _CACHED_IDS and used[0] + n > arena.size - SLACK:
        used[1] += 1
        return _EMPTY, _EMPTY
    first = np.uint64(ids[start]) | np.uint64(n) << _COUNT_AT
    last = np.uint64(0)
    if n > _CACHED_IDS:
        last = np.uint64(used[0])
        for j in range(n):
            arena[used[0] + j] = ids[start + j]
        used[0] += n
    else:
        if n > 1:
            first |= np.uint64(ids[start + 1]) << _HALF
        if n > 2:
            last = np.uint64(ids[start + 2])
        if n > 3:
            last |= np.uint64(ids[start + 3]) << _HALF
    if n <= _NARROW_IDS and high <= _NARROW_HIGH:
        _enter_narrow(cache, low | high, first)
    else:
        _enter(cache, low, high, first, last)
    return first, last


@part
def prefer(cache, low, high, ids, number):
    """Store ids[number] as a word's only id, in place of any one id that was stored before."""
    narrow, others = cache.narrow, cache.others
    first = np.uint64(ids[number]) | _ONE << _COUNT_AT
    if high <= _NARROW_HIGH:
        row = find_narrow_row(narrow, low | high)
        place = find_in_four(narrow, row, low | high)
        if place < _FOUR:
            narrow[row + _FOUR + place] = first
            return
    else:
        row = find_row(others, low, high)
        place = find_both_in_four(others, row, low, high)
        if place < _FOUR:
            others[row + FIRST + place] = first
            return
    remember(cache, low, high, ids, number, np.int64(1))


@part
def remember_new(cache, low, high, ids, n):
    """Store a word and its ids, unless it has been; return what is stored, zeros if nothing."""
    narrow, others = cache.narrow, cache.others
    if high <= _NARROW_HIGH:
        row = find_narrow_row(narrow, low | high)
        place = find_in_four(narrow, row, low | high)
        if place < _FOUR:
            return narrow[row + _FOUR + place], _EMPTY
    row = find_row(others, low, high)
    place = find_both_in_four(others, row, low, high)
    if place < _FOUR:
        return others[row + FIRST + place], others[row + LAST + place]
    return remember(cache, low, high, ids, np.int64(0), n)


@inlined
def append_cached_long(cache, low, high, text, start, width, out, k):
    """Append the ids of a word too long for a key; return k if it is not in the cache.

    low, high: its hash.
    """
    others, arena = cache.others, cache.arena
    row = find_row(others, low, high)
    for place in range(find_both_in_four(others, row, low, high), _FOUR):
        places = others[row + LAST + place]
        if (
            others[row + place] == low
            and others[row + _FOUR + place] == high
            and same_bytes(cache.letters, places >> _HALF, text, np.uint64(start), np.uint64(width))
        ):
            first = places & _LOW_HALF
            n = np.uint64(arena[first])
            for i in range(_EMPTY, n, _SLACK):
                for j in range(i, i + _SLACK):
                    out[np.uint64(k) + j] = arena[first + _ONE + j]
            return k + np.int64(n)
    return k


@part
def remember_long(cache, text, start, width, ids, first, n):
    """Store a word too long for a key and ids[first : first + n]."""
    arena, letters, used = cache.arena, cache.letters, cache.used
    if used[0] + 1 + n > arena.size - SLACK or used[2] + width > letters.size:
        used[1] += 1
        return
    arena[used[0]] = n
    for j in range(n):
        arena[used[0] + 1 + j] = ids[first + j]
    for j in range(width):
        letters[used[2] + j] = text[start + j]
    low, high = word_key(text, np.uint64(start), np.uint64(width))
    places = np.uint64(used[2]) << _HALF | np.uint64(used[0])
    _enter(cache, low, high, _EMPTY, places)
    used[0] += 1 + n
    used[2] += width


@part
def remember_new_long(cache, low, high, text, start, ids, n):
    """Store a word too long for a key and ids[:n], unless one of the same key has been."""
    others = cache.others
    if find_both_in_four(others, find_row(others, low, high), low, high) == _FOUR:
        remember_long(cache, text, start, np.int64(word_width(high)), ids, np.int64(0), n)


@part
def _enter_narrow(cache, key, first):
    """Store a narrow word where its row is empty, or in place of any other."""
    narrow = cache.narrow
    row = find_narrow_row(narrow, key)
    at = row + _place_for_new(cache, find_in_four(narrow, row, _EMPTY))
    narrow[at] = key
    narrow[at + _FOUR] = first


@part
def _enter(cache, low, high, first, last):
    """Store another word where its row is empty, or in place of any other."""
    others = cache.others
    row = find_row(others, low, high)
    at = row + _place_for_new(cache, find_in_four(others, row + _FOUR, _EMPTY))
    others[at] = low
    others[at + _FOUR] = high
    others[at + FIRST] = first
    others[at + LAST] = last


@inlined
def _place_for_new(cache, empty):
    """Return the empty place of a row, or if there is none, which of its words is lost."""
    if empty < _FOUR:
        return empty
    # If it were always the oldest, five words that take turns would all be lost each time.
    cache.used[1] += 1
    return np.uint64(cache.used[1]) & _THREE


@inlined
def is_crowded(cache):
    """Return whether the words that were lost are more than half as many as the rows.

    Merging that many words again takes longer than copying the table.
    """
    n_rows = cache.others.size // WORD_ROW
    return n_rows < MAX_ROWS and cache.used[1] > n_rows // 2


@kernel
def copy_words(cache, larger):
    """Copy all words into an empty cache with at least as many rows and as large arrays."""
    for k in range(cache.used[0]):
        larger.arena[k] = cache.arena[k]
    for k in range(cache.used[2]):
        larger.letters[k] = cache.letters[k]
    larger.used[0] = cache.used[0]
    larger.used[2] = cache.used[2]
    narrow, others = cache.narrow, cache.others
    for n in range(narrow.size // NARROW_ROW):
        for k in range(4):
            at = np.uint64(n * NARROW_ROW + k)
            if narrow[at] != _EMPTY:
                _enter_narrow(larger, narrow[at], narrow[at + _FOUR])
    for n in range(others.size // WORD_ROW):
        for k in range(4):
            at = np.uint64(n * WORD_ROW + k)
            if others[at + _FOUR] != _EMPTY:
                low, high = others[at], others[at + _FOUR]
                _enter(larger, low, high, others[at + FIRST], others[at + LAST])


class WholeWords(NamedTuple):
    """The tokens that the merges never make, of a tokenizer that looks up whole words first."""

    places: NDArray[np.int32]
    """int32[n], a power of two: the number of the word at each place, -1 at a free one."""
    keys: NDArray[np.uint64]
    """uint64[2 * n_words]; see hashing.word_key."""
    starts: NDArray[np.int64]
    """int64[n_words + 1]: where each word's bytes are in letters."""
    letters: NDArray[np.uint8]
    ids: NDArray[np.int32]
    """int32[n_words]"""


@kernel
def enter_whole_words(whole, joined):
    """Fill the empty table of whole words, and mark their bytes so that none is cut."""
    mask = np.uint64(whole.places.size - 1)
    for word in range(whole.ids.size):
        start, stop = whole.starts[word], whole.starts[word + 1]
        for i in range(start + 1, stop):
            joined[np.int64(whole.letters[i - 1]) << 8 | np.int64(whole.letters[i])] = 1
        low, high = word_key(whole.letters, np.uint64(start), np.uint64(stop - start))
        whole.keys[2 * word] = low
        whole.keys[2 * word + 1] = high
        place = spread_word(low, high) & mask
        while whole.places[place] >= 0:
            place = (place + _ONE) & mask
        whole.places[place] = word


@part
def find_whole_word(whole, text, start, width, low, high):
    """Return the id of the token of these bytes if the merges never make it, else -1."""
    mask = np.uint64(whole.places.size - 1)
    place = spread_word(low, high) & mask
    while whole.places[place] >= 0:
        word = whole.places[place]
        if whole.keys[2 * word] == low and whole.keys[2 * word + 1] == high:
            known = np.uint64(whole.starts[word])
            if width <= SHORT_WORD or same_bytes(
                whole.letters, known, text, np.uint64(start), np.uint64(width)
            ):
                return whole.ids[word]
        place = (place + _ONE) & mask
    return np.int32(-1)


@kernel
def find_words(whole, text, starts, stops, found):
    """Write the id of each of many words of a text, -1 for those that are not in the table.

    text: uint8[n]. starts, stops: int64[n_words], where each word begins and ends in text. found:
    int32[n_words].
    """
    for i in range(found.size):
        start, stop = np.uint64(starts[i]), np.uint64(stops[i])
        low, high = word_key(text, start, stop - start)
        width = np.int64(stop - start)
        found[i] = find_whole_word(whole, text, np.int64(start), width, low, high)


ROOM = 32
"""Room for the symbols of a word, of up to 31 bytes."""
_ROOM, _HALF_ROOM = np.uint64(ROOM), np.uint64(16)
_SECOND_HALF = np.uint64(1 << 16)
_NO_PAIR = np.uint32(0xFFFFFFFF)
_NO_PAIRS = np.uint32(0xFFFFFFE0)
"""This and all above come from NO_RANK << _PLACE_BITS, or are _NO_PAIR."""
_PLACE_BITS = np.uint32(5)
_PLACE = np.uint32(ROOM - 1)
_NONE, _EIGHT = np.uint64(0), np.uint64(8)
_TOP = np.uint64(63)


class NewWords(NamedTuple):
    """The new words of one batch."""

    numbers: NDArray[np.int64]
    """int64[n]: their numbers in the batch."""
    open: NDArray[np.uint64]
    """uint64[n]: which of them are not fully merged yet."""
    symbols: NDArray[np.int32]
    """int32[ROOM * n]: a symbol where it begins."""
    pairs: NDArray[np.uint32]
    """uint32[ROOM * n]: the rank of the pair that begins there << 5 | the place in the word, or at
    least _NO_PAIRS. Of words of up to 15 bytes, only the first half is used."""
    begins: NDArray[np.uint64]
    """uint64[n]: a mask of the places where a symbol begins."""
    merged: NDArray[np.uint64]
    """uint64[n]: the place that was merged last."""


@part
def merge_new_words(merges, whole, cache, text, begin, pieces, i, words, new, n_new, ids):
    """Merge new words of up to 31 bytes, and enter them; those of up to 15 get their entries.

    begin, pieces, i: the batch begins there, and its words end at pieces[i] and on. words: the
    batch, an `EncodingScratch`. new.numbers[:n_new]: which of them are new. ids: scratch. Words
    that are tokens which the merges never make are left out. The ids of longer words are found in
    the cache when they are appended.
    """
    low, high = words.low, words.high
    n = _NONE
    for k in range(n_new):
        j = new.numbers[k]
        start = _find_start(begin, pieces, i, j)
        width = word_width(high[j])
        new.numbers[n] = j
        new.open[n] = n
        if find_whole_word(whole, text, start, np.int64(width), low[j], high[j]) < 0:
            _begin(merges, text, np.uint64(start), width, new, n)
            n += _ONE
    n_open = n
    while n_open:
        n_open = _merge_once(merges, new, n_open)
        for k in range(n_open):
            _find_ranks(merges.pairs, new, new.open[k])
    for w in range(n):
        n_ids = _NONE
        begins = new.begins[w]
        while begins:
            symbol = new.symbols[w * _ROOM + np.uint64(trailing_zeros(begins))]
            ids[n_ids] = merges.ids[np.uint64(symbol)]
            begins &= begins - _ONE
            n_ids += _ONE
        j = new.numbers[w]
        if high[j] < LONG:
            found = remember_new(cache, low[j], high[j], ids, np.int64(n_ids))
            words.first[j], words.last[j] = found
        else:
            start = _find_start(begin, pieces, i, j)
            remember_new_long(cache, low[j], high[j], text, start, ids, np.int64(n_ids))


@inlined
def _find_start(begin, pieces, i, j):
    """Return where the word of number j begins."""
    return abs(pieces[i + j - 1]) if j else np.int64(begin)


@inlined
def _begin(merges, text, start, width, new, w):
    """Begin with a symbol for each byte of a word."""
    at = w * _ROOM
    symbols, pairs = new.symbols, new.pairs
    for i in range(_HALF_ROOM):
        pairs[at + i] = _NO_PAIR
    if width >= _HALF_ROOM:
        for i in range(_HALF_ROOM, _ROOM):
            pairs[at + i] = _NO_PAIR
    before = np.uint64(text[start])
    symbols[at] = before
    for i in range(_ONE, width):
        byte = np.uint64(text[start + i])
        symbols[at + i] = byte
        pairs[at + i - _ONE] = _pair(merges.byte_ranks[before << _EIGHT | byte], i - _ONE)
        before = byte
    new.begins[w] = (_ONE << width) - _ONE


@inlined
def _pair(rank, place):
    return np.uint32(rank) << _PLACE_BITS | np.uint32(place)


@inlined
def _merge_once(merges, new, n_open):
    """Merge the pair of the lowest rank in each open word; return how many had one."""
    symbols, pairs = new.symbols, new.pairs
    still = _NONE
    for k in range(n_open):
        w = new.open[k]
        at = w * _ROOM
        begins = new.begins[w]
        lowest = lowest_of_sixteen(pairs, at)
        if begins >= _SECOND_HALF:
            lowest = min(lowest, lowest_of_sixteen(pairs, at + _HALF_ROOM))
        if lowest >= _NO_PAIRS:
            while begins:
                prefetch(merges.ids, symbols[at + np.uint64(trailing_zeros(begins))])
                begins &= begins - _ONE
            continue
        place = np.uint64(lowest & _PLACE)
        i = at + place
        right = _first_after(begins, place)
        begins ^= _ONE << right
        symbols[i] = made_by(merges, lowest >> _PLACE_BITS)
        pairs[i] = _NO_PAIR
        pairs[at + right] = _NO_PAIR
        new.begins[w] = begins
        new.merged[w] = place
        if begins >> place > _ONE:
            next = symbols[at + _first_after(begins, place)]
            prefetch(merges.pairs, pair_row(merges.pairs, symbols[i], next))
        before = begins & ((_ONE << place) - _ONE)
        if before:
            previous = symbols[at + _TOP - np.uint64(leading_zeros(before))]
            prefetch(merges.pairs, pair_row(merges.pairs, previous, symbols[i]))
        new.open[still] = w
        still += _ONE
    return still


@inlined
def _first_after(begins, place):
    """Return the place of the first symbol after another."""
    return place + _ONE + np.uint64(trailing_zeros(begins >> place >> _ONE))


@inlined
def _find_ranks(table, new, w):
    """Find the ranks of the pairs on both sides of the symbol that was made."""
    symbols, pairs = new.symbols, new.pairs
    at = w * _ROOM
    place = new.merged[w]
    begins = new.begins[w]
    made = symbols[at + place]
    if begins >> place > _ONE:
        next = symbols[at + _first_after(begins, place)]
        pairs[at + place] = _pair(find_rank(table, made, next), place)
    before = begins & ((_ONE << place) - _ONE)
    if before:
        place = _TOP - np.uint64(leading_zeros(before))
        pairs[at + place] = _pair(find_rank(table, symbols[at + place], made), place)
