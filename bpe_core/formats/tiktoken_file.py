"""tiktoken's format: one token a line, its bytes in base 64 and its rank, which is also its id.

Merges are not written; tiktoken joins any two neighbours whose bytes make a token, the lowest rank
first. They are recovered here: a token's last merge joins the two parts that it encodes to with
the tokens of lower rank alone. Those are the two that stay apart with these, see `tokenizer.trie`;
to encode each token takes twice as long. Pre-tokenizer and special tokens are not in the file
either.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from bpe_core.checks import is_a, said
from bpe_core.errors import ConfigError, FormatError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.rank_merging import merge_by_heap
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.tokenizer.trie import stay_apart
from bpe_core.types import Merge, Pair

FILE_NAME: Final = "tokenizer.tiktoken"


def write_tiktoken(tokenizer: Tokenizer) -> bytes:
    r"""Return the file; raises `ConfigError` where tiktoken could not encode as the tokenizer does.

    tiktoken drops what stands between the matches of a pattern, and a custom pattern's tokenizer
    makes pre-tokens of it: beside the file, give tiktoken `PATTERN|(?:(?!PATTERN)[\s\S])+`.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> write_tiktoken(gpt2()).splitlines()[0]
    b'IQ== 0'
    """
    if tokenizer.base != "bytes" or tokenizer.end_of_word is not None:
        raise ConfigError(
            "tiktoken knows tokens of bytes without an end-of-word marker only. Save this "
            "tokenizer as native, or train one with base='bytes' and end_of_word=None."
        )
    if tokenizer.pretokenizer.drops_text:
        raise ConfigError(
            f"tiktoken needs every character in a pre-token, and the pre-tokenizer "
            f"{tokenizer.pretokenizer.name!r} leaves white space out. Save this tokenizer as "
            f"huggingface or native."
        )
    if len(tokenizer.base_ids) < 256:
        raise ConfigError(
            f"tiktoken needs all 256 bytes as tokens, and this tokenizer's alphabet has "
            f"{len(tokenizer.base_ids)}. Save it as huggingface or native, or train with "
            f"alphabet='full'."
        )
    special = set(tokenizer.special_tokens.values())
    ranks = {token: id for id, token in sorted(tokenizer.vocab.items()) if id not in special}
    if len(ranks) + len(special) != tokenizer.vocab_size:
        raise ConfigError(
            "Two tokens have the same bytes, which tiktoken's format cannot hold. Save this "
            "tokenizer as native."
        )
    names = sorted(tokenizer.special_tokens)
    for name, longer in pairwise(names):
        if longer.startswith(name):
            raise ConfigError(
                f"The special token {longer!r} begins with {name!r}, and which of them tiktoken "
                f"finds is left to chance. Save this tokenizer as huggingface or native."
            )
    if not ranks_imply(ranks, tokenizer.merges):
        raise ConfigError(
            "tiktoken merges in the order of ids, and this tokenizer in another. Save it as "
            "huggingface or native."
        )
    lines = [b64encode(token) + b" %d\n" % id for token, id in ranks.items()]
    return b"".join(lines)


def read_tiktoken(
    data: bytes,
    *,
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build a tokenizer from a file; raises `FormatError`, and `ConfigError` without pre-tokenizer.

    >>> from bpe_core.tokenizer.gpt2 import END_OF_TEXT, gpt2
    >>> small = gpt2().truncated(100)
    >>> special_tokens = {END_OF_TEXT: 50256}
    >>> file = write_tiktoken(small)
    >>> read_tiktoken(file, pretokenizer="gpt2", special_tokens=special_tokens) == small
    True
    """
    ranks = read_ranks(data)
    if pretokenizer is None:
        raise ConfigError(
            "A .tiktoken file doesn't say how texts are pre-tokenized. Name it, for example "
            "pretokenizer='cl100k'."
        )
    return tokenizer_of_ranks(ranks, pretokenizer=pretokenizer, special_tokens=special_tokens or {})


def read_ranks(data: bytes) -> dict[bytes, int]:
    """Return each token's rank; raises `FormatError` where a line is not a token and its rank.

    >>> read_ranks(b"YQ== 0\\nYg== 1\\n")
    {b'a': 0, b'b': 1}
    """
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        written, _, rank = line.strip().partition(b" ")
        try:
            token = b64decode(written, validate=True)
        except ValueError:
            token = b""
        if not token or not rank.isdigit() or len(rank) > 9:
            raise FormatError(
                f"Line {number:,} is {line[:60]!r}, not a token in base 64, a space and its rank."
            )
        if token in ranks:
            raise FormatError(f"Line {number:,} gives the token {token!r} a second time.")
        ranks[token] = int(rank)
    if not ranks:
        raise FormatError("The file is empty: it holds no token. Give the file as it was saved.")
    return ranks


