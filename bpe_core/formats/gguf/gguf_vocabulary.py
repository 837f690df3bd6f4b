"""Turn what a GGUF file says about its tokenizer into a tokenizer.json or SentencePiece model.

Models of the kinds gpt2, gemma4 and bert become a tokenizer.json, and llama and t5 become a
SentencePiece model. GGUF files do not store normalizers such as NFC, so there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from bpe_core.chat import ChatTemplate
from bpe_core.errors import FormatError
from bpe_core.formats.description import Description, Given
from bpe_core.formats.gguf.gguf_cuts import BYTE_LEVEL, KNOWN_CUTS, find_cut
from bpe_core.formats.gguf.gguf_header import GgufValue, parse_gguf
from bpe_core.formats.huggingface import describe_huggingface
from bpe_core.formats.sentencepiece_model import (
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    write_model,
)
from bpe_core.formats.sentencepiece_scores import describe_sentencepiece
from bpe_core.formats.sidecars import added_token
from bpe_core.kernels import without_garbage_collection
from bpe_core.unicode import META

Keys = Mapping[str, GgufValue]
_KEY: Final = "tokenizer.ggml."
_TEMPLATE: Final = "tokenizer.chat_template"
_KINDS: Final = ("gpt2", "gemma4", "bert", "llama", "t5")
# GGUF names ids, as `padding_token_id`.
_ROLES: Final = {"padding": "pad", "seperator": "sep", "unknown": "unk"}


def describe_gguf(given: Given) -> Description:
    """Describe the tokenizer of a GGUF file; raises `FormatError`."""
    keys = parse_gguf(given.data)
    described = from_gguf(keys, given.pretokenizer)
    kinds = [
        f"{part} {keys[_KEY + part]!s:.40}" for part in ("model", "pre") if _KEY + part in keys
    ]
    origin = f"The vocabulary of a GGUF file ({', '.join(kinds)})."
    chat = find_chat(keys, _strings(keys, "tokens"))
    if isinstance(described, bytes):
        return replace(describe_sentencepiece(given, described, origin=origin), chat=chat)
    # A pre-tokenizer that is given stands for a cut without a known name.
    names_cut = keys[_KEY + "model"] != "gpt2" or keys.get(_KEY + "pre") in KNOWN_CUTS
    found = describe_huggingface(given, described, origin=origin, names_cut=names_cut)
    return replace(found, chat=chat)


def find_chat(keys: Mapping[str, GgufValue], tokens: list[str]) -> ChatTemplate | None:
    """Return the chat template of a GGUF file, or None; `tokens` is its vocabulary.

    If it has several, those but the default one are in keys that end with their names.

    >>> keys = {"tokenizer.chat_template": "Hug", "tokenizer.ggml.bos_token_id": 1}
    >>> find_chat(keys, ["a", "<s>"]).tokens
    {'bos_token': '<s>'}
    """
    templates = {
        key.removeprefix(_TEMPLATE).removeprefix(".") or "default": source
        for key, source in keys.items()
        if f"{key}.".startswith(f"{_TEMPLATE}.") and isinstance(source, str)
    }
    if not templates:
        return None
    source = templates["default"] if [*templates] == ["default"] else templates
    named: dict[str, str] = {}
    for key, id in keys.items():
        role = key.removeprefix("tokenizer.ggml.").removesuffix("_token_id")
        is_role = key == f"tokenizer.ggml.{role}_token_id"
        if is_role and type(id) is int and 0 <= id < len(tokens):
            named[f"{_ROLES.get(role, role)}_token"] = tokens[id]
    adds = keys.get("tokenizer.ggml.add_bos_token") is True
    return ChatTemplate(source, named, named.get("bos_token", "") if adds else "")


def from_gguf(keys: Keys, pretokenizer: str | None = None) -> dict[str, Any] | bytes:
    """Return a parsed tokenizer.json, or the bytes of a SentencePiece model.

    `pretokenizer` is for byte-level BPE whose file does not name a cut that is known. Raises
    `FormatError` for a kind of model or a cut that is not known, for a vocabulary with two equal
    tokens, and for merges and types that do not fit it.

    >>> tokens = ["<unk>", "a", "▁a"]
    >>> keys = {"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": tokens}
    >>> types = {"tokenizer.ggml.scores": [0.0, 0.0, -1.0], "tokenizer.ggml.token_type": [2, 1, 1]}
    >>> isinstance(from_gguf(keys | types), bytes)
    True
    """
    kind = keys.get(_KEY + "model")
    if kind is None:
        raise FormatError("The GGUF file has no tokenizer: it lacks the key tokenizer.ggml.model.")
    if kind not in _KINDS:
        raise FormatError(
            f"The GGUF file's tokenizer is of the kind {kind!r:.60}; {', '.join(_KINDS)} are known."
        )
    tokens = _strings(keys, "tokens")
    if not tokens:
        raise FormatError("The GGUF file has a vocabulary without tokens.")
    types = _numbers(keys, "token_type", [NORMAL] * len(tokens))
    ids: dict[str, int] = {}
    for id, token in enumerate(tokens):
        if ids.setdefault(token, id) != id:
            raise FormatError(f"The tokens {ids[token]:,} and {id:,} are both {token!r:.60}.")
    if len(types) != len(tokens):
        raise FormatError(f"The GGUF file has {len(tokens):,} tokens and {len(types):,} types.")
    if kind in ("llama", "t5"):
        return _sentencepiece(keys, kind, tokens, types)
    if kind == "bert":
        return _wordpiece(keys, ids, types)
    return _bpe(keys, kind, ids, types, pretokenizer)


def _bpe(
    keys: Keys, kind: str, ids: dict[str, int], types: list[int], pretokenizer: str | None
) -> dict[str, Any]:
    merges: list[list[str]] = []
    with without_garbage_collection():
        for rank, merge in enumerate(_strings(keys, "merges")):
            # The first space after the first character, which may itself be a space.
            cut = merge.find(" ", 1)
            left, right = merge[:cut], merge[cut + 1 :]
            if cut < 0 or left not in ids or right not in ids or left + right not in ids:
                raise FormatError(f"Merge {rank:,}, {merge!r:.80}, does not fit the vocabulary.")
            merges.append([left, right])
    model: dict[str, Any] = {"type": "BPE", "vocab": ids, "merges": merges, "ignore_merges": False}
    if kind == "gemma4":
        unknown = _unknown(keys, len(ids))
        model |= {"byte_fallback": True, "fuse_unk": True}
        model["unk_token"] = None if unknown is None else list(ids)[unknown]
        return {
            "version": "1.0",
            "added_tokens": _added(ids, types),
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": META},
            "pre_tokenizer": None,
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": META}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                ],
            },
            "model": model,
        }
    name = keys.get(_KEY + "pre")
    # llama.cpp writes "default" for a cut that its converter does not know.
    known = name if isinstance(name, str) and name != "default" else None
    pre_tokenizer, model["ignore_merges"] = find_cut(known, pretokenizer)
    return {
        "version": "1.0",
        "added_tokens": _added(ids, types),
        "normalizer": None,
        "pre_tokenizer": pre_tokenizer,
        "decoder": BYTE_LEVEL,
        "model": model,
    }


def _wordpiece(keys: Keys, ids: dict[str, int], types: list[int]) -> dict[str, Any]:
    """Describe a WordPiece model; GGUF writes ▁ at a word's start instead of ## within it."""
    vocab: dict[str, int] = {}
    for token, id in ids.items():
        if types[id] == NORMAL:
            token = token[1:] if token.startswith(META) else f"##{token}"
        if vocab.setdefault(token, id) != id:
            raise FormatError(f"The tokens {vocab[token]:,} and {id:,} are both {token!r:.60}.")
    unknown = _unknown(keys, len(ids))
    if unknown is None:
        raise FormatError("The WordPiece vocabulary of the GGUF file names no unknown token.")
    return {
        "version": "1.0",
        "added_tokens": _added(ids, types),
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False},
        "model": {
            "type": "WordPiece",
            "vocab": vocab,
            "unk_token": list(ids)[unknown],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }


