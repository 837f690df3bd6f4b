"""The words of a corpus in one row of slots, and their symbols at any step of a training run.

Two arrays describe a whole run: the base symbol of each slot, and the rank of the merge that joined
the slot to the one before it. They yield the symbols before any merge without replaying merges:
drop the slots joined by then, and take as a symbol's id what the last merge within it made.

Many words are laid out by kernels, with the same result.

For SentencePiece's family, counted pre-tokens are turned into the words that such a tokenizer
learns from. Each word begins with a space, the first of a text too; in files, it is a ▁. Characters
beyond the share that the alphabet covers are left out of the words, as in Hugging Face's trainer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.errors import CorpusError
from bpe_core.kernels import BETWEEN, MISSING, WordLetters, use_kernels
from bpe_core.pretokenizers import Pretokenizer
from bpe_core.types import Base, PretokenCounts
from bpe_core.unicode import AFTER_WORD, META, CodePoints

NEVER = np.iinfo(np.int32).max
"""In `joined_at`: no merge joins this slot to the one before it."""

GAP: Final = 0xDCFF
"""In `word_characters`: between two words. No text has this surrogate."""

_BYTES_A_SLOT: Final = 12
"""About how many bytes of ordinary text there are per slot: 1 MB of Python source has 79,000 slots,
and 10 MB has 540,000."""


@dataclass(frozen=True, slots=True)
class Layout:
    """All words in one row: the ids of their symbols, with marks before, between and after them."""

    ids: NDArray[np.int32]
    """int32[n_slots]: a symbol's id, BETWEEN two words, or MISSING for a symbol without an id."""
    counts: NDArray[np.int64]
    """int64[n_words]: how often each word occurs."""

    @classmethod
    def of_words(cls, words: Iterable[Sequence[int]], counts: Iterable[int]) -> Layout:
        """Place words in one row.

        >>> Layout.of_words([[7, 8], [7]], [3, 5]).ids.tolist()
        [-1, 7, 8, -1, 7, -1]
        """
        ids = [BETWEEN]
        for word in words:
            ids += [*word, BETWEEN]
        return cls(np.array(ids, np.int32), np.array(list(counts), np.int64))

    @classmethod
    def of_symbols(
        cls,
        pretokens: PretokenCounts,
        base: Base,
        base_ids: Mapping[bytes, int],
        end_of_word_id: int | None = None,
    ) -> Layout:
        """Place pre-tokens in one row as base symbols, MISSING where the alphabet lacks one.

        Raises CorpusError for more than 2**31 - 1 slots, counted in bytes for either base.

        >>> counts = PretokenCounts((b"ab", b"b"), np.array([3, 5]))
        >>> Layout.of_symbols(counts, "bytes", {b"a": 7, b"b": 8}, end_of_word_id=9).ids.tolist()
        [-1, 7, 8, 9, -1, 8, 9, -1]
        """
        _check_slots(1 + pretokens.letters.size + pretokens.n_words * (end_of_word_id is not None))
        by_kernel = end_of_word_id is None and use_kernels(pretokens.letters.size * _BYTES_A_SLOT)
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
            words = WordLetters(pretokens.letters)
            row = words.row(id_of) if base == "bytes" else words.character_row(id_of)
            return cls(row, pretokens.counts)
        ids = np.empty(1 + symbols.size, np.int32)
        ids[0] = BETWEEN
        np.take(id_of, symbols, out=ids[1:], mode="clip")  # in range, but only "clip" needs no copy
        if end_of_word_id is not None:
            ids = np.insert(ids, 1 + np.flatnonzero(symbols == gap), end_of_word_id)
        return cls(ids, pretokens.counts)

    @classmethod
    def of_tokens(
        cls, pretokens: PretokenCounts, ids: NDArray[np.int32], ends: NDArray[np.int64]
    ) -> Layout:
        """Place pre-tokens in one row as the tokens of an existing tokenizer.

        `ids` and `ends` are as `Tokenizer.encode_pretokens` returns them: the ids of all words,
        below zero where the tokenizer lacks a token, and where each word's ids end.

        >>> counts = PretokenCounts((b"hugs", b"s"), np.array([3, 5]))
        >>> row = Layout.of_tokens(counts, np.array([7, 8, 8], np.int32), np.array([2, 3]))
        >>> row.ids.tolist(), row.weights().tolist()
        ([-1, 7, 8, -1, 8, -1], [0, 3, 3, 0, 5, 0])
        """
        _check_slots(1 + len(ids) + len(ends))
        if ids.min(initial=0) < 0:
            ids = np.where(ids < 0, np.int32(MISSING), ids)
        # np.insert sorts the places first, and makes four more arrays of a row of any size.
        in_row = np.full(1 + len(ids) + len(ends), BETWEEN, np.int32)
        holds_id = np.ones(in_row.size, np.bool_)
        holds_id[0] = False
        holds_id[1 + ends + np.arange(len(ends))] = False
        in_row[holds_id] = ids
        return cls(in_row, pretokens.counts)

    @classmethod
    def joined(cls, layouts: Sequence[Layout], apart: int = 0) -> Layout:
        """Place the words of several layouts in one row, the nth's ids larger by n * `apart`.

        >>> row = Layout.joined(
        ...     [Layout.of_words([[7, 8]], [3]), Layout.of_words([[7]], [5])], apart=100
        ... )
        >>> row.ids.tolist(), row.counts.tolist()
        ([-1, 7, 8, -1, 107, -1], [3, 5])
        """
        _check_slots(sum(each.ids.size for each in layouts))
        rows = [layouts[0].ids[:1]]
        for number, each in enumerate(layouts):
            ids = each.ids[1:]
            rows.append(np.where(ids < 0, ids, ids + np.int32(number * apart)) if apart else ids)
        return cls(np.concatenate(rows), np.concatenate([each.counts for each in layouts]))

    def gaps(self) -> NDArray[np.int64]:
        """Return the slots before, between and after the words, int64[n_words + 1].

        >>> Layout.of_words([[7, 8], [7]], [3, 5]).gaps().tolist()
        [0, 3, 5]
        """
        return np.flatnonzero(self.ids == BETWEEN)

    def weights(self) -> NDArray[np.int64]:
        """Return how often the word of each slot occurs, int64[n_slots]; 0 between words.

        >>> Layout.of_words([[7, 8], [7]], [3, 5]).weights().tolist()
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

        >>> Layout.of_words([[7, 8], [7]], [3, 5]).n_symbols
        11
        """
        return int(np.dot(np.diff(self.gaps()) - 1, self.counts))

    def at_step(
        self, joined_at: NDArray[np.int32], merge_ids: NDArray[np.int32], step: int
    ) -> Layout:
        """Return the row before the merge of rank `step`, with one slot for each symbol.

        `joined_at` is int32[n_slots], `merge_ids` int32[n_merges]: the id that each merge makes.

        >>> start = Layout.of_words([[7, 7, 8]], [1])
        >>> joined_at = np.array([NEVER, NEVER, 0, 1, NEVER], np.int32)
        >>> made = np.array([9, 10], np.int32)
        >>> [start.at_step(joined_at, made, step).ids.tolist() for step in (1, 2)]
        [[-1, 9, 8, -1], [-1, 10, -1]]
        """
        joined = joined_at < step
        starts = np.flatnonzero(~joined)
        last = np.maximum.reduceat(np.where(joined, joined_at, -1), starts)
        # Without a merge, -1 picks the appended last entry, which is not used.
        ids = np.where(last >= 0, np.append(merge_ids, np.int32(-1))[last], self.ids[starts])
        return Layout(ids, self.counts)

    @property
    def n_text_bytes(self) -> int:
        """About how many bytes of ordinary text have as many slots.

        >>> Layout.of_words([[7, 8], [7]], [3, 5]).n_text_bytes
        72
        """
        return self.ids.size * _BYTES_A_SLOT


