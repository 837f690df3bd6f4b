"""Continued Byte-Pair Encoding, written as plainly as possible.

`extend` is tested against this twin, which recounts all pairs before each merge.

Source: "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for Pre-trained Models"
(arXiv 2512.03989).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.trainers.reference import apply_merge, choose_pair, count_pairs, encode_reference
from bpe_core.types import Merge, Pair, StopReason, TieBreak


@dataclass(frozen=True, slots=True)
class NaiveExtension:
    """The result of extending a tokenizer naively."""

    merges: list[Merge]
    """The new merges, with ranks from 0."""
    words: list[list[int]]
    """The ids of each word after the last merge."""
    new_tokens: dict[int, tuple[int, ...]]
    """The ids that each new token is spelled with in the base."""
    stop_reason: StopReason


def extend_naively(
    base: Tokenizer,
    word_counts: Mapping[str, int],
    n_tokens: int,
    *,
    min_frequency: int = 0,
    tie_break: TieBreak = "smallest-pair",
    max_token_bytes: int | None = None,
    left_out: Collection[bytes] = (),
) -> NaiveExtension:
    """Encode words with the base, then merge the most frequent pair repeatedly.

    A pair whose bytes spell a token of the base, or one of `left_out`, is never merged.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> extended = extend_naively(gpt2(), {" tokenizer": 2, " tokens": 1}, n_tokens=1)
    >>> [(gpt2().vocab[merge.left], gpt2().vocab[merge.right]) for merge in extended.merges]
    [(b' token', b'izer')]
    """
    tokens: dict[int, bytes] = dict(base.vocab)
    taken = {*tokens.values(), *left_out}
    words = [encode_word(base, word) for word in word_counts]
    counts = list(word_counts.values())
    spelled: dict[int, tuple[int, ...]] = {id: (id,) for id in tokens}
    merges: list[Merge] = []
    stop_reason: StopReason = "vocab-size"
    while len(merges) < n_tokens:
        pairs: dict[Pair, int] = {}
        for (left, right), count in count_pairs(words, counts).items():
            if min(left, right) < 0:  # a symbol missing from the alphabet
                continue
            token = tokens[left] + tokens[right]
            is_short = max_token_bytes is None or len(token) <= max_token_bytes
            if token not in taken and is_short:
                pairs[left, right] = count
        if not pairs:
            stop_reason = "no-pairs"
            break
        left, right = choose_pair(pairs, tie_break)
        if pairs[left, right] < min_frequency:
            stop_reason = "min-frequency"
            break
        new_id = max(tokens) + 1
        tokens[new_id] = tokens[left] + tokens[right]
        spelled[new_id] = spelled[left] + spelled[right]
        merges.append(Merge(len(merges), left, right, new_id, pairs[left, right]))
        words = [apply_merge(word, (left, right), new_id) for word in words]
    new_tokens = {merge.id: spelled[merge.id] for merge in merges}
    return NaiveExtension(merges, words, new_tokens, stop_reason)


def encode_word(tokenizer: Tokenizer, word: str) -> list[int]:
    """Encode one whole pre-token; -1 stands for a symbol missing from the alphabet.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> encode_word(gpt2(), " tokenizer")
    [11241, 7509]
    """
    whole = tokenizer.whole_word_id(word.encode())
    if whole is not None:
        return [whole]
    if tokenizer.base == "bytes":
        symbols = [bytes([byte]) for byte in word.encode()]
    else:
        symbols = [character.encode() for character in word]
    ids = [tokenizer.base_ids.get(symbol, -1) for symbol in symbols]
    if tokenizer.end_of_word_id is not None:
        ids.append(tokenizer.end_of_word_id)
    return encode_reference(ids, {merge.pair: merge for merge in tokenizer.merges})