def _sentencepiece(keys: Keys, kind: str, tokens: list[str], types: list[int]) -> bytes:
    scores = _numbers(keys, "scores", [0.0] * len(tokens))
    if len(scores) != len(tokens):
        raise FormatError(f"The GGUF file has {len(tokens):,} tokens and {len(scores):,} scores.")
    unknown = _unknown(keys, len(tokens))
    if unknown is None or types[unknown] not in (NORMAL, UNKNOWN):
        unknown = next((id for id, type in enumerate(types) if type == UNKNOWN), 0)
    pieces = [
        # The library accepts one unknown piece; others cannot be reached.
        Piece(token, score, UNKNOWN if id == unknown else UNUSED if type == UNKNOWN else type)
        for id, (token, score, type) in enumerate(zip(tokens, scores, types, strict=True))
    ]
    charsmap = keys.get(_KEY + "precompiled_charsmap", [])
    try:
        charsmap = bytes(cast("list[int]", charsmap))
    except (TypeError, ValueError):
        raise FormatError("The GGUF file's precompiled_charsmap is not a list of bytes.") from None
    return write_model(
        pieces,
        "BPE" if kind == "llama" else "Unigram",
        dummy_prefix=bool(keys.get(_KEY + "add_space_prefix", True)),
        remove_extra_spaces=bool(keys.get(_KEY + "remove_extra_whitespaces", False)),
        charsmap=charsmap,
    )


def _added(ids: Mapping[str, int], types: list[int]) -> list[dict[str, Any]]:
    """Return control tokens as special ones, and user-defined ones as found in any text."""
    return [
        {
            "id": id,
            **added_token(token, "", special=types[id] == CONTROL),
            "normalized": False,
        }
        for token, id in ids.items()
        if types[id] in (CONTROL, USER_DEFINED) and token
    ]


def _strings(keys: Keys, name: str) -> list[str]:
    value = keys.get(_KEY + name)
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise FormatError(f"The GGUF file lacks the list of texts tokenizer.ggml.{name}.")
    return cast("list[str]", value)


def _numbers(keys: Keys, name: str, default: list[Any]) -> list[Any]:
    value = keys.get(_KEY + name, default)
    if not isinstance(value, list) or any(isinstance(each, str) for each in value):
        raise FormatError(f"Expected a list of numbers as tokenizer.ggml.{name}.")
    return value


def _unknown(keys: Keys, n_tokens: int) -> int | None:
    """Return the id of the token for text that the vocabulary lacks, or None."""
    value = keys.get(_KEY + "unknown_token_id")
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < n_tokens else None
