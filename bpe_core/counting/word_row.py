"""The words of a corpus in one row of slots, and their symbols at any step of a training run.

Two arrays describe a whole run: the base symbol of each slot, and the rank of the merge that joined
the slot to the one before it. They yield the symbols before any merge without replaying merges:
drop the slots joined by then, and take as a symbol's id what the last merge within it made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import CorpusError
from bpe_core.kernels import BETWEEN, MISSING, use_kernels
from bpe_core.types import Base, PretokenCounts
from bpe_core.unicode import AFTER_WORD, code_points

NEVER = np.iinfo(np.int32).max
"""In `joined_at`: no merge joins this slot to the one before it."""

GAP: Final = 0xDCFF
"""In `word_characters`: between two words. No text has this surrogate."""

BYTES_A_SLOT: Final = 12
"""About how many bytes of ordinary text there are per slot: 1 MB of Python source has 79,000 slots,
and 10 MB has 540,000."""


@dataclass(frozen=True, slots=True)
class Layout:
    """All words in one row: the ids of their symbols, with marks before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots]: a symbol's id, BETWEEN two words, or MISSING for a symbol without an id."""
    counts: NDArray[np.int64]
    """int64[n_words]: how often each word occurs."""

    def gaps(self) -> NDArray[np.int64]:
        """Return the slots before, between and after the words, int64[n_words + 1].

        >>> lay_out([[7, 8], [7]], [3, 5]).gaps().tolist()
        [0, 3, 5]
        """
        return np.flatnonzero(self.ids == BETWEEN)

    def weights(self) -> NDArray[np.int64]:
        """Return how often the word of each slot occurs, int64[n_slots]; 0 between words.

        >>> lay_out([[7, 8], [7]], [3, 5]).weights().tolist()
        [0, 3, 3, 0, 5, 0]
        """
        gaps = self.gaps()
        # Each stretch is a word and the gap after it, the first only the gap before all words.
        weights = np.repeat(np.append(0, self.counts), np.diff(gaps, prepend=-1))
        weights[gaps] = 0
        return weights

    @property
    def n_symbols(self) -> int:
        """How many symbols the corpus has, each word counted as often as it occurs.

        >>> lay_out([[7, 8], [7]], [3, 5]).n_symbols
        11
        """
        return int(np.dot(np.diff(self.gaps()) - 1, self.counts))


def lay_out(words: Iterable[Sequence[int]], counts: Iterable[int]) -> Layout:
    """Place words in one row.

    >>> lay_out([[7, 8], [7]], [3, 5]).ids.tolist()
    [-1, 7, 8, -1, 7, -1]
    """
    ids = [BETWEEN]
    for word in words:
        ids += [*word, BETWEEN]
    return Layout(np.array(ids, np.int32), np.array(list(counts), np.int64))


def lay_out_pretokens(
    pretokens: PretokenCounts,
    base: Base,
    base_ids: Mapping[bytes, int],
    end_of_word_id: int | None = None,
) -> Layout:
    """Place pre-tokens in one row as base symbols, MISSING where the alphabet lacks one.

    Raises CorpusError for more than 2**31 - 1 slots, counted in bytes for either base.

    >>> counts = PretokenCounts((b"ab", b"b"), np.array([3, 5]))
    >>> lay_out_pretokens(counts, "bytes", {b"a": 7, b"b": 8}, end_of_word_id=9).ids.tolist()
    [-1, 7, 8, 9, -1, 8, 9, -1]
    """
    _check_slots(1 + pretokens.letters.size + pretokens.n_words * (end_of_word_id is not None))
    by_kernel = end_of_word_id is None and use_kernels(pretokens.letters.size * BYTES_A_SLOT)
    if base == "bytes":
        symbols, gap, size = pretokens.letters, AFTER_WORD, 256
    elif by_kernel:
        symbols, gap, size = pretokens.letters, GAP, 0x110000
    else:
        symbols, gap = word_characters(pretokens.letters), GAP
        size = 1 + int(symbols.max(initial=gap))
    id_of = np.full(size, MISSING, np.int32)
    for symbol, id in base_ids.items():
        if (code := symbol[0] if base == "bytes" else ord(symbol.decode())) < size:
            id_of[code] = id
    id_of[gap] = BETWEEN
    if by_kernel:
        # Imported when needed, because it loads the kernels.
        from bpe_core.counting.compiled_row import character_ids, row_ids

        place = row_ids if base == "bytes" else character_ids
        return Layout(place(pretokens.letters, id_of), pretokens.counts)
    ids = np.empty(1 + symbols.size, np.int32)
    ids[0] = BETWEEN
    np.take(id_of, symbols, out=ids[1:], mode="clip")  # in range, but only "clip" needs no copy
    if end_of_word_id is not None:
        ids = np.insert(ids, 1 + np.flatnonzero(symbols == gap), end_of_word_id)
    return Layout(ids, pretokens.counts)


