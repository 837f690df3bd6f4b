"""The merge loop of parity-aware training: at each step, one language picks the pair.

The words of all languages lie in one row, and each language has ids of its own: those of language 3
are larger by 3 * `Languages.width`. So no pair belongs to two languages, one `row.PairIndex`
holds them all, and a merge is made once for each language by the parts of `merging`. Every pair
that occurs is tracked, because a pair that is rare in one language may be picked by another.

While all languages choose together, they have the same ids, as if they were one language.

The twin is `trainers.parity.learn_parity_reference`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bpe_core.kernels.compiling.decorate import kernel, part
from bpe_core.kernels.hashing import EMPTY, find_pair, pair_ids, pair_key
from bpe_core.kernels.merging import (
    add_new_slots,
    count_new_pairs,
    follow_new_pairs,
    fuse,
    lower_broken_pairs,
)
from bpe_core.kernels.row import PAIRS, free_slots, has_room, with_larger_id, word_count

ENOUGH, NO_PAIRS, SMALL_INDEX, SMALL_TEXTS = 0, 1, 2, 3
"""Reasons to return from `run_parity`: all merges done, no language can pick, and arrays to
enlarge: those of the index and the heaps, or those of the texts."""


class Languages(NamedTuple):
    """Which ids belong to which language, and which texts are measured.

    While all languages choose together, their training texts are one text, and so are those that
    are measured if they are others.
    """

    width: int
    """How many ids a language has."""
    n: int
    """The number of texts that pick. They are the first ones, and are trained on."""
    first_measured: int
    """The first of the `n` texts whose tokens are counted: 0, or n if there are others for that."""
    n_texts: int
    """The number of texts, each with ids of its own."""
    together: NDArray[np.int64]
    """int64[n_languages], or empty once each language picks: where the words of each language that
    are measured end in the row."""


class Heaps(NamedTuple):
    """For each text, its pairs as a pairing heap: the best is the root.

    A pair's count may have fallen since it was pushed; it is corrected when it becomes the root.
    Only the texts that pick have one.
    Fredman et al. 1986, "The pairing heap". Unlike an array, it needs no room for each language.
    """

    roots: NDArray[np.int32]
    """int32[n_texts]: the number of the best pair, or -1."""
    children: NDArray[np.int32]
    """int32[room]: the first of a pair's children, or -1."""
    siblings: NDArray[np.int32]
    """int32[room]: the next child of a pair's parent, or -1."""
    counts: NDArray[np.int64]
    """int64[room]: a pair's count when it was pushed or last corrected."""


class Texts(NamedTuple):
    """What each token spells: of equally frequent pairs, the one with the largest text merges."""

    letters: NDArray[np.uint8]
    """uint8[room]: the tokens' bytes, as numbers that sort like GPT-2's printable characters."""
    ends: NDArray[np.int64]
    """int64[width + 1]: token i is letters[ends[i] : ends[i + 1]]."""


class Turns(NamedTuple):
    """Whose turn it is."""

    lengths: NDArray[np.int64]
    """int64[n]: how many tokens each measured text has now."""
    is_open: NDArray[np.uint8]
    """uint8[n]: 0 once a language has no pair to pick."""
    recent: NDArray[np.int32]
    """int32[window], or empty: who had the last turns; a ring."""
    n_recent: NDArray[np.int64]
    """int64[n]: how many of these each language had."""
    n_turns: NDArray[np.int64]
    """int64[1]: the number of turns so far, with those of languages that had no pair."""
    most_recent: int
    """A language that had more of the recent turns waits."""


class ParityLog(NamedTuple):
    """The merges learned so far, by their rank."""

    pairs: NDArray[np.int32]
    """int32[n_merges, 2]: left and right id."""
    counts: NDArray[np.int64]
    """int64[n_merges]: how often the pair occurred in all training texts."""
    saved: NDArray[np.int64]
    """int64[n_merges]: by how many tokens the merge shortened all training texts."""
    picked: NDArray[np.int32]
    """int32[n_merges]: the language that picked, or -1 for all together."""
    lengths: NDArray[np.int64]
    """int64[n_merges, n]: how many tokens each measured text had after the merge."""
    n_done: NDArray[np.int64]
    """int64[1]: the number of merges so far."""
    needed: NDArray[np.int64]
    """int64[2]: for how many pairs and slots the index must have room before the next merge."""
    first_id: int
    """The id that the first merge makes; later merges make consecutive ids."""


# -- the best pair of a text ------------------------------------------------------------------


@part
def _compare_texts(texts, left, right):
    """Return a number above 0 if the first token's text is larger, below 0 if it is smaller."""
    begin, other = texts.ends[left], texts.ends[right]
    n, n_other = texts.ends[left + 1] - begin, texts.ends[right + 1] - other
    for i in range(min(n, n_other)):
        letter = np.int64(texts.letters[begin + i])
        difference = letter - np.int64(texts.letters[other + i])
        if difference != 0:
            return difference
    return n - n_other


