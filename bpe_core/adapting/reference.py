"""Continued Byte-Pair Encoding, written as plainly as possible.

`extend` is tested against this twin, which recounts all pairs before each merge.

Source: "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for Pre-trained Models"
(arXiv 2512.03989).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from bpe_core.adapting.merge_terms import MAX_PARTS, MAX_TRIED
from bpe_core.runs.continuation import reviving_tokens
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.reference import apply_merge, choose_pair, count_pairs, encode_reference
from bpe_core.types import Merge, Pair, StopReason, TieBreak


@dataclass(frozen=True, slots=True)
class ReferenceExtension:
    """The result of `extend_reference`."""

    merges: list[Merge]
    """The new merges, with ranks from 0; those for terms come first."""
    words: list[list[int]]
    """The ids of each word after the last merge."""
    new_tokens: dict[int, tuple[int, ...]]
    """The ids that each new token is spelled with in the base."""
    stop_reason: StopReason
    terms: list[tuple[bytes | None, int, int]]
    """For each term: its token, or None; how many tokens it took; how many it saved."""


def extend_reference(
    base: Tokenizer,
    word_counts: Mapping[str, int],
    n_tokens: int,
    *,
    min_frequency: int = 0,
    tie_break: TieBreak = "smallest-pair",
    max_token_bytes: int | None = None,
    terms: Sequence[str | bytes] = (),
    left_out: Collection[bytes] = (),
) -> ReferenceExtension:
    """Encode words with the base, merge for terms, then merge the most frequent pair repeatedly.

    A pair whose bytes spell a token of the base, one of `left_out` or one of `reviving_tokens` is
    never merged.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> extended = extend_reference(gpt2(), {" tokenizer": 2, " tokens": 1}, n_tokens=1)
    >>> [(gpt2().vocab[merge.left], gpt2().vocab[merge.right]) for merge in extended.merges]
    [(b' token', b'izer')]
    """
    taken = {*base.vocab.values(), *left_out, *reviving_tokens(base)}
    corpus = _Corpus(base, word_counts, taken, max_token_bytes)
    costs = [_make_term(corpus, base, term, n_tokens, tie_break) for term in terms]
    stop_reason: StopReason = "vocab-size"
    while len(corpus.merges) < n_tokens:
        pairs = corpus.pairs()
        if not pairs:
            stop_reason = "no-pairs"
            break
        pair = choose_pair(pairs, tie_break)
        if pairs[pair] < min_frequency:
            stop_reason = "min-frequency"
            break
        corpus.merge(pair)
    new_tokens = {merge.id: corpus.spelled[merge.id] for merge in corpus.merges}
    return ReferenceExtension(corpus.merges, corpus.words, new_tokens, stop_reason, costs)


class _Corpus:
    """The words of a corpus, and the tokens that they consist of."""

    def __init__(
        self,
        base: Tokenizer,
        word_counts: Mapping[str, int],
        taken: Collection[bytes],
        max_token_bytes: int | None,
    ) -> None:
        self.tokens: dict[int, bytes] = dict(base.vocab)
        self.word_counts = word_counts
        self.words = [encode_word(base, word) for word in word_counts]
        self.spelled: dict[int, tuple[int, ...]] = {id: (id,) for id in self.tokens}
        self.merges: list[Merge] = []
        self._taken = taken
        self._spelling = {*base.byte_ids.values()}
        self._max_token_bytes = max_token_bytes

    def __len__(self) -> int:
        return sum(len(word) * n for word, n in zip(self.words, self._counts, strict=True))

    @property
    def _counts(self) -> list[int]:
        return list(self.word_counts.values())

    def pairs(self) -> dict[Pair, int]:
        """Count the pairs that may merge."""
        pairs: dict[Pair, int] = {}
        for (left, right), count in count_pairs(self.words, self._counts).items():
            if min(left, right) < 0 or {left, right} & self._spelling:
                continue  # a symbol missing from the alphabet
            if self.may_merge(left, right):
                pairs[left, right] = count
        return pairs

    def may_merge(self, left: int, right: int) -> bool:
        """Return whether two tokens may merge: what they spell is neither taken nor too long."""
        token = self.tokens[left] + self.tokens[right]
        is_short = self._max_token_bytes is None or len(token) <= self._max_token_bytes
        return token not in self._taken and is_short

    def merge(self, pair: Pair) -> None:
        """Merge a pair everywhere."""
        left, right = pair
        new_id = max(self.tokens) + 1
        count = self.pairs().get(pair, 0)
        self.tokens[new_id] = self.tokens[left] + self.tokens[right]
        self.spelled[new_id] = self.spelled[left] + self.spelled[right]
        self.merges.append(Merge(len(self.merges), left, right, new_id, count))
        self.words = [apply_merge(word, pair, new_id) for word in self.words]

    def copy(self) -> _Corpus:
        """Return a copy on which to try merges."""
        other = copy(self)
        other.tokens, other.spelled = dict(self.tokens), dict(self.spelled)
        other.merges = list(self.merges)
        return other

    def take_over(self, other: _Corpus) -> None:
        """Become equal to another, on which merges were tried."""
        self.tokens, self.spelled = other.tokens, other.spelled
        self.merges, self.words = other.merges, other.words


def _make_term(
    corpus: _Corpus, base: Tokenizer, term: str | bytes, n_tokens: int, tie_break: TieBreak
) -> tuple[bytes | None, int, int]:
    """Make a term one token, if that is possible and there is room; return what it cost."""
    possible: list[list[int]] = []
    for ids in _spell_term(term, base, corpus.word_counts):
        for merge in corpus.merges:
            ids = apply_merge(ids, merge.pair, merge.id)
        if min(ids) < 0 or set(ids) & {*base.byte_ids.values()}:
            continue
        if len(ids) == 1:
            return corpus.tokens[ids[0]], 0, 0
        if len(ids) <= MAX_PARTS:
            possible.append(ids)
        found = _joined(corpus, ids, tie_break, set()) if len(ids) <= MAX_PARTS else None
        if found is not None:
            return _taken(corpus, found, n_tokens)
    # The corpus contains none of the forms, so pairs that do not occur are merged too.
    for ids in possible:
        found = _joined(corpus, ids, tie_break, set(), absent=True)
        if found is not None:
            return _taken(corpus, found, n_tokens)
    return None, 0, 0


def _taken(corpus: _Corpus, found: _Corpus, n_tokens: int) -> tuple[bytes | None, int, int]:
    """Take the merges for a term over, if there is room; return what they cost."""
    if len(found.merges) > n_tokens:
        return None, 0, 0
    n_added, n_saved = len(found.merges) - len(corpus.merges), len(corpus) - len(found)
    corpus.take_over(found)
    return corpus.tokens[found.merges[-1].id], n_added, n_saved


def _spell_term(
    term: str | bytes, base: Tokenizer, word_counts: Mapping[str, int]
) -> list[list[int]]:
    """Return the base's ids of each way to write a term, the more frequent one first."""
    if isinstance(term, bytes):
        crosses = base.byte_ids and len(base.pretokenizer.split(term.decode())) > 1
        return [] if crosses else [_encode_bytes(base, term)]
    words = [term] if term[0].isspace() else [f" {term}", term]
    words = [word for word in words if base.pretokenizer.split(word) == [word]]
    words.sort(key=lambda word: -word_counts.get(word, 0))
    return [encode_word(base, word) for word in words]


