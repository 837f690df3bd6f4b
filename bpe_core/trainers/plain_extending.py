"""Continued Byte-Pair Encoding, written as plainly as possible.

`extend` is tested against this twin, which recounts all pairs before each merge.

Source: "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for Pre-trained Models"
(arXiv 2512.03989).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bpe_core.tokenizer import Tokenizer
from bpe_core.trainers.reference import apply_merge, choose_pair, count_pairs, encode_reference
from bpe_core.trainers.special_runs import bytes_apart, reviving_tokens
from bpe_core.types import Merge, Pair, StopReason, TieBreak


@dataclass(frozen=True, slots=True)
class ReferenceExtension:
    """The result of `extend_reference`."""

    merges: list[Merge]
    """The new merges, with ranks from 0."""
    words: list[list[int]]
    """The ids of each word after the last merge."""
    new_tokens: dict[int, tuple[int, ...]]
    """The ids that each new token is spelled with in the base."""
    stop_reason: StopReason


def extend_reference(
    corpus: ReferenceCorpus,
    n_tokens: int,
    *,
    min_frequency: int = 0,
    tie_break: TieBreak = "smallest-pair",
) -> ReferenceExtension:
    """Merge the most frequent pair of a corpus repeatedly, until it has `n_tokens` new tokens.

    >>> from bpe_core.tokenizer import gpt2
    >>> corpus = ReferenceCorpus(gpt2(), {" tokenizer": 2, " tokens": 1})
    >>> extended = extend_reference(corpus, n_tokens=1)
    >>> [(gpt2().vocab[merge.left], gpt2().vocab[merge.right]) for merge in extended.merges]
    [(b' token', b'izer')]
    """
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
    return ReferenceExtension(corpus.merges, corpus.words, new_tokens, stop_reason)


class ReferenceCorpus:
    """The words of a corpus, encoded with the base, and the tokens that they consist of.

    A pair whose bytes spell a token of the base, one of `left_out` or one of `reviving_tokens` is
    never merged, nor is one of `bytes_apart` with another.

    >>> from bpe_core.tokenizer import gpt2
    >>> corpus = ReferenceCorpus(gpt2(), {" tokenizer": 2})
    >>> corpus.merge((11241, 7509))
    >>> corpus.words, corpus.spelled[50257]
    ([[50257]], (11241, 7509))
    """

    def __init__(
        self,
        base: Tokenizer,
        word_counts: Mapping[str, int],
        left_out: Collection[bytes] = (),
        max_token_bytes: int | None = None,
    ) -> None:
        self.tokens: dict[int, bytes] = dict(base.vocab)
        self.word_counts = word_counts
        self.words = [encode_word(base, word) for word in word_counts]
        self.spelled: dict[int, tuple[int, ...]] = {id: (id,) for id in self.tokens}
        self.merges: list[Merge] = []
        self._taken = {*base.vocab.values(), *left_out, *reviving_tokens(base)}
        self._apart = bytes_apart(base)
        self._spelling = {*base.table.byte_ids.values()}
        self._max_token_bytes = max_token_bytes

    def pairs(self) -> dict[Pair, int]:
        """Count the pairs that may merge."""
        pairs: dict[Pair, int] = {}
        for (left, right), count in count_pairs(self.words, self.word_counts.values()).items():
            if min(left, right) < 0 or {left, right} & self._spelling:
                continue  # a symbol missing from the alphabet
            if self.may_merge(left, right):
                pairs[left, right] = count
        return pairs

    def may_merge(self, left: int, right: int) -> bool:
        """Return whether two tokens may merge: what they spell is neither taken nor too long."""
        token = self.tokens[left] + self.tokens[right]
        is_short = self._max_token_bytes is None or len(token) <= self._max_token_bytes
        n_apart = len(token) - len(token.translate(None, self._apart))
        return token not in self._taken and is_short and n_apart in (0, len(token))

    def merge(self, pair: Pair) -> None:
        """Merge a pair everywhere."""
        left, right = pair
        new_id = max(self.tokens) + 1
        count = self.pairs().get(pair, 0)
        self.tokens[new_id] = self.tokens[left] + self.tokens[right]
        self.spelled[new_id] = self.spelled[left] + self.spelled[right]
        self.merges.append(Merge(len(self.merges), left, right, new_id, count))
        self.words = [apply_merge(word, pair, new_id) for word in self.words]


def encode_word(tokenizer: Tokenizer, word: str) -> list[int]:
    """Encode one whole pre-token; -1 stands for a symbol missing from the alphabet.

    >>> from bpe_core.tokenizer import gpt2
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
        if symbol in tokenizer.base_ids or not tokenizer.table.byte_ids:
            ids.append(tokenizer.base_ids.get(symbol, -1))
        else:
            ids += [tokenizer.table.byte_ids[bytes([byte])] for byte in symbol]
    if tokenizer.table.end_of_word_id is not None:
        ids.append(tokenizer.table.end_of_word_id)
    return encode_reference(ids, {merge.pair: merge for merge in tokenizer.merges})
