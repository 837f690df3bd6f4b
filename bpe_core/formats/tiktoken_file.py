"""tiktoken's format: one token per line, its bytes in base 64 and its rank, which is also its id.

The file has no merges: tiktoken joins any two neighbours whose bytes make a token, lowest rank
first. `recovered_merges` finds them. The file has no pre-tokenizer and no special tokens either.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from bpe_core.checks import describe, is_a
from bpe_core.errors import ArgumentTypeError, ConfigError, FormatError
from bpe_core.formats.json_files import check_tokens
from bpe_core.formats.recovered_merges import ranks_imply, recover_merges
from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
from bpe_core.tokenizer.tokenizer import Tokenizer

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
            f"tiktoken needs all 256 bytes as tokens, but this tokenizer's alphabet has "
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
    if not _encodes_by_ranks(tokenizer, ranks):
        raise ConfigError(
            "tiktoken merges in the order of ids, and this tokenizer merges in another order. Save "
            "it in "
            "the huggingface or native format."
        )
    lines = [b64encode(token) + b" %d\n" % id for token, id in ranks.items()]
    return b"".join(lines)


def what_ranks_lack(tokenizer: Tokenizer) -> str:
    """Return a sentence on the special tokens that a .tiktoken file lacks, or "".

    >>> from bpe_core.tokenizer.gpt2 import gpt2
    >>> what_ranks_lack(gpt2())[:65]
    'A .tiktoken file holds no special tokens. Pass it with its id: <|'
    """
    special = sorted(tokenizer.special_tokens.items(), key=lambda item: item[1])
    if not special:
        return ""
    (first, id), n_more = special[0], len(special) - 1
    more = f" and {n_more:,} more" if n_more else ""
    what = "Pass them with their ids" if n_more else "Pass it with its id"
    return (
        f"A .tiktoken file holds no special tokens. {what}: {first} is {id:,}{more}. A program "
        "that numbers special tokens after the last rank may give them other ids."
    )


def _encodes_by_ranks(tokenizer: Tokenizer, ranks: Mapping[bytes, int]) -> bool:
    """Return True if tiktoken, which looks up whole words, encodes as the tokenizer does."""
    if ranks_imply(ranks, tokenizer.merges):
        return True
    if not tokenizer.whole_words_first:
        return False
    try:
        merges = recover_merges(ranks)
    except FormatError:
        return False
    return merges == [(merge.left, merge.right, merge.id) for merge in tokenizer.merges]


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
    check_tokens(data.count(b"\n"), "the file")
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
            raise FormatError(f"Line {number:,} repeats the token {token!r:.60}.")
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
        raise ArgumentTypeError(
            f"Expected special_tokens as a dict from text to id, such as "
            f"{{'<|endoftext|>': 50256}}, got {describe(special_tokens)}."
        )
    vocab = {id: token for token, id in ranks.items()}
    if len(vocab) < len(ranks):
        for token, rank in ranks.items():
            if vocab[rank] != token:
                raise FormatError(
                    f"The tokens {token!r:.60} and {vocab[rank]!r:.60} have the same rank, "
                    f"{rank:,}. Give each token a different one."
                )
    for text, id in special_tokens.items():
        if vocab.setdefault(id, text.encode(errors="replace")) != text.encode(errors="replace"):
            raise FormatError(
                f"The special token {text!r:.60} was given the id {id}, which is the id of "
                f"{vocab[id]!r:.60}."
            )
    get_pretokenizer(pretokenizer)  # Raised here: a wrong name is not the fault of the ranks.
    merges = recover_merges(ranks)
    made = {id for _, _, id in merges}
    try:
        return Tokenizer(
            vocab=vocab,
            merges=merges,
            pretokenizer=pretokenizer,
            special_tokens=special_tokens,
            # Where merges make every token, looking it up makes no difference.
            whole_words_first=any(len(token) > 1 and id not in made for token, id in ranks.items()),
        )
    except ConfigError as error:
        raise FormatError(f"The ranks contradict each other. {error}") from error