@part
def _goes_before(heaps, index, texts, width, pair, other):
    if heaps.counts[pair] != heaps.counts[other]:
        return heaps.counts[pair] > heaps.counts[other]
    left, right = pair_ids(index.keys[pair])
    other_left, other_right = pair_ids(index.keys[other])
    if left != other_left:
        return _compare_texts(texts, left % width, other_left % width) > 0
    return _compare_texts(texts, right % width, other_right % width) > 0


@part
def _meld(heaps, index, texts, width, pair, other):
    """Join two heaps, given by their roots; return the root."""
    if pair < 0:
        return other
    if other < 0:
        return pair
    if not _goes_before(heaps, index, texts, width, pair, other):
        pair, other = other, pair
    heaps.siblings[other] = heaps.children[pair]
    heaps.children[pair] = other
    return pair


@part
def _without_root(heaps, index, texts, width, root):
    """Return the root of a heap once its root is taken out: meld the children in two passes."""
    child = heaps.children[root]
    heaps.children[root] = np.int32(-1)
    joined = np.int32(-1)
    while child >= 0:
        second = heaps.siblings[child]
        following = np.int32(-1)
        if second >= 0:
            following = heaps.siblings[second]
        melded = _meld(heaps, index, texts, width, child, second)
        heaps.siblings[melded] = joined
        joined = melded
        child = following
    left = np.int32(-1)
    while joined >= 0:
        following = heaps.siblings[joined]
        left = _meld(heaps, index, texts, width, left, joined)
        joined = following
    return left


@part
def _push(heaps, index, texts, width, pair):
    pair = np.int32(pair)
    heaps.counts[pair] = index.counts[pair]
    heaps.children[pair] = np.int32(-1)
    text = pair_ids(index.keys[pair])[0] // width
    heaps.roots[text] = _meld(heaps, index, texts, width, heaps.roots[text], pair)


@part
def _best_pair(heaps, index, texts, width, text, floor):
    """Return the number of the pair that a text merges next, or -1."""
    while heaps.roots[text] >= 0:
        root = heaps.roots[text]
        if index.counts[root] == heaps.counts[root]:
            return np.int64(root) if index.counts[root] >= floor else np.int64(-1)
        heaps.roots[text] = _without_root(heaps, index, texts, width, root)
        if index.counts[root] > 0:
            _push(heaps, index, texts, width, root)
    return np.int64(-1)


# -- whose turn it is -------------------------------------------------------------------------


@part
def _next_picker(turns):
    """Return the language whose turn it is: the longest of those that may pick, or -1."""
    picker = np.int64(-1)
    any_open = False
    for number in range(turns.is_open.size):
        if not turns.is_open[number]:
            continue
        any_open = True
        if turns.recent.size and turns.n_recent[number] > turns.most_recent:
            continue
        if picker < 0 or turns.lengths[number] > turns.lengths[picker]:
            picker = np.int64(number)
    # If all wait, it is the first, even if it has no pair: its turns move the window on.
    return np.int64(0) if any_open and picker < 0 else picker


@part
def _note_turn(turns, picker):
    size = turns.recent.size
    if size:
        place = turns.n_turns[0] % size
        if turns.n_turns[0] >= size:
            turns.n_recent[turns.recent[place]] -= 1
        turns.recent[place] = np.int32(picker)
        turns.n_recent[picker] += 1
    turns.n_turns[0] += 1


# -- one merge --------------------------------------------------------------------------------


@part
def _find(index, languages, left, right, text):
    """Return the number of a pair in a text; -1 if it does not occur there."""
    first = text * languages.width
    place = find_pair(index.table_keys, pair_key(first + left, first + right))
    if index.table_keys[place] == EMPTY:
        return np.int64(-1)
    pair = np.int64(index.table_pairs[place])
    return pair if index.counts[pair] > 0 else np.int64(-1)


@part
def _has_room_for(index, languages, n_texts, left, right, new, log):
    n_pairs = n_slots = np.int64(0)
    for text in range(n_texts):
        pair = _find(index, languages, left, right, text)
        if pair >= 0:
            of_pair = 2 * (index.ends[pair] - index.begins[pair])
            n_slots += of_pair
            n_pairs += min(of_pair, 2 * (new + 1))
    log.needed[0] = n_pairs
    log.needed[1] = n_slots
    return has_room(index, n_pairs, n_slots)


@part
def _name(texts, left, right, new):
    """Add the text of a new token."""
    at = texts.ends[new]
    for i in range(texts.ends[left], texts.ends[left + 1]):
        texts.letters[at] = texts.letters[i]
        at += 1
    for i in range(texts.ends[right], texts.ends[right + 1]):
        texts.letters[at] = texts.letters[i]
        at += 1
    texts.ends[new + 1] = at


