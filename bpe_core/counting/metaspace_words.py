"""Turn counted pre-tokens into the words that a tokenizer of SentencePiece's family learns from.

Each word begins with a space, the first of a text too, and has no other; in files, it is a ▁.
Characters beyond the share that the alphabet covers are left out of the words, as in Hugging Face's
trainer.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bpe_core.counting.word_row import code_points
from bpe_core.pretokenizers.pretokenizers import Pretokenizer
from bpe_core.types import PretokenCounts
from bpe_core.unicode.byte_alphabet import META


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
    meta = META.encode()
    words: list[bytes] = []
    counts: list[int] = []
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        if word.rfind(b" ") == 0 and meta not in word:
            words.append(word)
            counts.append(count)
        else:
            text = word.decode().replace(META, " ")
            _, *parts = (text if text.startswith(" ") else f" {text}").split(" ")
            words += [f" {part}".encode() for part in parts]
            counts += [count] * len(parts)
    return _add_equal(words, counts)


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
    points, gap = code_points(pretokens.letters)
    ends = np.flatnonzero(points == gap)
    n_uses = np.zeros(0x110000, np.int64)
    np.add.at(n_uses, points, np.repeat(pretokens.counts, np.diff(ends, prepend=-1)))
    n_uses[gap] = 0
    n_uses[ord(META)] = n_uses[ord(" ")]
    n_uses[ord(" ")] = 0
    found = np.flatnonzero(n_uses)
    order = found[np.argsort(-n_uses[found], kind="stable")]
    covered = np.cumsum(n_uses[order])
    # What is covered before a character decides whether it is taken.
    n_taken = int(np.searchsorted(covered / max(1, n_uses.sum()), coverage)) + 1
    taken = {*map(chr, order[:n_taken].tolist())} - {META} | {" "}
    alphabet = frozenset(character.encode() for character in taken)
    rare = {character: None for character in order[n_taken:].tolist() if character != ord(META)}
    if rare:
        words = (word.decode().translate(rare).encode() for word in pretokens.words)
        pretokens = _add_equal(words, pretokens.counts.tolist())
    return pretokens, alphabet


def _add_equal(words: Iterable[bytes], counts: Iterable[int]) -> PretokenCounts:
    """Return counts of distinct words, in the order of first occurrence."""
    total: dict[bytes, int] = {}
    for word, count in zip(words, counts, strict=True):
        total[word] = total.get(word, 0) + count
    return PretokenCounts(total, np.array(list(total.values()), np.int64))