def word_characters(letters: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Return the code points of words, with `GAP` after each word.

    >>> words = PretokenCounts(("né".encode(), b"a"), np.array([3, 5]))
    >>> [chr(code) for code in word_characters(words.letters) if code != GAP]
    ['n', 'é', 'a']
    """
    is_gap = letters == AFTER_WORD
    text = np.where(is_gap, np.uint8(0), letters).tobytes().decode()
    points = CodePoints(text).points.copy()
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


_EIGHT: Final = 8
_FIRST_BYTES: Final = np.array([(1 << 8 * width) - 1 for width in range(_EIGHT + 1)], np.uint64)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_HASH_BITS: Final = 20
_HASH_AT: Final = np.uint64(64 - _HASH_BITS)


def write_words(pretokens: PretokenCounts, pretokenizer: Pretokenizer) -> PretokenCounts:
    """Return pre-tokens as the words that are merged; as they are if none gets a space.

    Only the first word of a text does not begin with one.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> counts = PretokenCounts((b"hug", b" pug", b" hug"), np.array([2, 5, 10]))
    >>> found = write_words(counts, get_pretokenizer("metaspace"))
    >>> found.words, found.counts.tolist()
    ((b' hug', b' pug'), [12, 5])
    """
    if not pretokenizer.adds_space:
        return pretokens
    changed: dict[int, list[bytes]] = {}
    words = _Words(pretokens.letters)
    for place in _find_others(pretokens):
        text = words.text(place).replace(META, " ")
        parts = pretokenizer.split(text if text.startswith(" ") else f" {text}")
        changed[place] = [part.encode() for part in parts]
    return _replace(pretokens, changed)


def normalize_words(pretokens: PretokenCounts, pretokenizer: Pretokenizer) -> PretokenCounts:
    """Return words that were given as they are, each in its normal form.

    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> counts = PretokenCounts(("cafe\u0301".encode(), "café".encode()), np.array([2, 5]))
    >>> found = normalize_words(counts, get_pretokenizer("NFC+gpt2"))
    >>> found.words == ("café".encode(),), found.counts.tolist()
    (True, [7])
    """
    normalizer = pretokenizer.normalizer
    if normalizer is None:
        return pretokens
    normal = ((place, normalizer(word.decode())) for place, word in enumerate(pretokens.words))
    changed = {place: [text.encode()] for place, text in normal}
    return _replace(pretokens, {p: w for p, w in changed.items() if w != [pretokens.words[p]]})


def choose_characters(
    pretokens: PretokenCounts, coverage: float
) -> tuple[PretokenCounts, frozenset[bytes]]:
    """Return the words without rare characters, and the alphabet of all others.

    The alphabet is what `reference.choose_characters` returns.

    >>> counts = PretokenCounts((b" hug", b" hu!"), np.array([10, 1]))
    >>> words, alphabet = choose_characters(counts, 0.95)
    >>> words.words, sorted(alphabet)
    ((b' hug', b' hu'), [b' ', b'g', b'h', b'u'])
    """
    order, n_taken = _rank_characters(pretokens, coverage)
    taken = {*map(chr, order[:n_taken].tolist())} - {META} | {" "}
    rare = order[n_taken:][order[n_taken:] != ord(META)]
    left_out = dict.fromkeys(rare.tolist())
    is_rare = np.zeros(0x110000, np.bool_)
    is_rare[rare] = True
    words = _Words(pretokens.letters)
    changed = {
        place: [words.text(place).translate(left_out).encode()]
        for place in (_find_words_with(pretokens, is_rare) if left_out else [])
    }
    return _replace(pretokens, changed), frozenset(each.encode() for each in taken)


def list_characters(pretokens: PretokenCounts, coverage: float) -> list[str]:
    """Return the characters that cover this share of the text, the most frequent first.

    A space is listed as ▁.

    >>> list_characters(PretokenCounts((b" hug", b" hu!"), np.array([10, 1])), 0.95)
    ['h', 'u', '▁', 'g']
    """
    order, n_taken = _rank_characters(pretokens, coverage)
    return list(map(chr, order[:n_taken].tolist()))


def _by_kernels(pretokens: PretokenCounts) -> bool:
    return use_kernels(pretokens.letters.size * _BYTES_A_SLOT)


def _rank_characters(pretokens: PretokenCounts, coverage: float) -> tuple[NDArray[np.int64], int]:
    """Return the code points of all characters by frequency, and how many cover the share."""
    if _by_kernels(pretokens):
        n_uses = WordLetters(pretokens.letters).character_uses(pretokens.counts)
    else:
        points = word_characters(pretokens.letters)
        widths = np.diff(np.flatnonzero(points == GAP), prepend=-1)
        n_uses = np.zeros(0x110000, np.int64)
        np.add.at(n_uses, points, np.repeat(pretokens.counts, widths))
        n_uses[GAP] = 0
    n_uses[ord(META)], n_uses[ord(" ")] = n_uses[ord(" ")], 0
    found = np.flatnonzero(n_uses)
    order = found[np.argsort(-n_uses[found], kind="stable")]
    covered = np.cumsum(n_uses[order]) / max(1, n_uses.sum())
    # What is covered before a character decides whether it is taken.
    return order, 1 + int(np.searchsorted(covered, coverage))


def _find_words_with(pretokens: PretokenCounts, is_wanted: NDArray[np.bool_]) -> list[int]:
    """Return the numbers of the words that have a character for which bool[0x110000] is true."""
    if _by_kernels(pretokens):
        return WordLetters(pretokens.letters).find_with(is_wanted, pretokens.n_words).tolist()
    points = word_characters(pretokens.letters)
    ends = np.flatnonzero(points == GAP)
    return np.unique(np.searchsorted(ends, np.flatnonzero(is_wanted[points]))).tolist()


def _find_others(pretokens: PretokenCounts) -> list[int]:
    """Return the numbers of the words that do not begin with a space, or have another, or a ▁."""
    letters = pretokens.letters
    if _by_kernels(pretokens):
        return WordLetters(letters).find_unwritten(pretokens.n_words).tolist()
    gaps = np.flatnonzero(letters == AFTER_WORD)
    begins = np.append(0, gaps[:-1] + 1)[: gaps.size]
    spaces = letters == ord(" ")
    begins_otherwise = np.flatnonzero(~spaces[begins])
    spaces[begins] = False
    first, second, third = META.encode()
    places = np.flatnonzero(letters == second)
    places = places[(letters[places - 1] == first) & (letters[places + 1] == third)]
    inside = np.searchsorted(gaps, np.append(np.flatnonzero(spaces), places))
    return np.unique(np.append(begins_otherwise, inside)).tolist()


class _Words:
    """The words of counted pre-tokens, none of which becomes an object before it is asked for."""

    def __init__(self, letters: NDArray[np.uint8]) -> None:
        self._letters = letters
        self.stops = np.flatnonzero(letters == AFTER_WORD)
        self.starts = np.append(0, self.stops[:-1] + 1)[: self.stops.size]

    def text(self, place: int) -> str:
        """Return a word."""
        return self._letters[self.starts[place] : self.stops[place]].tobytes().decode()

    def hashes(self) -> NDArray[np.uint64]:
        """Return a number below 2**20 for each word, of its first bytes and its length."""
        widths = self.stops - self.starts
        padded = np.append(self._letters, np.zeros(_EIGHT, np.uint8))
        # The eight bytes from each byte on; those after a short word are masked.
        eights = np.ndarray(self._letters.size, "<u8", padded.data, strides=(1,))
        keys = eights[self.starts] & _FIRST_BYTES[np.minimum(widths, _EIGHT)]
        return (keys ^ widths.astype(np.uint64)) * _FACTOR >> _HASH_AT


def _replace(pretokens: PretokenCounts, changed: Mapping[int, Sequence[bytes]]) -> PretokenCounts:
    """Return counts with others in the place of some words, in the order of first occurrence.

    changed: what the words at these places, in ascending order, become.
    """
    if not changed:
        return pretokens
    letters, counts = pretokens.letters, pretokens.counts.copy()
    words = _Words(letters)
    made: dict[bytes, int] = {}
    firsts: dict[bytes, int] = {}
    """After which word each occurs first: the place of the word that became it."""
    for place, parts in changed.items():
        for part in parts:
            made[part] = made.get(part, 0) + int(counts[place])
            firsts.setdefault(part, place)
    removed = set(changed)
    parts = PretokenCounts(list(made), np.zeros(len(made), np.int64)).letters
    may_be_made = np.zeros(1 << _HASH_BITS, np.bool_)
    may_be_made[_Words(parts).hashes()] = True
    for place in np.flatnonzero(may_be_made[words.hashes()]).tolist():
        word = words.text(place).encode()
        if word not in made or place in changed:
            continue
        if place < firsts[word]:
            counts[place] += made.pop(word)
        else:
            made[word] += int(counts[place])
            removed.add(place)
    first_at = defaultdict[int, list[bytes]](list)
    for word in made:
        first_at[firsts[word]].append(word)
    all_letters: list[bytes | memoryview] = []
    all_counts: list[NDArray[np.int64]] = []
    after = 0
    for place in [*sorted(removed), len(counts)]:
        stop = words.starts[place] if place < len(counts) else letters.size
        all_letters.append(
            letters[words.starts[after] if after < len(counts) else stop : stop].data
        )
        all_counts.append(counts[after:place])
        for word in first_at[place]:
            all_letters += [word, bytes([AFTER_WORD])]
            all_counts.append(np.array([made[word]]))
        after = place + 1
    joined = np.frombuffer(b"".join(all_letters), np.uint8)
    return PretokenCounts.of_letters(joined, np.concatenate(all_counts))