def lay_out_encoded(
    pretokens: PretokenCounts, ids: NDArray[np.int32], ends: NDArray[np.int64]
) -> Layout:
    """Place pre-tokens in one row as the tokens of an existing tokenizer.

    `ids` and `ends` are as `Tokenizer.encode_pretokens` returns them: the ids of all words, below
    zero where the tokenizer lacks a token, and where each word's ids end.

    >>> counts = PretokenCounts((b"hugs", b"s"), np.array([3, 5]))
    >>> row = lay_out_encoded(counts, np.array([7, 8, 8], np.int32), np.array([2, 3]))
    >>> row.ids.tolist(), row.weights().tolist()
    ([-1, 7, 8, -1, 8, -1], [0, 3, 3, 0, 5, 0])
    """
    _check_slots(1 + len(ids) + len(ends))
    in_row = np.insert(np.where(ids < 0, MISSING, ids), np.append(0, ends), BETWEEN)
    return Layout(in_row, pretokens.counts)


def join_layouts(layouts: Sequence[Layout], apart: int = 0) -> Layout:
    """Place the words of several layouts in one row, the nth's ids larger by n * `apart`.

    >>> row = join_layouts([lay_out([[7, 8]], [3]), lay_out([[7]], [5])], apart=100)
    >>> row.ids.tolist(), row.counts.tolist()
    ([-1, 7, 8, -1, 107, -1], [3, 5])
    """
    _check_slots(sum(each.ids.size for each in layouts))
    rows = [layouts[0].ids[:1]]
    for number, each in enumerate(layouts):
        ids = each.ids[1:]
        rows.append(np.where(ids < 0, ids, ids + np.int32(number * apart)) if apart else ids)
    return Layout(np.concatenate(rows), np.concatenate([each.counts for each in layouts]))


def word_characters(letters: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the code points of words, with `GAP` after each word.

    >>> words = PretokenCounts(("né".encode(), b"a"), np.array([3, 5]))
    >>> [chr(code) for code in word_characters(words.letters) if code != GAP]
    ['n', 'é', 'a']
    """
    is_gap = letters == AFTER_WORD
    text = np.where(is_gap, np.uint8(0), letters).tobytes().decode()
    points = code_points(text).copy()
    # Most bytes are ASCII, so this is faster than a running count of those that begin a character.
    gaps = np.flatnonzero(is_gap)
    points[gaps - np.searchsorted(np.flatnonzero((letters & 0xC0) == 0x80), gaps)] = GAP
    return points


def _check_slots(n_slots: int) -> None:
    if n_slots > NEVER:
        raise CorpusError(
            f"The distinct pre-tokens of this corpus have {n_slots:,} symbols, more than the "
            f"{NEVER:,} that can be trained on. Give less text, or a pre-tokenizer that cuts it "
            "into shorter words."
        )


def at_step(
    layout: Layout, joined_at: NDArray[np.int32], merge_ids: NDArray[np.int32], step: int
) -> Layout:
    """Return the row before the merge of rank `step`, with one slot for each symbol.

    `joined_at` is int32[n_slots], `merge_ids` int32[n_merges]: the id that each merge makes.

    >>> start = lay_out([[7, 7, 8]], [1])
    >>> joined_at = np.array([NEVER, NEVER, 0, 1, NEVER], np.int32)
    >>> made = np.array([9, 10], np.int32)
    >>> [at_step(start, joined_at, made, step).ids.tolist() for step in (1, 2)]
    [[-1, 9, 8, -1], [-1, 10, -1]]
    """
    joined = joined_at < step
    starts = np.flatnonzero(~joined)
    last = np.maximum.reduceat(np.where(joined, joined_at, -1), starts)
    # Without a merge, -1 picks the appended last entry, which is not used.
    ids = np.where(last >= 0, np.append(merge_ids, np.int32(-1))[last], layout.ids[starts])
    return Layout(ids, layout.counts)
