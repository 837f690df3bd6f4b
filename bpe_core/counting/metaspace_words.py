"""Turn counted pre-tokens into the words that a tokenizer of SentencePiece's family learns from.

Each word begins with a space, the first of a text too; in files, it is a ▁.
Characters beyond the share that the alphabet covers are left out of the words, as in Hugging Face's
trainer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import BYTES_A_SLOT, GAP, word_characters
from bpe_core.kernels import use_kernels
from bpe_core.pretokenizers import Pretokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode import AFTER_WORD, META

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
    return use_kernels(pretokens.letters.size * BYTES_A_SLOT)


def _rank_characters(pretokens: PretokenCounts, coverage: float) -> tuple[NDArray[np.int64], int]:
    """Return the code points of all characters by frequency, and how many cover the share."""
    if _by_kernels(pretokens):
        # Imported when needed, here and below, because it loads the kernels.
        from bpe_core.counting.compiled_row import character_uses

        n_uses = character_uses(pretokens.letters, pretokens.counts)
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
        from bpe_core.counting.compiled_row import words_with

        return words_with(pretokens.letters, is_wanted, pretokens.n_words).tolist()
    points = word_characters(pretokens.letters)
    ends = np.flatnonzero(points == GAP)
    return np.unique(np.searchsorted(ends, np.flatnonzero(is_wanted[points]))).tolist()


def _find_others(pretokens: PretokenCounts) -> list[int]:
    """Return the numbers of the words that do not begin with a space, or have another, or a ▁."""
    letters = pretokens.letters
    if _by_kernels(pretokens):
        from bpe_core.counting.compiled_row import unwritten_words

        return unwritten_words(letters, pretokens.n_words).tolist()
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
