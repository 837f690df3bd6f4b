"""Convert tokenizers of other libraries that are already in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bpe_core.checks import describe
from bpe_core.errors import ArgumentTypeError, FormatError
from bpe_core.formats.patterns import find_pretokenizer
from bpe_core.formats.tiktoken_file import build_from_ranks
from bpe_core.pretokenizers.pretokenizers import PRETOKENIZER_NAMES
from bpe_core.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tiktoken
    import tokenizers


def from_tiktoken(encoding: tiktoken.Encoding) -> Tokenizer:
    """Return the tokenizer that encodes as a tiktoken encoding does; raises `FormatError`.

    Its pattern must be that of a named pre-tokenizer: tiktoken drops text that a pattern does not
    match, and a custom pattern here never does.

    >>> import tiktoken
    >>> ranks = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> from bpe_core.pretokenizers.pretokenizers import get_pretokenizer
    >>> pattern = get_pretokenizer("cl100k").pattern
    >>> mine = tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    >>> from_tiktoken(mine).encode("hugs")
    [257, 115]
    """
    if not hasattr(encoding, "_mergeable_ranks"):
        raise ArgumentTypeError(
            f"Expected a tiktoken.Encoding, got {describe(encoding)}. tiktoken.get_encoding "
            "returns one."
        )
    # tiktoken has no public access to these three; its own pickling reads them too.
    pattern = encoding._pat_str  # pyright: ignore[reportPrivateUsage]
    ranks = encoding._mergeable_ranks  # pyright: ignore[reportPrivateUsage]
    special_tokens = encoding._special_tokens  # pyright: ignore[reportPrivateUsage]
    pretokenizer = find_pretokenizer(pattern)
    if pretokenizer.startswith("regex:"):
        raise FormatError(
            f"The pattern of {encoding.name!r} is not that of "
            f"{' or '.join(PRETOKENIZER_NAMES[:3])}. tiktoken drops text that other patterns do "
            f"not match, which cannot be reproduced."
        )
    return build_from_ranks(ranks, pretokenizer=pretokenizer, special_tokens=special_tokens)


def from_huggingface(tokenizer: tokenizers.Tokenizer) -> Tokenizer:
    """Return the tokenizer that encodes as one of `tokenizers` does; raises `FormatError`.

    >>> import tokenizers
    >>> model = tokenizers.models.BPE(vocab={"h": 0, "u": 1, "hu": 2}, merges=[("h", "u")])
    >>> from_huggingface(tokenizers.Tokenizer(model)).encode("huh")
    [2, 0]
    """
    from bpe_core.formats.load_save import loads

    if not hasattr(tokenizer, "to_str"):
        raise ArgumentTypeError(
            f"Expected a tokenizers.Tokenizer, got {describe(tokenizer)}. For a tokenizer of "
            "transformers, pass its backend_tokenizer."
        )
    return loads({"tokenizer.json": tokenizer.to_str().encode()})
