"""Show what shortcuts get wrong: no cuts, longest match, wrong look-ups, and added tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from bpe_core.tokenizer import Tokenizer, Trie
from bpe_core.trainers import apply_merge
from ui.lessons.walk import Walk


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