@part
def _push_new_pairs(heaps, index, texts, width, n_neighbours, picks, scratch):
    """Push the pairs that are new to the index if their text `picks`; clear the scratch."""
    for i in range(n_neighbours):
        other = scratch.neighbours[i]
        if picks and scratch.n_before[other] < 0:
            _push(heaps, index, texts, width, -1 - scratch.n_before[other])
        if picks and scratch.n_after[other] < 0:
            _push(heaps, index, texts, width, -1 - scratch.n_after[other])
        scratch.n_before[other] = 0
        scratch.n_after[other] = 0


@part
def _shorten(lengths, ends, n_merged, row, scratch):
    """Lower the length of each language by what a merge in the text of all of them has saved."""
    number = 0
    for i in range(n_merged):
        while scratch.merged[i] >= ends[number]:
            number += 1
        lengths[number] -= word_count(row, scratch.weights[i])


@kernel
def fill_heaps(heaps, index, texts, languages):
    """Push every pair of the texts that pick."""
    for pair in range(index.used[PAIRS]):
        if pair_ids(index.keys[pair])[0] // languages.width < languages.n:
            _push(heaps, index, texts, languages.width, pair)


@kernel
def set_apart(row, ends, more):
    """Make the ids of each text larger by a number; ends: int64[n_texts], more: int32[n_texts]."""
    number = 0
    for slot in range(row.ids.size - 1):
        while slot >= ends[number]:
            number += 1
        row.ids[slot] = with_larger_id(row.ids[slot], more[number])


@kernel
def run_parity(
    row, tokens, index, rule, heaps, texts, languages, turns, log, scratch, floor, until
):
    """Learn merges until the log has `until`, or until the caller must do something.

    A pair is picked if it occurs `floor` times in the text that picks it. Return ENOUGH, NO_PAIRS,
    SMALL_INDEX or SMALL_TEXTS.
    """
    width = languages.width
    n_texts = languages.n_texts
    together = languages.together.size > 0
    while log.n_done[0] < until:
        rank = log.n_done[0]
        picker = np.int64(0)
        if not together:
            picker = _next_picker(turns)
            if picker < 0:
                return NO_PAIRS
        pair = _best_pair(heaps, index, texts, width, picker, floor)
        if pair < 0:
            if together:
                return NO_PAIRS
            _note_turn(turns, picker)
            turns.is_open[picker] = 0
            continue
        left, right = pair_ids(index.keys[pair])
        left, right = left % width, right % width
        new = log.first_id + rank
        if not _has_room_for(index, languages, n_texts, left, right, new, log):
            return SMALL_INDEX
        n_letters = texts.ends[left + 1] - texts.ends[left]
        n_letters += texts.ends[right + 1] - texts.ends[right]
        if texts.ends[new] + n_letters > texts.letters.size:
            return SMALL_TEXTS
        _name(texts, left, right, new)
        if not together:
            _note_turn(turns, picker)
        log.pairs[rank, 0] = left
        log.pairs[rank, 1] = right
        log.picked[rank] = -1 if together else picker
        log.counts[rank] = 0
        log.saved[rank] = 0
        for text in range(n_texts):
            first = text * width
            pair = _find(index, languages, left, right, text)
            made = first + new
            from_left, from_right = first + left, first + right
            tokens.n_slots[made] = tokens.n_slots[from_left] + tokens.n_slots[from_right]
            tokens.n_bytes[made] = tokens.n_bytes[from_left] + tokens.n_bytes[from_right]
            of_right = tokens.end_ranks[from_right]
            is_short = tokens.n_slots[from_right] == 1
            tokens.end_ranks[made] = np.int32(rank) if is_short else of_right
            if pair < 0:
                continue
            if text < languages.n:
                log.counts[rank] += index.counts[pair]
            n_merged, saved = fuse(index, pair, made, rank, row, tokens, scratch)
            free_slots(index, pair)
            n_neighbours = count_new_pairs(n_merged, row, scratch)
            lower_broken_pairs(index, pair, made, n_neighbours, scratch)
            follow_new_pairs(index, made, n_neighbours, tokens, rule, scratch)
            add_new_slots(index, n_merged, tokens, scratch)
            picks = text < languages.n
            _push_new_pairs(heaps, index, texts, width, n_neighbours, picks, scratch)
            if text < languages.n:
                log.saved[rank] += saved
            measured = text - languages.first_measured
            if 0 <= measured < languages.n:
                if together:
                    _shorten(turns.lengths, languages.together, n_merged, row, scratch)
                else:
                    turns.lengths[measured] -= saved
        for number in range(turns.lengths.size):
            log.lengths[rank, number] = turns.lengths[number]
        log.n_done[0] += 1
    return ENOUGH
