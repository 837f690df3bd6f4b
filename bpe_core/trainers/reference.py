"""Byte-Pair Encoding, trainer and encoder, written as plainly as possible.

Every faster trainer and encoder in this package is tested against this one. It is slow, because it
recounts all pairs before each merge. It works on lists of ids rather than strings, so no character
in the text can be mistaken for a separator.

Source: Sennrich, Haddow and Birch, "Neural Machine Translation of Rare Words with Subword Units"
(ACL 2016), section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.trainers.base_vocabulary import GrowingVocabulary, split_symbols
from bpe_core.types import (
    Characters,
    Merge,
    Pair,
    PretokenCounts,
    StopReason,
    TieBreak,
    TrainingConfig,
)
from bpe_core.unicode import META


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """The result of the reference trainer."""

    vocab: dict[int, bytes]
    merges: list[Merge]
    splits: list[list[int]]
    """The ids of each pre-token after the last merge."""
    special_tokens: dict[str, int]
    base_ids: dict[bytes, int]
    end_of_word_id: int | None
    stop_reason: StopReason


def count_words(documents: Iterable[str], cut: Callable[[str], Sequence[str]]) -> dict[str, int]:
    """Split each document into words and count them, in order of first occurrence.

    >>> count_words(["hug hugs", "hug"], str.split)
    {'hug': 2, 'hugs': 1}
    """
    word_counts: dict[str, int] = {}
    for document in documents:
        for word in cut(document):
            word_counts[word] = word_counts.get(word, 0) + 1
    return word_counts


def count_pairs(words: Sequence[Sequence[int]], counts: Iterable[int]) -> dict[Pair, int]:
    """Count adjacent pairs, weighted by word count, in order of first occurrence.

    >>> count_pairs([[7, 7, 7], [7, 8]], [1, 10])
    {(7, 7): 2, (7, 8): 10}
    """
    pair_counts: dict[Pair, int] = {}
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            pair_counts[pair] = pair_counts.get(pair, 0) + count
    return pair_counts


def order_pairs(pair_counts: Mapping[Pair, int], tie_break: TieBreak) -> list[Pair]:
    """Return pairs, the most frequent first; ties go to the smallest ids or the first occurrence.

    >>> order_pairs({(5, 6): 3, (1, 2): 3, (0, 0): 4}, "smallest-pair")
    [(0, 0), (1, 2), (5, 6)]
    >>> order_pairs({(5, 6): 3, (1, 2): 3, (0, 0): 4}, "first-seen")
    [(0, 0), (5, 6), (1, 2)]
    """
    pairs = sorted(pair_counts) if tie_break == "smallest-pair" else pair_counts
    return sorted(pairs, key=lambda pair: -pair_counts[pair])  # keeps the order of equal ones


def choose_pair(pair_counts: Mapping[Pair, int], tie_break: TieBreak) -> Pair:
    """Return the first pair in the order of `order_pairs`.

    >>> choose_pair({(5, 6): 3, (1, 2): 3, (0, 0): 1}, "smallest-pair")
    (1, 2)
    >>> choose_pair({(5, 6): 3, (1, 2): 3, (0, 0): 1}, "first-seen")
    (5, 6)
    """
    best = max(pair_counts.values())
    return order_pairs({p: n for p, n in pair_counts.items() if n == best}, tie_break)[0]


def apply_merge(symbols: Sequence[int], pair: Pair, new_id: int) -> list[int]:
    """Replace every occurrence of a pair by a new id, from left to right without overlap.

    >>> apply_merge([7, 7, 7, 8], (7, 7), 9)
    [9, 7, 8]
    """
    merged: list[int] = []
    i = 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            merged.append(new_id)
            i += 2
        else:
            merged.append(symbols[i])
            i += 1
    return merged


def learn_merges(
    words: Sequence[Sequence[int]],
    counts: Sequence[int],
    vocabulary: GrowingVocabulary,
    config: TrainingConfig,
    forbids: Callable[[int, int], bool] | None = None,
) -> tuple[list[Merge], list[list[int]], StopReason]:
    """Merge the most frequent pair that nothing `forbids`; return merges, split words, stop reason.

    >>> config = TrainingConfig(4, base="characters", special_tokens=())
    >>> vocabulary = GrowingVocabulary(config, [b"g", b"h", b"u"])
    >>> learn_merges([[1, 2, 0]], [10], vocabulary, config)
    ([Merge(rank=0, left=1, right=2, id=3, count=10)], [[3, 0]], 'vocab-size')
    """
    merges: list[Merge] = []
    splits = [list(word) for word in words]
    while True:
        if len(vocabulary) >= config.vocab_size:
            return merges, splits, "vocab-size"
        pair_counts = count_pairs(splits, counts)
        if config.max_token_bytes is not None:
            pair_counts = short_pairs(pair_counts, vocabulary.tokens, config.max_token_bytes)
        if forbids is not None:
            pair_counts = {p: n for p, n in pair_counts.items() if not forbids(*p)}
        if not pair_counts:
            return merges, splits, "no-pairs"
        pair = choose_pair(pair_counts, config.tie_break)
        if pair_counts[pair] < config.min_frequency:
            return merges, splits, "min-frequency"
        new_id = vocabulary.join(*pair)
        merges.append(Merge(len(merges), *pair, new_id, pair_counts[pair]))
        splits = [apply_merge(word, pair, new_id) for word in splits]


def short_pairs(
    pair_counts: Mapping[Pair, int], tokens: Sequence[bytes], max_bytes: int
) -> dict[Pair, int]:
    """Return the pairs whose merged token would have at most `max_bytes` bytes.

    >>> short_pairs({(0, 1): 5, (1, 1): 3}, [b"hug", b"s"], 3)
    {(1, 1): 3}
    """
    return {
        (left, right): count
        for (left, right), count in pair_counts.items()
        if len(tokens[left] + tokens[right]) <= max_bytes
    }


def choose_characters(pretokens: PretokenCounts, coverage: float) -> set[bytes]:
    """Return the space and the most frequent characters that cover this share of all characters.

    As in SentencePiece, of equally frequent characters those with the lowest code points are
    taken, and a space has that of ▁.

    >>> import numpy as np
    >>> words = PretokenCounts((b" hug", b" ugh", b" q"), np.array([10, 5, 1]))
    >>> sorted(choose_characters(words, 0.95)), len(choose_characters(words, 1.0))
    ([b' ', b'g', b'h', b'u'], 5)
    """
    counts: dict[str, int] = {}
    for word, count in zip(pretokens.words, pretokens.counts.tolist(), strict=True):
        for character in word.decode().replace(" ", META):
            counts[character] = counts.get(character, 0) + count
    total = sum(counts.values())
    chosen = {b" "}
    covered = 0
    for character in sorted(counts, key=lambda each: (-counts[each], each)):
        if covered / total >= coverage:
            break
        chosen.add(character.replace(META, " ").encode())
        covered += counts[character]
    return chosen


def train_reference(
    pretokens: PretokenCounts,
    config: TrainingConfig,
    document_symbols: Iterable[bytes] | None = None,
) -> ReferenceRun:
    """Learn merges from pre-tokens until the vocabulary is full or no pair is frequent enough.

    For a "seen" alphabet, `document_symbols` are the base symbols that occur in the documents;
    by default, those that occur in the pre-tokens. With byte fallback, they are those that
    `choose_characters` returns. Raises `VocabularyTooSmallError`.

    >>> import numpy as np
    >>> words = PretokenCounts((b"hug", b"ugg"), np.array([10, 5]))
    >>> config = TrainingConfig(6, base="characters", end_of_word="</w>", special_tokens=())
    >>> run = train_reference(words, config)
    >>> [(run.vocab[m.left], run.vocab[m.right], m.count) for m in run.merges]
    [(b'g', b'</w>', 15), (b'h', b'u', 10)]
    """
    if document_symbols is None:
        document_symbols = {s for word in pretokens.words for s in split_symbols(word, config.base)}
    if isinstance(config.alphabet, Characters):
        document_symbols = choose_characters(pretokens, config.alphabet.coverage)
    vocabulary = GrowingVocabulary(config, document_symbols)
    words = [vocabulary.start(word) for word in pretokens.words]
    counts: list[int] = pretokens.counts.tolist()
    merges, splits, stop_reason = learn_merges(words, counts, vocabulary, config)
    return ReferenceRun(
        vocab=dict(enumerate(vocabulary.tokens)),
        merges=merges,
        splits=splits,
        special_tokens=vocabulary.special_tokens,
        base_ids=vocabulary.base_ids,
        end_of_word_id=vocabulary.end_of_word_id,
        stop_reason=stop_reason,
    )


def encode_reference(symbols: Sequence[int], merges: Mapping[Pair, Merge]) -> list[int]:
    """Encode one pre-token: while any adjacent pair has a merge, apply the earliest learned.

    >>> merges = {(0, 1): Merge(0, 0, 1, 3), (3, 2): Merge(1, 3, 2, 4), (1, 2): Merge(2, 1, 2, 5)}
    >>> encode_reference([0, 1, 2, 1, 2], merges)
    [4, 5]
    """
    ids = list(symbols)
    while known := [merges[pair] for pair in pairwise(ids) if pair in merges]:
        merge = min(known, key=lambda merge: merge.rank)
        ids = apply_merge(ids, merge.pair, merge.id)
    return ids
