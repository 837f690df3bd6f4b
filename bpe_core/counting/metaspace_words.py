"""Turn counted pre-tokens into the words that a tokenizer of SentencePiece's family learns from.

Each word begins with a space, the first of a text too; in files, it is a ▁.
Characters beyond the share that the alphabet covers are left out of the words, as in Hugging Face's
trainer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bpe_core.counting.word_row import GAP, word_characters
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode.byte_alphabet import META
from bpe_core.unicode.utf8_states import AFTER_WORD


def write_words(pretokens: PretokenCounts, pretokenizer: Pretokenizer) -> PretokenCounts:
    """Return pre-tokens as the words that are merged; as they are if none gets a space.

    Only the first word of a text does not begin with one.

    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> counts = PretokenCounts((b"hug", b" pug", b" hug"), np.array([2, 5, 10]))
    >>> found = write_words(counts, get_pretokenizer("metaspace"))
    >>> found.words, found.counts.tolist()
    ((b' hug', b' pug'), [12, 5])
    """
    if not pretokenizer.adds_space:
        return pretokens
    changed: dict[int, list[bytes]] = {}
    for place in _find_others(pretokens.letters):
        text = pretokens.words[place].decode().replace(META, " ")
        parts = pretokenizer.split(text if text.startswith(" ") else f" {text}")
        changed[place] = [part.encode() for part in parts]
    return _replace(pretokens, changed)


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
    points = word_characters(pretokens.letters)
    ends = np.flatnonzero(points == GAP)
    order, n_taken = _rank_characters(points, ends, pretokens.counts, coverage)
    taken = {*map(chr, order[:n_taken].tolist())} - {META} | {" "}
    rare = order[n_taken:][order[n_taken:] != ord(META)]
    left_out = dict.fromkeys(rare.tolist())
    is_rare = np.zeros(0x110000, np.bool_)
    is_rare[rare] = True
    places: list[int] = np.unique(np.searchsorted(ends, np.flatnonzero(is_rare[points]))).tolist()
    changed = {
        place: [pretokens.words[place].decode().translate(left_out).encode()] for place in places
    }
    return _replace(pretokens, changed), frozenset(each.encode() for each in taken)


def list_characters(pretokens: PretokenCounts, coverage: float) -> list[str]:
    """Return the characters that cover this share of the text, the most frequent first.

    A space is listed as ▁.

    >>> list_characters(PretokenCounts((b" hug", b" hu!"), np.array([10, 1])), 0.95)
    ['h', 'u', '▁', 'g']
    """
    points = word_characters(pretokens.letters)
    ends = np.flatnonzero(points == GAP)
    order, n_taken = _rank_characters(points, ends, pretokens.counts, coverage)
    return list(map(chr, order[:n_taken].tolist()))


def _rank_characters(
    points: NDArray[np.uint32], ends: NDArray[np.int64], counts: NDArray[np.int64], coverage: float
) -> tuple[NDArray[np.int64], int]:
    """Return the code points of all characters by frequency, and how many cover the share."""
    n_uses = np.zeros(0x110000, np.int64)
    np.add.at(n_uses, points, np.repeat(counts, np.diff(ends, prepend=-1)))
    n_uses[GAP] = 0
    n_uses[ord(META)], n_uses[ord(" ")] = n_uses[ord(" ")], 0
    found = np.flatnonzero(n_uses)
    order = found[np.argsort(-n_uses[found], kind="stable")]
    covered = np.cumsum(n_uses[order]) / max(1, n_uses.sum())
    # What is covered before a character decides whether it is taken.
    return order, 1 + int(np.searchsorted(covered, coverage))


def _find_others(letters: NDArray[np.uint8]) -> list[int]:
    """Return the numbers of the words that do not begin with a space, or have another, or a ▁."""
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


def _replace(pretokens: PretokenCounts, changed: Mapping[int, Sequence[bytes]]) -> PretokenCounts:
    """Return counts with others in the place of some words, in the order of first occurrence."""
    if not changed:
        return pretokens
    words = [*pretokens.words]
    counts: list[int] = pretokens.counts.tolist()
    numbers = dict(zip(words, range(len(words)), strict=True))
    for place in changed:
        del numbers[words[place]]
    firsts: list[int] = (np.arange(len(words)) << 32).tolist()
    for place, parts in changed.items():
        for nth, part in enumerate(parts):
            number = numbers.setdefault(part, len(words))
            first = (place << 32) + nth
            if number == len(words):
                words.append(part)
                counts.append(0)
                firsts.append(first)
            counts[number] += counts[place]
            firsts[number] = min(firsts[number], first)
    kept = np.fromiter(numbers.values(), np.int64, len(numbers))
    in_order: list[int] = kept[np.argsort(np.array(firsts)[kept], kind="stable")].tolist()
    ordered = np.array([counts[number] for number in in_order], np.int64)
    return PretokenCounts([words[number] for number in in_order], ordered)
