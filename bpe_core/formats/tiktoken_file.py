"""tiktoken's format: one token per line, its bytes in base 64 and its rank, which is also its id.

The file has no merges: tiktoken joins any two neighbours whose bytes make a token, lowest rank
first. The merges are recovered here. A token's last merge joins the two tokens into which it would
be encoded with only the tokens of lower rank, and these are the only two parts that those tokens
would not merge (see `tokenizer.trie`); looking for them is twice as fast as encoding each token.
The file has no pre-tokenizer and no special tokens either.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final

from bpe_core.checks import describe, is_a
from bpe_core.errors import ConfigError, FormatError
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.rank_merging import merge_by_heap
from bpe_core.tokenizer.tokenizer import Tokenizer
from bpe_core.tokenizer.trie import stay_apart
from bpe_core.types import Merge, Pair

FILE_NAME: Final = "tokenizer.tiktoken"


def write_tiktoken(tokenizer: Tokenizer) -> bytes:
    r"""Return the file; raises `ConfigError` if tiktoken would encode differently.

    tiktoken drops the text between the matches of a pattern, while a custom pattern here makes
    pre-tokens of it, so pass tiktoken `PATTERN|(?:(?!PATTERN)[\s\S])+` along with the file.

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> write_tiktoken(gpt2()).splitlines()[0]
    b'IQ== 0'
    """
    if tokenizer.base != "bytes" or tokenizer.end_of_word is not None:
        raise ConfigError(
            "tiktoken has only byte tokens without an end-of-word marker. Save this tokenizer in "
            "the native format, or train with base='bytes' and end_of_word=None."
        )
    if tokenizer.pretokenizer.drops_text:
        raise ConfigError(
            f"tiktoken needs every character in a pre-token, and the pre-tokenizer "
            f"{tokenizer.pretokenizer.name!r} drops white space. Save this tokenizer in the "
            f"huggingface or native format."
        )
    if len(tokenizer.base_ids) < 256:
        raise ConfigError(
            f"tiktoken needs all 256 bytes as tokens, and this tokenizer's alphabet has "
            f"{len(tokenizer.base_ids)}. Save it in the huggingface or native format, or train "
            f"with alphabet='full'."
        )
    special = set(tokenizer.special_tokens.values())
    ranks = {token: id for id, token in sorted(tokenizer.vocab.items()) if id not in special}
    if len(ranks) + len(special) != tokenizer.vocab_size:
        raise ConfigError(
            "Two tokens have the same bytes, which tiktoken's format cannot hold. Save this "
            "tokenizer in the native format."
        )
    names = sorted(tokenizer.special_tokens)
    for name, longer in pairwise(names):
        if longer.startswith(name):
            raise ConfigError(
                f"The special token {longer!r} begins with {name!r}, and tiktoken may find either "
                f"of them. Save this tokenizer in the huggingface or native format."
            )
    if not ranks_imply(ranks, tokenizer.merges):
        raise ConfigError(
            "tiktoken merges in the order of ids, and this tokenizer in another order. Save it in "
            "the huggingface or native format."
        )
    lines = [b64encode(token) + b" %d\n" % id for token, id in ranks.items()]
    return b"".join(lines)


def read_tiktoken(
    data: bytes,
    *,
    pretokenizer: str | None,
    special_tokens: Mapping[str, int] | None = None,
) -> Tokenizer:
    """Build a tokenizer from a file and the name of its pre-tokenizer.

    Raises `FormatError` for a damaged file, and `ConfigError` if the pre-tokenizer is missing.

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
            "A .tiktoken file does not store its pre-tokenizer. Name it, for example "
            "pretokenizer='cl100k'."
        )
    return tokenizer_of_ranks(ranks, pretokenizer=pretokenizer, special_tokens=special_tokens or {})


def read_ranks(data: bytes) -> dict[bytes, int]:
    """Return each token's rank; raises `FormatError` for a line that is not a token and its rank.

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
                f"Expected a token in base 64, a space and its rank in line {number:,}, "
                f"got {line[:60]!r}."
            )
        if token in ranks:
            raise FormatError(f"Line {number:,} repeats the token {token!r}.")
        ranks[token] = int(rank)
    if not ranks:
        raise FormatError("The file is empty. Use the file as it was saved.")
    return ranks


def tokenizer_of_ranks(
    ranks: Mapping[bytes, int], *, pretokenizer: str, special_tokens: Mapping[str, int]
) -> Tokenizer:
    """Build the tokenizer that encodes as tiktoken does with these ranks; raises `FormatError`.

    Raises `ConfigError` for an unknown pre-tokenizer and for malformed special tokens.

    >>> tokenizer_of_ranks(
    ...     {b"a": 0, b"b": 1, b"ab": 2}, pretokenizer="none", special_tokens={}
    ... ).encode("abb")
    [2, 1]
    """
    if not is_a(special_tokens, Mapping) or not all(is_a(text, str) for text in special_tokens):
        raise ConfigError(
            f"Expected special_tokens as a dict from text to id, such as "
            f"{{'<|endoftext|>': 50256}}, got {describe(special_tokens)}."
        )
    vocab = {id: token for token, id in ranks.items()}
    if len(vocab) < len(ranks):
        raise FormatError("Two tokens have the same rank. Each token needs a rank of its own.")
    for text, id in special_tokens.items():
        if vocab.setdefault(id, text.encode(errors="replace")) != text.encode(errors="replace"):
            raise FormatError(
                f"The special token {text!r} was given the id {id}, which is the id of "
                f"{vocab[id]!r}."
            )
    get_pretokenizer(pretokenizer)  # Raised here: a wrong name is not the fault of the ranks.
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
    """Return True if `recover_merges` would find these merges, without searching for the cuts.

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
    """Return the merges that the ranks imply, as (left, right, made); raises `FormatError`.

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
    """Return the error for a token that no two tokens of lower rank make."""
    try:
        symbols = [ranks[token[i : i + 1]] for i in range(len(token))]
    except KeyError as error:
        return FormatError(
            f"The token {token!r} contains the byte {error.args[0]!r}, which is not a token itself."
        )
    rank_of_pair = {(left, right): rank for rank, (left, right, _) in enumerate(merges)}
    n_parts = len(merge_by_heap(symbols, rank_of_pair, [made for _, _, made in merges]))
    return FormatError(
        f"The token {token!r}, rank {ranks[token]}, is made of {n_parts} tokens of lower rank, not "
        f"of two: no merge makes it."
    )