def _joined(
    corpus: _Corpus,
    ids: list[int],
    tie_break: TieBreak,
    tried: set[tuple[int, ...]],
    *,
    absent: bool = False,
) -> _Corpus | None:
    """Return the corpus after merges that join ids to one, or None if that is not possible.

    The most frequent pair is tried first. If that leads nowhere, the next one is tried. With
    `absent`, pairs that do not occur may be merged.
    """
    if len(ids) == 1:
        return corpus
    lengths = tuple(len(corpus.tokens[id]) for id in ids)
    if lengths in tried or len(tried) >= MAX_TRIED:
        return None
    tried.add(lengths)
    pairs = {pair: n for pair, n in corpus.pairs().items() if pair in pairwise(ids)}
    if absent:
        for pair in pairwise(ids):
            if corpus.may_merge(*pair):
                pairs.setdefault(pair, 0)
    while pairs:
        pair = choose_pair(pairs, tie_break)
        del pairs[pair]
        after = corpus.copy()
        after.merge(pair)
        rest = apply_merge(ids, pair, max(after.tokens))
        found = _joined(after, rest, tie_break, tried, absent=absent)
        if found is not None:
            return found
    return None


def _encode_bytes(base: Tokenizer, token: bytes) -> list[int]:
    """Encode bytes that may be a part of a word; -1 stands for a symbol missing from the alphabet.

    The end-of-word marker at their end is the marker.
    """
    marker = (base.end_of_word or "").encode()
    ends = bool(marker) and token.endswith(marker)
    content = token[: len(token) - len(marker)] if ends else token
    if base.base == "bytes":
        symbols = [bytes([byte]) for byte in content]
    else:
        symbols = [character.encode() for character in content.decode()]
    ids = [base.base_ids.get(symbol, -1) for symbol in symbols]
    if ends and base.end_of_word_id is not None:
        ids.append(base.end_of_word_id)
    return encode_reference(ids, {merge.pair: merge for merge in base.merges})


def encode_word(tokenizer: Tokenizer, word: str) -> list[int]:
    """Encode one whole pre-token; -1 stands for a symbol missing from the alphabet.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> encode_word(gpt2(), " tokenizer")
    [11241, 7509]
    """
    whole = tokenizer.table.word_ids.get(word.encode())
    if whole is not None:
        return [whole]
    if tokenizer.base == "bytes":
        symbols = [bytes([byte]) for byte in word.encode()]
    else:
        symbols = [character.encode() for character in word]
    ids: list[int] = []
    for symbol in symbols:
        if symbol in tokenizer.base_ids or not tokenizer.byte_ids:
            ids.append(tokenizer.base_ids.get(symbol, -1))
        else:
            ids += [tokenizer.byte_ids[bytes([byte])] for byte in symbol]
    if tokenizer.end_of_word_id is not None:
        ids.append(tokenizer.end_of_word_id)
    return encode_reference(ids, {merge.pair: merge for merge in tokenizer.merges})
