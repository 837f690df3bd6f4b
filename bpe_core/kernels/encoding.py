"""Encode the bytes of a text to ids.

A pre-token is looked up in a word cache, and merged by rank if it is not there. First, one of more
than 15 bytes that ends in a wide character, or of more than 255, is cut wherever no token contains
the two adjacent bytes, which splits most Chinese sentences into characters. What is long and not in
the cache goes to the trie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.added_tokens import isolate
from bpe_core.kernels.compiling.decorate import kernel, part
from bpe_core.kernels.hashing import LONG, narrow_key, word_key
from bpe_core.kernels.intrinsics import (
    BYTES,
    bytes_between,
    find_both_in_four,
    find_in_four,
    prefetch,
)
from bpe_core.kernels.scanning import scan
from bpe_core.kernels.word_cache import (
    FIRST,
    LAST,
    LONG_WORD,
    ROOM,
    SHORT_WORD,
    append_cached_long,
    append_found,
    find_narrow_row,
    find_row,
    find_whole_word,
    is_crowded,
    merge_new_words,
    prefer,
    remember,
    remember_long,
)
from bpe_core.kernels.word_merging import (
    encode_by_trie,
    enter_pairs,
    enter_symbol,
    find_rank,
    longest_match,
    merge_by_heap,
    merge_by_scan,
)

SCAN_UP_TO = ROOM - 1
"""The most bytes of a word that is merged by scanning; see `_merge_long`."""

DONE, WORD_TOO_LONG, CACHE_CROWDED = range(3)
"""Why `encode_text` returned: after the last two it can go on with larger buffers, or with a larger
word cache."""

_NONE = np.uint64(0)
_ONE = np.uint64(1)
_TWO = np.uint64(2)
_THREE = np.uint64(3)
_FOUR = np.uint64(4)
_EIGHT = np.uint64(8)
_LONGEST = LONG | np.uint64(SCAN_UP_TO)
_IDS = np.uint64((1 << 56) - 1)
"""All bits of a half of ids that are used. LLVM branches on what decides between a loaded number
and zero, which is mispredicted, but not if the number has passed through a mask."""


class EncodingScratch(NamedTuple):
    """Buffers of one thread."""

    ends: NDArray[np.int64]
    """int64[size]: what the scanner finds in as many bytes."""
    pieces: NDArray[np.int64]
    """int64, of the same size: the ends after long words have been cut."""
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    places: NDArray[np.uint64]
    """uint64[n_words]: the key of each word of a batch, and where its row starts."""
    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    """uint64[n_words]: the ids that the word cache holds for it; a narrow word leaves `last` as it
    is, and what is there is overwritten when the next ids are appended."""
    symbols: NDArray[np.int32]
    ranks: NDArray[np.int32]
    """int32[SCAN_UP_TO]: for merging short words."""
    dead: NDArray[np.uint8]
    """uint8[size + 1], for the trie."""
    neighbours: NDArray[np.uint64]
    """Also for the trie: see `word_merging.longest_apart`."""
    heap: NDArray[np.uint64]
    links: NDArray[np.int64]
    """uint64[3 * size], int64[2 * size] if there is no trie."""


@kernel
def build_tables(lefts, rights, starts, letters, merges, trie, cache, out, scratch, occurs):
    """Fill the empty tables of a tokenizer; return the trie's number of nodes, -1 if too small.

    lefts, rights: int32[n_merges] symbols. starts: int64[n_symbols + 1], where in letters each
    symbol's bytes are. Words that are one token enter the word cache, lowest ranks last, as some
    are lost. out: int32, scratch for the longest token. occurs: uint8[n_symbols], set to 1 for
    each symbol that the merges make of its own bytes.
    """
    enter_pairs(lefts, rights, merges.pairs)
    for pair in range(merges.byte_ranks.size):
        merges.byte_ranks[pair] = find_rank(merges.pairs, pair >> 8, pair & 255)
    n_nodes = np.int64(256)
    with_trie = trie.symbol_at.size > 0
    for symbol in range(starts.size - 2, -1, -1):
        start = starts[symbol]
        width = starts[symbol + 1] - start
        if width <= SCAN_UP_TO:
            n = merge_by_scan(merges, letters, start, width, out, scratch.ranks)
        else:
            n = merge_by_heap(
                merges, letters, start, width, out, np.int64(0), scratch.heap, scratch.links
            )
        if n > 1 or out[0] != symbol:
            continue  # never occurs: every token in an encoding encodes to itself
        occurs[symbol] = 1
        for i in range(start + 1, start + width):
            merges.joined[np.int64(letters[i - 1]) << 8 | np.int64(letters[i])] = 1
        if width <= SHORT_WORD:
            low, high = word_key(letters, np.uint64(start), np.uint64(width))
            remember(cache, low, high, merges.ids, symbol, np.int64(1))
        if with_trie:
            if n_nodes + width > trie.symbol_at.size:
                return np.int64(-1)
            n_nodes = enter_symbol(trie, n_nodes, letters, start, symbol)
    if not with_trie:
        return n_nodes
    for symbol in range(starts.size - 1):
        # The longest match of all but the last byte is the longest other symbol it begins with.
        if trie.width[symbol] > 1:
            trie.shorter[symbol] = longest_match(
                trie, letters, starts[symbol], starts[symbol + 1] - 1
            )
    return n_nodes


@part
def _is_pretoken(begin, ends, n_ends, start, stop):
    """Return True if a piece of text is a whole pre-token, not a part that was cut from one."""
    low = np.int64(0)
    high = np.int64(n_ends)
    while low < high:
        middle = (low + high) // 2
        if abs(ends[middle]) < stop:
            low = middle + 1
        else:
            high = middle
    before = abs(ends[low - 1]) if low > 0 else begin
    return abs(ends[low]) == stop and before == start


@part
def _cut(text, begin, ends, n_ends, joined, pieces):
    """Cut words too long for a key wherever no token contains the two adjacent bytes.

    Words that the cache may hold whole are left whole unless they are of wide characters: runs of
    spaces recur, sentences do not. pieces: int64, as long as ends, receives the new ends. Returns
    their number.
    """
    n_pieces = np.uint64(0)
    start = np.int64(begin)
    for i in range(n_ends):
        end = ends[i]
        stop = abs(end)
        width = end - start  # negative if the pattern drops it
        if width > SHORT_WORD and (width > LONG_WORD or text[stop - 1] > 127):
            for j in range(np.uint64(start + 1), np.uint64(stop)):
                pieces[n_pieces] = j
                pair = np.uint64(text[j - _ONE]) << _EIGHT | np.uint64(text[j])
                n_pieces += _ONE - np.uint64(joined[pair])
        pieces[n_pieces] = end
        n_pieces += _ONE
        start = stop
    return np.int64(n_pieces)


@part
def _may_need_cuts(text, begin, end, n_words):
    """Return False for most text: all of ASCII, and not of very long words."""
    if end - begin > n_words * LONG_WORD:
        return True
    wide = np.uint64(0)
    while begin + BYTES <= end:
        wide |= bytes_between(text, begin, 128, 255)
        begin += BYTES
    for i in range(begin, end):
        wide |= np.uint64(text[i] > 127)
    return wide != _NONE


@part
def _look_up(text, begin, pieces, i, n_pieces, cache, scratch, numbers):
    """Look up the words that end at pieces[i : i + n_pieces]: their entries' ids, or _NONE.

    Return how many of up to SCAN_UP_TO bytes are new; `numbers` receives which.

    Nothing here branches on the result, and the rows are fetched before they are looked at. The
    entry of a longer word has no ids, but its row is near and its hash known when it is appended.
    """
    narrow, others = cache.narrow, cache.others
    low, high, places = scratch.low, scratch.high, scratch.places
    first, last = scratch.first, scratch.last
    n = np.uint64(n_pieces)
    at = np.uint64(i)
    start = np.uint64(begin)
    for j in range(n):
        end = pieces[at + j]
        # What the pattern drops ends at a negative place, and seems the longest of all.
        low[j] = narrow_key(text, start, np.uint64(end) - start)
        places[j] = find_narrow_row(narrow, low[j])
        prefetch(narrow, places[j])
        start = np.uint64(abs(end))
    n_others = np.uint64(0)
    for j in range(n):
        place = find_in_four(narrow, places[j], low[j])
        first[j] = narrow[places[j] + _FOUR + (place & _THREE)]
        numbers[n_others] = j
        n_others += place >> _TWO
    for k in range(n_others):
        j = np.uint64(numbers[k])
        start = np.uint64(abs(pieces[at + j - _ONE])) if j else np.uint64(begin)
        width = np.uint64(pieces[at + j]) - start
        # What the cache can't hold gets the key of the empty word, which is never stored.
        low[j], high[j] = _NONE, _NONE
        if width <= np.uint64(LONG_WORD):
            low[j], high[j] = word_key(text, start, width)
        places[j] = find_row(others, low[j], high[j])
        prefetch(others, places[j])
        prefetch(others, places[j] + FIRST)
    n_new = np.uint64(0)
    for k in range(n_others):
        j = np.uint64(numbers[k])
        row = places[j]
        place = find_both_in_four(others, row, low[j], high[j])
        # All bits set if the word was not found, none otherwise.
        lost = _NONE - (place >> _TWO)
        at_ids = row + (place & _THREE)
        first[j] = others[at_ids + FIRST] & _IDS & ~lost
        last[j] = others[at_ids + LAST]
        numbers[n_new] = j
        n_new += lost & np.uint64(high[j] - _ONE < _LONGEST)
    return np.int64(n_new)


@part
def _merge_long(merges, trie, text, start, width, out, k, scratch):
    """Append the ids of a word too long for a key, or of any part of a pre-token, by the merges.

    Nanoseconds per byte by scan, trie and heap, for words of 21 to 31 bytes: English and code 40,
    28, 66; Chinese, Japanese and Korean, with merges learned from them, 44, 23, 44; the latter with
    64 to 127 bytes 75, 23, 52. Yet in whole files of code, scanning was 6 % faster up to 31 bytes,
    because most such words are indentation and the trie's tables compete with the word cache.
    """
    if width <= SCAN_UP_TO:
        stop = k + merge_by_scan(merges, text, start, width, scratch.symbols, scratch.ranks)
        for j in range(stop - k):
            out[k + j] = scratch.symbols[j]
    elif trie.symbol_at.size:
        stop = encode_by_trie(
            merges, trie, text, start, width, out, k, scratch.dead, scratch.neighbours
        )
    else:
        stop = merge_by_heap(merges, text, start, width, out, k, scratch.heap, scratch.links)
    for j in range(k, stop):
        out[j] = merges.ids[out[j]]
    return stop


@part
def _append_words(
    text, begin, n_ends, merges, whole, has_added, trie, cache, out, written, scratch, new
):
    """Append the ids of the words between scratch.ends; return the new number of ids.

    has_added: True if the whole words are added tokens, each of which is a pre-token.
    """
    first, last = scratch.first, scratch.last
    pieces, n_pieces = scratch.ends, n_ends
    if _may_need_cuts(text, begin, abs(pieces[n_ends - 1]), n_ends):
        pieces = scratch.pieces
        n_pieces = _cut(text, begin, scratch.ends, n_ends, merges.joined, pieces)
    k = np.int64(written)
    start = np.int64(begin)
    for i in range(0, n_pieces, first.size):
        n = min(n_pieces - i, first.size)
        n_new = _look_up(text, start, pieces, i, n, cache, scratch, new.numbers)
        if n_new:
            merge_new_words(
                merges,
                whole,
                cache,
                text,
                start,
                pieces,
                i,
                scratch,
                new,
                n_new,
                scratch.symbols,
            )
        j = np.int64(0)
        while True:
            j, k = append_found(first, last, j, n, cache.arena, out, k)
            if j == n:
                break
            stop = pieces[i + j]
            if stop > 0:
                start = abs(pieces[i + j - 1]) if i + j > 0 else np.int64(begin)
                width = stop - start
                if SHORT_WORD < width <= LONG_WORD:
                    at = np.uint64(j)
                    after = append_cached_long(
                        cache, scratch.low[at], scratch.high[at], text, start, width, out, k
                    )
                    if after > k:
                        k = after
                        j += 1
                        continue
                id = np.int32(-1)
                if whole.ids.size:
                    low, high = word_key(text, np.uint64(start), np.uint64(width))
                    id = find_whole_word(whole, text, start, width, low, high)
                    out[k] = id
                    # Only added tokens are cached: a part of a pre-token that spells another whole
                    # word becomes other ids than the whole. One may come here often in a batch.
                    if has_added and id >= 0 and width <= SHORT_WORD:
                        prefer(cache, low, high, out, k)
                if id >= 0 and (
                    has_added or _is_pretoken(begin, scratch.ends, n_ends, start, stop)
                ):
                    k += 1
                else:
                    after = _merge_long(merges, trie, text, start, width, out, k, scratch)
                    if id < 0 and SHORT_WORD < width <= LONG_WORD:
                        remember_long(cache, text, start, width, out, k, after - k)
                    k = after
            j += 1
        start = abs(pieces[i + n - 1])
    return k


@kernel
def find_ends(scanner, text, bounds, found, scratch, reached):
    """Write the ends of the words of each section to `found`; return DONE or WORD_TOO_LONG.

    found: int64, with room for one end per byte. reached: int64[3], the section and byte to
    continue from, and the number of ends in found.
    """
    section = reached[0]
    position = reached[1]
    n = reached[2]
    status = DONE
    while status == DONE and section < bounds.size - 1:
        end = bounds[section + 1]
        while position < end:
            n_ends = scan(text, position, end, scanner, scratch.ends)
            if n_ends == 0:
                status = WORD_TOO_LONG
                break
            for i in range(n_ends):
                found[n + i] = scratch.ends[i]
            n += n_ends
            position = abs(scratch.ends[n_ends - 1])
        if position == end:
            section += 1
    reached[0] = section
    reached[1] = position
    reached[2] = n
    return status


@kernel
def find_apart(text, ends, joined, found):
    """Write the ends of words, and each byte that no token joins to the one before it; return n.

    text: the words, which end at `ends`. joined: as in `word_merging.MergeTable`. found: int64,
    with room for one end per byte.
    """
    n = 0
    at = 1
    for word in range(ends.size):
        end = ends[word]
        for i in range(at, end):
            pair = np.int64(text[i - 1]) << 8 | np.int64(text[i])
            found[n] = i
            n += 1 - np.int64(joined[pair])
        if end >= at:
            found[n] = end
            n += 1
            at = end + 1
    return n


@kernel
def count_ids(ids, widths, ends, found):
    """Write how many ids there are up to each end of a word, which no token crosses.

    widths: the bytes of each token, by id. ends: in bytes, ascending.
    """
    n = np.uint64(0)
    at = np.int64(0)
    for word in range(ends.size):
        while at < ends[word]:
            at += np.int64(widths[ids[n]])
            n += np.uint64(1)
        found[word] = np.int64(n)


@part
def _take(given, taken, position, ends):
    """Copy as many of the given ends as fit into ends, and into as many bytes; return how many."""
    n = 0
    while (
        n < ends.size and taken + n < given.size and abs(given[taken + n]) - position <= ends.size
    ):
        ends[n] = given[taken + n]
        n += 1
    return n


@kernel
def encode_text(
    scanner,
    text,
    bounds,
    given,
    merges,
    whole,
    added,
    trie,
    cache,
    out,
    section_ends,
    scratch,
    new,
    reached,
):
    """Encode each section of a text; return DONE, or why it stopped early.

    bounds: int64[n + 1], where each section starts and the last ends. given: int64, the ends of
    the words of a single section if they are known; else empty. out: int32,
    with room for one id per byte and SLACK. section_ends: int64[n], receives the running number of
    ids after each section. reached: int64[4], the section and byte to continue from, the number of
    ids in out, and of ends taken.
    """
    section = reached[0]
    position = reached[1]
    written = reached[2]
    taken = reached[3]
    has_added = added.ranges.size > 0
    # `isolate` copies the ends; the pieces are written only after that.
    found = scratch.pieces if has_added else scratch.ends
    status = DONE
    while status == DONE and section < section_ends.size:
        end = bounds[section + 1]
        while position < end:
            if given.size:
                n_ends = _take(given, taken, position, found)
                taken += n_ends
            else:
                n_ends = scan(text, position, end, scanner, found)
            if n_ends == 0:
                status = WORD_TOO_LONG
                break
            if has_added:
                n_ends = isolate(text, position, found, n_ends, added, scratch.ends)
            written = _append_words(
                text,
                position,
                n_ends,
                merges,
                whole,
                has_added,
                trie,
                cache,
                out,
                written,
                scratch,
                new,
            )
            position = abs(scratch.ends[n_ends - 1])
            if is_crowded(cache):
                status = CACHE_CROWDED
                break
        if position == end:
            section_ends[section] = written
            section += 1
    reached[0] = section
    reached[1] = position
    reached[2] = written
    reached[3] = taken
    return status
