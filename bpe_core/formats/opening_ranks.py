"""Open ranks with a pattern: by `bpe_core` where it encodes exactly, by `tiktoken` otherwise."""

from __future__ import annotations

from typing import Literal

from bpe_core.errors import BpeError
from bpe_core.formats.patterns import pretokenizer_of
from bpe_core.formats.probe import PROBE, last_tokens
from bpe_core.formats.run_by_tiktoken import TiktokenTokenizer
from bpe_core.formats.tekken import Ranks
from bpe_core.formats.tiktoken_file import tokenizer_of_ranks
from bpe_core.tokenizer.protocol import NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer


def open_ranks(
    name: str, ranks: Ranks, origin: str, *, known: Literal["", "own", "other"] = ""
) -> NamedEncoder:
    """Return the encoder of ranks, with a note on which library encodes and why.

    `origin` is a sentence on the file. If it is `known` which library encodes them, bpe_core
    ("own") or tiktoken, they are not compared. Raises `FormatError` if neither library can use the
    ranks.

    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"hu": 256, b"hug": 257}
    >>> opened = open_ranks("mine", Ranks(ids, r"[a-z]+|[^a-z]+", {}), "A test.")
    >>> opened.encoder.encode("hugs"), opened.provenance.split(".")[:2]
    ([257, 115], ['A test', ' Its pattern is not one that bpe_core knows by name'])
    """
    own, reason = (None, "") if known == "other" else _own(ranks)
    if own is not None and known == "own":
        return NamedEncoder(name, own, origin)
    peer = TiktokenTokenizer(ranks.ids, ranks.pattern, ranks.special_tokens)
    if own is not None:
        probe = PROBE + last_tokens(own, 2_000)
        if own.encode(probe) == peer.encode(probe):
            cut = f"Pre-tokenizer {own.pretokenizer.name}"
            return NamedEncoder(name, own, f"{origin} {cut}, encoded exactly by bpe_core.")
        reason = "Here, a probe of many scripts gives other ids."
    return NamedEncoder(name, peer, f"{origin} {reason} Encoded by {peer.engine}.")


def _own(ranks: Ranks) -> tuple[Tokenizer | None, str]:
    pretokenizer = pretokenizer_of(ranks.pattern)
    if pretokenizer.startswith("regex:"):
        return None, "Its pattern is not one that bpe_core knows by name."
    try:
        tokenizer = tokenizer_of_ranks(
            ranks.ids, pretokenizer=pretokenizer, special_tokens=ranks.special_tokens
        )
    except BpeError as error:
        return None, str(error)
    return tokenizer, ""
