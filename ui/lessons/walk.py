"""Train with the reference trainer, keeping what is needed to inspect every step; and shortcuts.

What shortcuts get wrong: no cuts, longest match, wrong look-ups, and added tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from bpe_core.errors import EmptyCorpusError
from bpe_core.tokenizer import Tokenizer, Trie
from bpe_core.trainers import (
    ReferenceRun,
    apply_merge,
    choose_pair,
    count_pairs,
    encode_reference,
    short_pairs,
    split_symbols,
    train_reference,
)
from bpe_core.types import Merge, Pair, PretokenCounts, TrainingConfig


@dataclass(frozen=True, slots=True)
class Term:
    """The contribution of one word to a pair's count: `times` multiplied by `count`."""

    word: str
    times: int
    """Occurrences of the pair in the word, overlapping ones included."""
    count: int
    """Occurrences of the word."""


@dataclass(frozen=True, slots=True)
class Walk:
    """A finished training whose every step can be inspected; make one with `walk`."""

    config: TrainingConfig
    run: ReferenceRun
    words: tuple[str, ...]
    counts: tuple[int, ...]
    """Occurrences of each word."""
    starts: tuple[tuple[int, ...], ...]
    """The ids of the symbols of each word before the first merge."""

    @property
    def merges(self) -> Sequence[Merge]:
        """The merges learned, in order."""
        return self.run.merges

    @property
    def n_start(self) -> int:
        """The size of the vocabulary before the first merge."""
        return len(self.run.vocab) - len({merge.id for merge in self.merges})

    def words_at(self, step: int) -> list[list[int]]:
        """Return the ids of each word after `step` merges."""
        words = [list(start) for start in self.starts]
        for merge in self.merges[:step]:
            words = [apply_merge(word, merge.pair, merge.id) for word in words]
        return words

    def pair_counts_at(self, step: int) -> dict[Pair, int]:
        """Return the count of every pair after `step` merges, in order of first occurrence."""
        pair_counts = count_pairs(self.words_at(step), self.counts)
        if self.config.max_token_bytes is None:
            return pair_counts
        tokens = [self.run.vocab[id] for id in sorted(self.run.vocab)]
        return short_pairs(pair_counts, tokens, self.config.max_token_bytes)

    def next_pair_at(self, step: int) -> Pair | None:
        """Return the most frequent pair by the tie rule; None if no word has two symbols."""
        pair_counts = self.pair_counts_at(step)
        return choose_pair(pair_counts, self.config.tie_break) if pair_counts else None

    def pair_joined_at(self, step: int) -> Pair | None:
        """Return the pair that the next merge joins; None after the last merge."""
        return self.merges[step].pair if step < len(self.merges) else None

    def first_split(self) -> int | None:
        """Return the first step at which the two rules for ties join different pairs, or None."""
        for step in range(len(self.merges)):
            counts = self.pair_counts_at(step)
            if choose_pair(counts, "first-seen") != choose_pair(counts, "smallest-pair"):
                return step
        return None

    def terms(self, step: int, pair: Pair) -> list[Term]:
        """Return the words that contribute to a pair's count at a step.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> [(term.word, term.times, term.count) for term in hugs.terms(0, hugs.merges[0].pair)]
        [('hug', 1, 10), ('ugg', 1, 5)]
        """
        found: list[Term] = []
        for word, count, ids in zip(self.words, self.counts, self.words_at(step), strict=True):
            times = sum(neighbours == pair for neighbours in pairwise(ids))
            if times:
                found.append(Term(word, times, count))
        return found

    def find_pair(self, left: str, right: str) -> Pair | None:
        """Return the ids of two tokens by their spelling; None if one of them does not exist.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> hugs.find_pair("h", "u"), hugs.find_pair("h", "x")
        ((2, 3), None)
        """
        ids = {token: id for id, token in reversed(self.run.vocab.items())}
        found = ids.get(left.encode()), ids.get(right.encode())
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def base_symbols(self, word: str) -> list[int] | None:
        """Return the ids of a new word's symbols; None if the alphabet lacks one of them."""
        symbols = [self.run.base_ids.get(s) for s in split_symbols(word.encode(), self.config.base)]
        ids = [id for id in symbols if id is not None]
        if len(ids) < len(symbols):
            return None
        return ids if self.run.end_of_word_id is None else [*ids, self.run.end_of_word_id]

    def encode(self, symbols: Sequence[int]) -> list[int]:
        """Encode a word's symbols with the merges learned."""
        return encode_reference(symbols, {merge.pair: merge for merge in self.merges})

    def encoding_steps(self, symbols: Sequence[int]) -> list[tuple[Merge, list[int]]]:
        """Return each merge applied in encoding a word, and the ids after it.

        >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
        >>> [ids for _, ids in hugs.encoding_steps(hugs.base_symbols("hugg"))]
        [[2, 4, 1], [5, 1]]
        """
        found: list[tuple[Merge, list[int]]] = []
        ids = list(symbols)
        for merge in self.merges:
            merged = apply_merge(ids, merge.pair, merge.id)
            if merged != ids:
                ids = merged
                found.append((merge, ids))
        return found


