"""Any tokenizer file, opened as something that encodes: exactly here, or by another library.

A tokenizer.json is encoded by `bpe_core` where all of this holds, and by `tokenizers` otherwise:

- the model is BPE over bytes with all 256 of them, so that no text has a symbol it lacks, and it
  has none of the options that plain byte-pair encoding lacks (see `read_huggingface`); with
  `ignore_merges`, the merges make every token on their own;
- there is no normalizer, and the pre-tokenizer is one of those that have a name here: another
  regular expression may mean something else to another engine;
- no added token is found in ordinary text: all of them are special;
- a probe of many scripts and the vocabulary's own tokens come out as from `tokenizers`.
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
"""A file larger than this is refused: the largest tokenizers in use take a third of it."""

# What the files of tiktoken_ext/openai_public.py don't say of themselves, by their SHA-256.
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
    """Open a tokenizer's one file, or GPT-2's two, in whichever format they are.

    `pretokenizer` is for formats that don't hold it: a .tiktoken file that isn't one of OpenAI's
    needs it, and GPT-2's pair is read with GPT-2's unless another is named. Raises `FormatError`
    for what is no tokenizer, and `ConfigError` where the pre-tokenizer is missing.

    >>> import tokenizers
    >>> peer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"a": 0, "##b": 1}, unk_token="a"))
    >>> opened = open_encoder({"tokenizer.json": peer.to_str().encode()})
    >>> opened.encoder.encode("ab"), opened.provenance.split(":")[0]
    ([0, 1], 'Its model is WordPiece')
    """
    name = ", ".join(files)
    for file, data in files.items():
        if len(data) > MOST_BYTES:
            raise FormatError(
                f"{file} has {len(data):,} bytes, and no tokenizer is known to take more than "
                f"{MOST_BYTES:,}. Give a tokenizer's file."
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
        # What is read here was checked field by field; of the rest the library alone knows more.
        rehearse(described, PROBE, name)
    # Built in any case: what the library can't read is no tokenizer.json, and what it can is the
    # measure of what is read here.
    foreign = ForeignTokenizer(described)
    if own is not None:
        reason = _why_inexact(own, foreign, described)
    if own is not None and not reason:
        cut = f"Pre-tokenizer {own.pretokenizer.name}"
        return NamedEncoder(name, own, f"{cut}, encoded by bpe_core, exactly.")
    if foreign.model != "BPE":
        reason = f"Its model is {foreign.model}: byte-pair encoding can’t stand for it."
    return NamedEncoder(name, foreign, f"{reason} So {foreign.engine} encodes.")


def _why_inexact(own: Tokenizer, foreign: ForeignTokenizer, described: Mapping[str, Any]) -> str:
    """Say why a tokenizer may encode otherwise than the library; empty where it does not."""
    if own.base != "bytes" or len(own.base_ids) < 256:
        return (
            f"Its alphabet has {len(own.base_ids):,} {own.base} and not all 256 bytes: what it "
            f"lacks is the library’s to handle."
        )
    if own.pretokenizer.name.startswith("regex:"):
        return "Its pre-tokenizer is a regular expression that another engine may read otherwise."
    added = cast("list[dict[str, Any]]", described.get("added_tokens") or [])
    ordinary = [token["content"] for token in added if not token.get("special")]
    if ordinary:
        return (
            f"{len(ordinary):,} of its added tokens, such as {ordinary[0]!r:.60}, are found in "
            f"ordinary text, before the merges."
        )
    probe = PROBE + last_tokens(own, 2_000)
    if own.encode(probe) != foreign.encode(probe):
        return "A probe of many scripts comes out otherwise from its merges alone."
    return ""
