"""Write an adapted tokenizer into a tokenizer.json and the JSON files next to it.

In a tokenizer.json, the vocabulary, the merges and the ids of added tokens are replaced; the
normalizer, the pre-tokenizer, the template and every other value stay, and so does the file's
layout.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from bpe_core.adapting import Adapted
from bpe_core.errors import FormatError
from bpe_core.formats.across_words import reads_as
from bpe_core.formats.adapted.adapted_vocabulary import (
    build_vocabulary,
    check_same,
    kept_merges,
    new_merges,
    renumbered,
    unlisted,
)
from bpe_core.formats.folder_files import ADDED_TOKENS, CONFIG
from bpe_core.formats.json_files import checked_ids, is_token_id, parse_text
from bpe_core.formats.load_save import read_merges

_DECODER: Final = json.JSONDecoder()
_OPENING: Final = re.compile(r"\s*\{(\s*)")
_COLON: Final = re.compile(r"\s*:\s*")
_COMMA: Final = re.compile(r"\s*,\s*")


def write_like(value: object, text: str) -> str:
    """Return a value as JSON in the style of a text, which is a JSON object.

    The style is the indentation, the white space after colons and commas and at the end, and
    whether characters beyond ASCII are escaped.

    >>> write_like({"a": 0, "é": [1, 2]}, '{"é":0,"b":1}')
    '{"a":0,"é":[1,2]}'
    >>> write_like({"a": 0}, '{\\n "b": 1\\n}\\n')
    '{\\n "a": 0\\n}\\n'
    """
    escaped = text.isascii() and "\\u" in text
    ending = text[len(text.rstrip()) :]
    indent, item, colon = None, ",", ":"
    opening = _OPENING.match(text)
    if opening is not None and text[opening.end()] == '"':
        after_key = _COLON.match(text, _DECODER.raw_decode(text, opening.end())[1])
        assert after_key is not None, "the text is a valid JSON object"
        colon = after_key[0]
        comma = _COMMA.match(text, _DECODER.raw_decode(text, after_key.end())[1])
        if "\n" in opening[1]:
            indent = opening[1].rpartition("\n")[2]
        elif comma is not None:
            item = comma[0]
    written = json.dumps(value, ensure_ascii=escaped, indent=indent, separators=(item, colon))
    return written + ending


def tokenizer_json(
    adapted: Adapted, data: bytes, beside: Mapping[str, bytes] = MappingProxyType({})
) -> bytes:
    """Return a tokenizer.json with the adapted vocabulary; `beside` are the adapted files with it.

    Raises `ConfigError` if it would encode differently.

    >>> import bpe_core as bpe
    >>> from bpe_core.formats import write_huggingface
    >>> from bpe_core.formats import loads
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> written = tokenizer_json(shrunk, write_huggingface(bpe.gpt2()))
    >>> loads({"tokenizer.json": written}) == shrunk.tokenizer
    True
    """
    described, mark, text = parse_text(data, "tokenizer.json")
    model = cast("dict[str, Any]", described["model"])
    ids = model["vocab"]
    model["vocab"] = build_vocabulary(adapted, ids)
    model["vocab"] |= unlisted(model["vocab"], adapted.tokenizer.special_tokens)
    if "merges" in model:
        listed = cast("list[Any]", model["merges"])
        pairs = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in listed]
        as_text = not listed or isinstance(listed[0], str)
        model["merges"] = [listed[place] for place in kept_merges(adapted, ids, cast("Any", pairs))]
        model["merges"] += [
            " ".join(pair) if as_text else list(pair) for pair in new_merges(adapted)
        ]
    new_id = renumbered(adapted, "tokenizer.json")
    for name, renumber in (
        ("added_tokens", _renumber_added),
        ("post_processor", _renumber_template),
        ("padding", _renumber_padding),
    ):
        if described.get(name) is None:
            continue
        try:
            renumber(described[name], new_id)
        except (TypeError, AttributeError, LookupError):  # a number, say, instead of an object
            raise FormatError(
                f"{name} in tokenizer.json does not have the form that Hugging Face's tokenizers "
                "write."
            ) from None
    written = write_like(described, text)
    read = read_merges({"tokenizer.json": written.encode(), **beside})
    check_same("tokenizer.json", is_equal=reads_as(read, adapted.tokenizer))
    return (mark + written).encode()


def _renumber_added(added: list[dict[str, Any]], new_id: Callable[[int], int]) -> None:
    for token in added:
        token["id"] = new_id(_checked(token["id"]))


def _renumber_padding(padding: dict[str, Any], new_id: Callable[[int], int]) -> None:
    if "pad_id" in padding:
        padding["pad_id"] = new_id(_checked(padding["pad_id"]))


def _renumber_template(processor: dict[str, Any], new_id: Callable[[int], int]) -> None:
    """Renumber the ids in a post-processor, and in those of a sequence."""
    for each in processor.get("processors", ()):
        _renumber_template(each, new_id)
    for name in ("sep", "cls"):
        if name in processor:
            processor[name][1] = new_id(_checked(processor[name][1]))
    # ByteLevel and others have none; a sequence may list them as null.
    special = cast("dict[str, dict[str, Any]]", processor.get("special_tokens") or {})
    for token in special.values():
        token["ids"] = [new_id(_checked(id)) for id in token["ids"]]


def _checked(id: object) -> int:
    """Return an id unchanged; raises TypeError for anything else."""
    if not is_token_id(id):
        raise TypeError
    return id


def tokenizer_config(adapted: Adapted, data: bytes) -> bytes:
    """Return a tokenizer_config.json with the keys of `added_tokens_decoder` renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> tokenizer_config(shrunk, b'{"added_tokens_decoder": {"50256": {}}}')
    b'{"added_tokens_decoder": {"299": {}}}'
    """
    parsed, mark, text = parse_text(data, CONFIG)
    if "added_tokens_decoder" not in parsed:
        return data
    listed: object = parsed["added_tokens_decoder"]
    if not isinstance(listed, dict):
        raise FormatError(
            f"Expected an object of ids and added tokens as added_tokens_decoder in "
            f"{CONFIG}, got {type(listed).__name__}."
        )
    new_id = renumbered(adapted, CONFIG)
    decoder: dict[str, Any] = {}
    for key, token in cast("dict[str, Any]", listed).items():
        if not re.fullmatch("[0-9]{1,10}", key):
            raise FormatError(
                f"Expected ids as keys of added_tokens_decoder in {CONFIG}, got {key!r:.60}."
            )
        decoder[str(new_id(int(key)))] = token
    parsed["added_tokens_decoder"] = decoder
    return (mark + write_like(parsed, text)).encode()


def added_tokens_file(adapted: Adapted, data: bytes) -> bytes:
    """Return an added_tokens.json with its ids renumbered.

    Raises `ConfigError` if it uses a removed token.

    >>> import bpe_core as bpe
    >>> shrunk = bpe.shrink(bpe.gpt2(), bpe.Corpus.from_text("hug"), vocab_size=300)
    >>> added_tokens_file(shrunk, b'{"<|endoftext|>": 50256}')
    b'{"<|endoftext|>": 299}'
    """
    parsed, mark, text = parse_text(data, ADDED_TOKENS)
    new_id = renumbered(adapted, ADDED_TOKENS)
    ids = {token: new_id(id) for token, id in checked_ids(parsed, ADDED_TOKENS).items()}
    return (mark + write_like(ids, text)).encode()