def walk(
    word_counts: Mapping[str, int],
    config: TrainingConfig,
    document_symbols: Iterable[bytes] | None = None,
) -> Walk:
    """Train with the reference on words and their counts, keeping what is needed to inspect steps.

    `document_symbols` is passed to `train_reference`. Raises `EmptyCorpusError` if there are no
    words, and `VocabularyTooSmallError`.

    >>> hugs = walk({"hug": 10, "ugg": 5}, TrainingConfig(9, base="characters"))
    >>> hugs.pair_counts_at(0)
    {(2, 3): 10, (3, 1): 15, (1, 1): 5}
    >>> hugs.words_at(1), hugs.n_start
    ([[2, 4], [4, 1]], 4)
    """
    if not word_counts:
        raise EmptyCorpusError("There are no words to learn from. Write at least one.")
    pretokens = PretokenCounts(
        tuple(word.encode() for word in word_counts),
        np.array(list(word_counts.values()), dtype=np.int64),
    )
    run = train_reference(pretokens, config, document_symbols)
    marker = [] if run.end_of_word_id is None else [run.end_of_word_id]
    return Walk(
        config=config,
        run=run,
        words=tuple(word_counts),
        counts=tuple(word_counts.values()),
        starts=tuple(
            (*(run.base_ids[symbol] for symbol in split_symbols(word, config.base)), *marker)
            for word in pretokens.words
        ),
    )


def crossing(learned: Walk, cut: Callable[[str], Sequence[str]]) -> list[bool]:
    """Return for each merge whether its token ever crosses a position where `cut` cuts a word.

    Whole words are cut, not the tokens: a token by itself, such as `n` and the first byte of `é`,
    may be cut differently.

    >>> from ui.lessons.walk import walk
    >>> from bpe_core.pretokenizers import get_pretokenizer
    >>> from bpe_core.types import TrainingConfig
    >>> learned = walk({"a dog. a dog.": 1}, TrainingConfig(260, special_tokens=()))
    >>> [learned.run.vocab[merge.id] for merge in learned.merges]
    [b'a ', b'do', b'g.', b'a do']
    >>> crossing(learned, get_pretokenizer("gpt2").split)
    [True, False, True, True]
    """
    borders = [set(accumulate(len(piece.encode()) for piece in cut(w))) for w in learned.words]
    words = [list(start) for start in learned.starts]
    found: list[bool] = []
    for merge in learned.merges:
        words = [apply_merge(word, merge.pair, merge.id) for word in words]
        found.append(
            any(
                not places.isdisjoint(range(start + 1, end))
                for word, places in zip(words, borders, strict=True)
                for start, end in _byte_spans(word, merge.id, learned.run.vocab)
            )
        )
    return found


def _byte_spans(
    word: Iterable[int], id: int, vocab: Mapping[int, bytes]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of a token in a word, in bytes."""
    end = 0
    for each in word:
        start, end = end, end + len(vocab[each])
        if each == id:
            yield start, end


def build_trie(learned: Walk) -> Trie:
    """Return the trie of the merges that a walk has learned.

    >>> from ui.lessons.walk import walk
    >>> from bpe_core.types import TrainingConfig
    >>> config = TrainingConfig(6, base="characters", special_tokens=())
    >>> build_trie(walk({"hug": 2, "ug": 1}, config)).encode([1, 2, 0])
    [4]
    """
    return Trie(
        {merge.pair: merge.rank for merge in learned.merges},
        [merge.id for merge in learned.merges],
    )


def longest_matches(trie: Trie, symbols: Sequence[int]) -> list[int]:
    """Encode by taking the longest matching token, over and over; this is not BPE.

    >>> longest_matches(Trie({(0, 1): 0, (2, 3): 1, (4, 2): 2}, [4, 5, 6]), [0, 1, 2, 3])
    [6, 3]
    """
    ids: list[int] = []
    at = 0
    while at < len(symbols):
        id, length = trie.longest_match(symbols, at)
        ids.append(id)
        at += length
    return ids


def encode_with_added(tokenizer: Tokenizer, added: Mapping[str, int], text: str) -> list[int]:
    """Encode as after `add_tokens`: take added tokens out of the text, then encode what is left.

    >>> from bpe_core.tokenizer import gpt2
    >>> ids = encode_with_added(gpt2(), {"token": 50257}, "a tokenizer")
    >>> [gpt2().vocab.get(id, b"token") for id in ids]
    [b'a', b' ', b'token', b'izer']
    """
    ids: list[int] = []
    longest_first = sorted(added, key=len, reverse=True)
    rest = start = 0
    while start < len(text):
        found = next((one for one in longest_first if text.startswith(one, start)), "")
        if found:
            ids += [*tokenizer.encode(text[rest:start]), added[found]]
            rest = start = start + len(found)
        else:
            start += 1
    return ids + tokenizer.encode(text[rest:])


def look_up_all(table: Mapping[int, bytes], keys: Iterable[object]) -> str:
    """Look keys up in a table of ids; return the KeyError of the first missing one, or "".

    >>> look_up_all({104: b"h"}, [104, "h"])
    "KeyError: 'h'"
    """
    for key in keys:
        if key not in table:
            return f"KeyError: {key!r}"
    return ""


def look_up_without_return(
    vocab: Mapping[int, bytes], tokens: Sequence[bytes]
) -> tuple[list[int | None], bytes]:
    """Look tokens up in one walk through a trie, without returning to the root in between.

    Return the id found after each token (None at a node where no token ends), and the bytes walked
    when no branch was left, or b"" if the walk was completed.

    >>> look_up_without_return({0: b"h", 1: b"ug", 2: b"hu"}, [b"h", b"u"])
    ([0, 2], b'')
    >>> look_up_without_return({0: b"h", 1: b"ug", 2: b"hu"}, [b"h", b"ug"])
    ([0], b'hug')
    """
    ids = {token: id for id, token in vocab.items()}
    found: list[int | None] = []
    walked = b""
    for token in tokens:
        # A node is named by all bytes walked since the root.
        for byte in token:
            walked += bytes([byte])
            if not any(each.startswith(walked) for each in ids):
                return found, walked
        found.append(ids.get(walked))
    return found, b""