def tokenizer_of_ranks(
    ranks: Mapping[bytes, int], *, pretokenizer: str, special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Build the tokenizer that encodes as tiktoken does with these ranks; raises `FormatError`.

    Raises `ConfigError` for a pre-tokenizer that there isn't, and for special tokens that are none.

    >>> tokenizer_of_ranks(
    ...     {b"a": 0, b"b": 1, b"ab": 2}, pretokenizer="none", special_tokens={}
    ... ).encode("abb")
    [2, 1]
    """
    if not is_a(special_tokens, Mapping) or not all(is_a(text, str) for text in special_tokens):
        raise ConfigError(
            f"special_tokens is {said(special_tokens)}: give a dict from texts to ids, such as "
            "{'<|endoftext|>': 50256}."
        )
    vocab = {id: token for token, id in ranks.items()}
    if len(vocab) < len(ranks):
        raise FormatError("Two tokens have the same rank. Each token needs its own.")
    for text, id in special_tokens.items():
        if vocab.setdefault(id, text.encode(errors="replace")) != text.encode(errors="replace"):
            raise FormatError(
                f"The special token {text!r} has the id {id}, which belongs to {vocab[id]!r}."
            )
    get_pretokenizer(pretokenizer)  # A wrong name is no fault of the ranks.
    try:
        return Tokenizer(
            vocab=vocab,
            merges=recover_merges(ranks),
            pretokenizer=pretokenizer,
            special_tokens=special_tokens,
        )
    except ConfigError as error:
        raise FormatError(f"The ranks contradict each other. {error}") from error


def ranks_imply(ranks: Mapping[bytes, int], merges: Sequence[Merge]) -> bool:
    """Tell whether `recover_merges` gives these merges, without looking for each where it cuts.

    >>> ranks_imply({b"a": 0, b"b": 1, b"ab": 2}, [Merge(rank=0, left=0, right=1, id=2)])
    True
    """
    joined = sorted(id for token, id in ranks.items() if len(token) > 1)
    if joined != [merge.id for merge in merges]:
        return False
    known = {id for token, id in ranks.items() if len(token) == 1}
    rank_of_pair: dict[Pair, int] = {}
    parts: dict[int, tuple[int, int, int]] = {}
    for rank, merge in enumerate(merges):
        left, right = merge.pair
        if not {left, right} <= known or not stay_apart(left, right, rank_of_pair, parts):
            return False
        rank_of_pair[left, right] = rank
        parts[merge.id] = (rank, left, right)
        known.add(merge.id)
    return True


def recover_merges(ranks: Mapping[bytes, int]) -> list[tuple[int, int, int]]:
    """Return the merges that ranks imply, as (left, right, made); raises `FormatError`.

    >>> recover_merges({b"a": 0, b"b": 1, b"ab": 2, b"abb": 3})
    [(0, 1, 2), (2, 1, 3)]
    """
    merges: list[tuple[int, int, int]] = []
    rank_of_pair: dict[Pair, int] = {}
    parts: dict[int, tuple[int, int, int]] = {}
    for token, id in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) == 1:
            continue
        for cut in range(1, len(token)):
            left, right = ranks.get(token[:cut]), ranks.get(token[cut:])
            if (
                left is not None
                and right is not None
                and (cut == 1 or left in parts)
                and (cut == len(token) - 1 or right in parts)
                and stay_apart(left, right, rank_of_pair, parts)
            ):
                break
        else:
            raise _no_merge_makes(token, ranks, merges)
        rank = rank_of_pair[left, right] = len(merges)
        parts[id] = (rank, left, right)
        merges.append((left, right, id))
    return merges


def _no_merge_makes(
    token: bytes, ranks: Mapping[bytes, int], merges: Sequence[tuple[int, int, int]]
) -> FormatError:
    """What is wrong with a token that is not the encoding of two others by the merges before it."""
    try:
        symbols = [ranks[token[i : i + 1]] for i in range(len(token))]
    except KeyError as error:
        return FormatError(
            f"The token {token!r} holds the byte {error.args[0]!r}, which is no token itself."
        )
    rank_of_pair = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    n_parts = len(merge_by_heap(symbols, rank_of_pair, [made for _, _, made in merges]))
    return FormatError(
        f"The token {token!r}, rank {ranks[token]}, is not made of two tokens of lower rank but of "
        f"{n_parts}: no order of merges makes it."
    )
