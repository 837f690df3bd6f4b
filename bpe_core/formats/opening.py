"""Open any tokenizer file as an encoder that runs here or in another library.

A tokenizer.json is encoded by `bpe_core` if all of this holds, and by `tokenizers` otherwise:

- the model is BPE over all 256 bytes, so that it can encode any text, without options that plain
  byte-pair encoding cannot do (see `read_huggingface`); with `ignore_merges`, the merges make every
  token by themselves;
- there is no normalizer, and the pre-tokenizer is a named one, since regex engines differ;
- all added tokens are special, so none is found in ordinary text;
- a probe of many scripts and of the vocabulary's own tokens gives the same ids as `tokenizers`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, cast

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.foreign import ForeignTokenizer
from bpe_core.formats.huggingface import PROBE, last_tokens, read_huggingface
from bpe_core.formats.load_save import loads
from bpe_core.formats.reading import looks_like_json, parse_json
from bpe_core.formats.sandbox import rehearse
from bpe_core.formats.tiktoken_file import read_tiktoken
from bpe_core.tokenizer.protocol import NamedEncoder
from bpe_core.tokenizer.tokenizer import Tokenizer

MOST_BYTES: Final = 128_000_000
"""The largest file accepted; the largest tokenizers in use are a third of it."""

# What OpenAI's published rank files do not store (see tiktoken_ext/openai_public.py), by SHA-256.
_PUBLISHED: Final[Mapping[str, tuple[str, Mapping[str, int]]]] = {
    "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7": (
        "cl100k",
        {
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
    "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d": (
        "o200k",
        {"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
}


def open_encoder(files: Mapping[str, bytes], *, pretokenizer: str | None = None) -> NamedEncoder:
    """Open a tokenizer's file, or GPT-2's two files, in any supported format.

    Pass `pretokenizer` for formats that do not store it: a .tiktoken file needs it unless it is one
    of OpenAI's, and GPT-2's two files use GPT-2's by default. Raises `FormatError` if the files are
    not a tokenizer, and `ConfigError` if the pre-tokenizer is missing.

    >>> import tokenizers
    >>> peer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "##b": 1}, unk_token="a"))
    >>> opened = open_encoder({"tokenizer.json": peer.to_str().encode()})
    >>> opened.encoder.encode("ab"), opened.provenance.split(".")[0]
    ([0, 1], 'A WordPiece model')
    """
    name = ", ".join(files)
    for file, data in files.items():
        if len(data) > MOST_BYTES:
            raise FormatError(
                f"{file} has {len(data):,} bytes; the largest tokenizer file accepted has "
                f"{MOST_BYTES:,}."
            )
    data = next(iter(files.values()), b"")
    if len(files) == 1 and looks_like_json(data, name):
        described = parse_json(data, name)
        if "model" in described:
            return _of_tokenizer_json(name, data, described)
    published = _PUBLISHED.get(hashlib.sha256(data).hexdigest()) if len(files) == 1 else None
    if published is not None:
        pretokenizer, special_tokens = published
        tokenizer = read_tiktoken(data, pretokenizer=pretokenizer, special_tokens=special_tokens)
        where = "The file is OpenAI’s, to the byte. "
    else:
        is_pair = len(files) == 2
        tokenizer = loads(files, pretokenizer=pretokenizer or ("gpt2" if is_pair else None))
        where = ""
    cut = f"Pre-tokenizer {tokenizer.pretokenizer.name}"
    return NamedEncoder(name, tokenizer, f"{where}{cut}, encoded by bpe_core.")


def _of_tokenizer_json(name: str, data: bytes, described: Mapping[str, Any]) -> NamedEncoder:
    try:
        own, reason = read_huggingface(data), ""
    except BpeError as error:
        own, reason = None, str(error)
        # Files that can be read here were checked field by field; others may crash the library.
        rehearse(described, PROBE, name)
    # Built in any case: a tokenizer.json is what the library can read, and its ids are the
    # reference for what is read here.
    foreign = ForeignTokenizer(described)
    if own is not None:
        reason = _why_inexact(own, foreign, described)
    if own is not None and not reason:
        cut = f"Pre-tokenizer {own.pretokenizer.name}"
        return NamedEncoder(name, own, f"{cut}, encoded exactly by bpe_core.")
    if foreign.model != "BPE":
        reason = f"A {foreign.model} model."
    return NamedEncoder(name, foreign, f"{reason} Encoded by {foreign.engine}.")


def _why_inexact(own: Tokenizer, foreign: ForeignTokenizer, described: Mapping[str, Any]) -> str:
    """Return why a tokenizer may encode differently from the library; empty if it does not."""
    if own.base != "bytes" or len(own.base_ids) < 256:
        return (
            f"Its alphabet has {len(own.base_ids):,} {own.base}, not all 256 bytes, and the "
            f"library decides what happens to the others."
        )
    if own.pretokenizer.name.startswith("regex:"):
        return (
            "Its pre-tokenizer is a regular expression, which regex engines may read differently."
        )
    added = cast("list[dict[str, Any]]", described.get("added_tokens") or [])
    ordinary = [token["content"] for token in added if not token.get("special")]
    if ordinary:
        return (
            f"{len(ordinary):,} of its added tokens, such as {ordinary[0]!r:.60}, are found in "
            f"ordinary text, before the merges."
        )
    probe = PROBE + last_tokens(own, 2_000)
    if own.encode(probe) != foreign.encode(probe):
        return "Its merges alone encode a probe of many scripts differently."
    return ""
