"""Open ranks with a pattern: by `bpe_core` where it encodes exactly, by `tiktoken` otherwise."""

from __future__ import annotations

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.patterns import pretokenizer_of
from bpe_core.formats.run_by_tiktoken import TiktokenTokenizer
from bpe_core.formats.tekken import Ranks
from bpe_core.formats.tiktoken_file import tokenizer_of_ranks
from bpe_core.tokenizer.protocol import NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer


def open_ranks(name: str, ranks: Ranks, origin: str) -> NamedEncoder:
    """Return the encoder of ranks, with a note on which library encodes and why.

    `origin` is a sentence on the file. Raises `FormatError` if neither library can use the ranks.

    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> opened = open_ranks("mine", Ranks(ids, r"[a-z]+|[^a-z]+", {}), "A test.")
    >>> opened.encoder.encode("hugs"), opened.provenance.split(".")[:2]
    ([257, 115], ['A test', ' Its pattern is not one that bpe_core knows by name'])
    """
    try:
        own = _own(ranks)
    except BpeError as error:
        peer = TiktokenTokenizer(ranks.ids, ranks.pattern, ranks.special_tokens)
        return NamedEncoder(name, peer, f"{origin} {error} Encoded by {peer.engine}.")
    cut = f"Pre-tokenizer {own.pretokenizer.name}"
    return NamedEncoder(name, own, f"{origin} {cut}, encoded exactly by bpe_core.")


def _own(ranks: Ranks) -> Tokenizer:
    pretokenizer = pretokenizer_of(ranks.pattern)
    if pretokenizer.startswith("regex:"):
        raise FormatError("Its pattern is not one that bpe_core knows by name.")
    return tokenizer_of_ranks(
        ranks.ids, pretokenizer=pretokenizer, special_tokens=ranks.special_tokens
    )
